"""The models that are known by name: their files, their counts, and how they are found."""

import json
import re
from typing import Any

import pytest
from conftest import Run
from support import ROOT, Faults, oracle

from albert_calc import AlbertCalcError, ModelConfig, count_parameters
from albert_calc.config.presets import (
    SHAPES,
    TITLES,
    Preset,
    all_presets,
    find_preset,
    load_preset,
    nearest,
    preset_names,
)
from albert_calc.config.reading import read_mapping
from albert_calc.families import FAMILIES

PRESETS = {preset.name: preset for preset in all_presets()}


def test_counts_of_the_real_classes() -> None:
    """Every preset has exactly the parameters of its class in transformers."""
    totals = {case["case"]: case["total"] for case in oracle("presets")["cases"]}
    found = {name: count_parameters(ModelConfig.from_preset(name)).total for name in PRESETS}
    assert found == totals


def test_published_models() -> None:
    """A preset has the sizes and the exact count of the published model."""
    faults = Faults()
    for model in oracle("published")["models"]:
        config = ModelConfig.from_preset(model["name"])
        faults.expect(model["name"], count_parameters(config).total, model["model_with_pooler"])
        for key, value in model["config"].items():
            faults.expect((model["name"], key), getattr(config, key), value)
    faults.none()


def printed(figure: str) -> float:
    """The number of parameters that a printed figure such as ``11.7M`` stands for."""
    match = re.fullmatch(r"([0-9.,]+)([MB]?)", figure)
    assert match is not None
    return float(match[1].replace(",", "")) * {"": 1, "M": 10**6, "B": 10**9}[match[2]]


def test_printed_figures_are_true_or_have_a_note() -> None:
    """What was printed of a model is near the count of one of its heads, or a note says why not."""
    faults = Faults()
    for preset in PRESETS.values():
        config = ModelConfig.from_preset(preset.name)
        totals = [count_parameters(config, head).total for head in config.family.heads]
        for figure in preset.published:
            number = printed(figure.figure)
            near = any(abs(total - number) < 0.06 * number for total in totals)
            faults.expect((preset.name, figure), near or bool(figure.note), True)
            faults.expect((preset.name, figure), bool(figure.by), True)
    faults.none()


def test_every_file_is_a_config_with_its_source() -> None:
    """A file is read without a word, names no class, and says where its sizes come from."""
    faults = Faults()
    for preset in PRESETS.values():
        reading = read_mapping(preset.content)
        said = (*reading.notes, *reading.key_warnings, *reading.oddities, *reading.assumed)
        faults.expect(preset.name, said, ())
        faults.expect(preset.name, "architectures" in preset.content, False)
        faults.expect(preset.name, bool(preset.source), True)
        faults.expect(preset.name, preset.name == preset.name.lower(), True)
        # albert_zh published its models outside the hub.
        own = preset.name in SHAPES or preset.name.startswith("albert-chinese")
        faults.expect(preset.name, bool(re.fullmatch(r"[\w.-]+/[\w.-]+", preset.hub)), not own)
        path = ROOT / "configs" / f"{preset.name}.json"
        faults.expect(preset.name, ModelConfig.from_file(path),
                      ModelConfig.from_preset(preset.name))  # fmt: skip
    faults.none()


def test_there_is_one_of_every_family() -> None:
    """At least fifty models are known by name, of every family that has a published one."""
    assert len(PRESETS) >= 50
    types = {preset.content["model_type"] for preset in PRESETS.values()}
    assert types == {*FAMILIES} - {"roberta-prelayernorm"}
    assert preset_names()[:4] == list(SHAPES)
    assert preset_names()[4:] == sorted(preset_names()[4:])


def test_a_name_means_one_preset() -> None:
    """Names, aliases, titles and ids are unlike each other; each is found in any case."""
    faults = Faults()
    names: dict[str, Preset] = {}
    for preset in PRESETS.values():
        own = {preset.name, *preset.aliases, *([preset.hub] if preset.hub else [])}
        own |= {TITLES[preset.name]} if preset.name in TITLES else set()
        for name in own:
            faults.expect(name, names.get(name.lower()), None)
            names[name.lower()] = preset
            for spelled in (name, name.upper(), name.lower()):
                faults.expect(spelled, find_preset(spelled), preset)
    faults.none()


MISSES: list[tuple[str, list[str]]] = [
    ("roberta-bse", ["roberta-base"]),
    ("bert-bse", ["bert-base"]),
    ("bert-base-uncasd", ["bert-base-uncased"]),
    ("albert-bsae-v2", ["albert-base-v2"]),
    ("modernbert-lrge", ["modernbert-large"]),
    ("baes", ["base"]),
    ("xxlrge", ["xxlarge"]),
    ("", []),
    ("gpt2", []),
    ("../albert-base-v3", ["albert-base-v2"]),
    ("\x1b[31m", []),
]
"""Names that no preset has, and the first that is offered for each; nothing for some."""


def test_the_nearest_names() -> None:
    """What is offered is near, at most three names, one a preset, all of the family named."""
    faults = Faults()
    for name, wanted in MISSES:
        found = nearest(name)
        faults.expect(name, found[:1], wanted)
        faults.expect(name, len(found) <= 3, True)
        kin = {n.split("-")[0] for n in found if n not in SHAPES}
        faults.expect(name, len(kin) <= 1, True)
        presets = [p for n in found if (p := find_preset(n)) is not None]
        faults.expect(name, len({p.name for p in presets}), len(found))
    faults.none()


def test_an_unknown_preset() -> None:
    """The message quotes what was typed, made harmless, and offers what is near."""
    with pytest.raises(AlbertCalcError) as error:
        load_preset("roberta-bse")
    assert str(error.value).startswith("preset: must be a known name (did you mean roberta-base")
    with pytest.raises(AlbertCalcError, match="see albert-calc presets"):
        load_preset("\x1b[2J")


def test_the_command_lists_them(run: Run) -> None:
    """All presets with their counts, or those that have a name or a type."""
    rows: list[dict[str, Any]] = json.loads(run("presets", "-f", "json").stdout)
    assert [row["preset"] for row in rows] == preset_names()
    totals = {case["case"]: case["total"] for case in oracle("presets")["cases"]}
    assert {row["preset"]: row["parameters"] for row in rows} == totals
    some = json.loads(run("presets", "modernbert", "rembert", "-f", "json").stdout)
    assert {row["preset"] for row in some} == {"modernbert-base", "modernbert-large", "rembert"}
    result = run("presets", "nobody")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'nobody'" in result.stderr
