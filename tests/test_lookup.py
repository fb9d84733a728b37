"""What a MODEL is: a path, a name, an alias, the id of a published model, or one in the cache."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from support import BASE, Faults

from albert_calc.config.presets import find_preset
from albert_calc.errors import ConfigError
from albert_calc.models.hub import cache_folder, cached_snapshot, is_id
from albert_calc.models.lookup import STANDARD_INPUT, find_file, find_model, find_named
from albert_calc.models.model import Model, Request, read_model

COMMIT = "8e2f239c5f8a2c0f253781ca60135db913e5c80c"
OTHER: dict[str, Any] = {**BASE, "hidden_size": 384, "intermediate_size": 1536}
"""An albert-base-v2 half as wide, to tell a file from the preset: 5,877,888 parameters."""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Put a model into a cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))

    def add(model_id: str, config: object = OTHER, commit: str = COMMIT) -> Path:
        model = folder / f"models--{model_id.replace('/', '--')}"
        snapshot = model / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (model / "refs").mkdir()
        (model / "refs" / "main").write_text(commit)
        if config is not None:
            (snapshot / "config.json").write_text(json.dumps(config))
        return snapshot

    return add


NAMES = {
    "albert-base-v2": "albert-base-v2",
    "ALBERT-xxLarge": "xxlarge",
    "ALBERT-Base": "base",
    "albert-base": "base",
    "albert-large": "large",
    "xLarge": "xlarge",
    "bert-base": "bert-base-uncased",
    "Bert-Base-Uncased": "bert-base-uncased",
    "google-bert/bert-base-uncased": "bert-base-uncased",
    "bert-base-uncased": "bert-base-uncased",
    "ALBERT/albert-base-v2": "albert-base-v2",
    "roberta": "roberta-base",
    "bert_large": "bert-large-uncased",
    "BERT_base_uncased": "bert-base-uncased",
    "roformer-chinese-base": "roformer_chinese_base",
    "FacebookAI/roberta-base": "roberta-base",
}
"""What people call a model, and the preset that it is."""


def test_names() -> None:
    """The name of a preset in any case, a title of a table, an alias, or a hub id."""
    faults = Faults()
    for text, name in NAMES.items():
        found = find_model(text)
        faults.expect(text, (found.name, found.origin, found.path), (name, "preset", ""))
        faults.expect(text, find_named(text).name, name)
        told = [n for n in found.notes if f"albert-{name}-v2 is the published model" in n]
        faults.expect(text, len(told), int(text.lower().startswith("albert-") and "v2" not in text))
    faults.none()


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a directory with a config.json, and standard input."""
    (tmp_path / "config.json").write_text(json.dumps(OTHER))
    for path in (tmp_path, tmp_path / "config.json"):
        found = find_model(str(path))
        assert (found.keys, found.origin, found.path) == (OTHER, "file", str(path))
        assert find_file(str(path)) == found
    monkeypatch.chdir(tmp_path)
    assert find_model(".").keys == OTHER


def test_a_file_wins_over_a_preset_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """What lies in the directory is meant, a note says so, and --preset is the preset."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").write_text(json.dumps(OTHER))
    found = find_model("base")
    assert (found.keys, found.origin) == (OTHER, "file")
    assert found.notes == (
        "base: the file of that name, not the preset; --preset base is the preset",
    )
    assert find_named("base").origin == "preset"
    result = run("count", "base", "--total")
    assert (result.stdout, result.stderr) == ("5877888\n", f"note: {found.notes[0]}\n")
    assert run("count", "--preset", "base", "--total").stdout == "11750400\n"
    # A link to nothing is a path all the same.
    (tmp_path / "large").symlink_to("nowhere")
    with pytest.raises(ConfigError, match="cannot be read"):
        find_model("large")


def test_standard_input(run: Run) -> None:
    """A dash is the config on standard input."""
    result = run("count", "-", "--total", input=json.dumps(OTHER))
    assert result.stdout == "5877888\n"
    result = run("count", "-", "-f", "json", input=json.dumps(OTHER))
    assert json.loads(result.stdout)["model"] == STANDARD_INPUT
    result = run("count", "-", "--total", input="")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: standard input: empty, must be a JSON object\n"


def test_the_cache(cache: Callable[..., Path], run: Run) -> None:
    """The snapshot that main names; a cached file wins over a preset of its id, and says so."""
    snapshot = cache("someone/their-model")
    found = find_model("someone/their-model")
    assert (found.keys, found.origin, found.path) == (OTHER, "cache", str(snapshot))
    assert found.notes == ("someone/their-model: read from the local Hugging Face cache",)
    cache("albert/albert-base-v2")
    (note,) = find_model("albert/albert-base-v2").notes
    assert note.endswith("Hugging Face cache, not from the preset albert-base-v2")
    # The bare name is the preset's own.
    assert find_model("albert-base-v2").origin == "preset"
    result = run("count", "albert/albert-base-v2", "--total")
    assert (result.stdout, result.stderr) == ("5877888\n", f"note: {note}\n")
    cache("gpt-nameless")
    assert find_model("gpt-nameless").origin == "cache"


def test_an_id_is_counted_with_one_head(cache: Callable[..., Path], run: Run) -> None:
    """Cached or not, an id is the bare model, whatever class its config names."""
    cache("albert/albert-base-v2", {**BASE, "architectures": ["AlbertForMaskedLM"]})
    assert run("count", "albert/albert-base-v2", "--total").stdout == "11683584\n"
    masked = run("count", "albert/albert-base-v2", "--total", "--head", "masked-lm")
    assert masked.stdout == "11221680\n"


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """HF_HUB_CACHE, else HF_HOME/hub, else in the home directory."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "a"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "b"))
    monkeypatch.setenv("HOME", str(tmp_path / "c"))
    assert Path(cache_folder()) == tmp_path / "a"
    monkeypatch.setenv("HF_HUB_CACHE", "~/d")
    assert Path(cache_folder()) == tmp_path / "c" / "d"
    monkeypatch.delenv("HF_HUB_CACHE")
    assert Path(cache_folder()) == tmp_path / "b" / "hub"
    monkeypatch.delenv("HF_HOME")
    assert Path(cache_folder()) == tmp_path / "c" / ".cache" / "huggingface" / "hub"


def test_a_cache_that_was_copied_without_links(cache: Callable[..., Path]) -> None:
    """Where a copy has the text of a link in its place, the blob that it names is read."""
    snapshot = cache("org/copied", None)
    blobs = snapshot.parents[1] / "blobs"
    blobs.mkdir()
    (blobs / COMMIT).write_text(json.dumps(OTHER))
    (snapshot / "config.json").write_text(f"../../blobs/{COMMIT}")
    assert find_model("org/copied").keys == OTHER
    (snapshot / "config.json").write_text("../../../../../etc/hostname")
    with pytest.raises(ConfigError, match="not valid JSON"):
        find_model("org/copied")
    # Elsewhere such a text is no link.
    other = snapshot.parents[1] / "others" / COMMIT
    other.mkdir(parents=True)
    (other / "config.json").write_text(f"../../blobs/{COMMIT}")
    with pytest.raises(ConfigError, match="not valid JSON"):
        find_model(str(other))


def pipe(path: Path) -> None:
    """Put a pipe into the place of a file."""
    path.unlink()
    os.mkfifo(path)


def misplaced(model: Path, reference: str) -> None:
    """Name a folder by *reference* that has a config but is no snapshot."""
    (model / "refs" / "main").write_text(reference)
    (model / "snapshots" / reference / "config.json").write_text(json.dumps(OTHER))


NOT_CACHED: dict[str, Callable[[Path], object]] = {
    "no reference": lambda model: (model / "refs" / "main").unlink(),
    "a reference that leads out": lambda m: (m / "refs" / "main").write_text("../../.."),
    "a reference to its own folder": lambda m: misplaced(m, "."),
    "a reference to the folder above": lambda m: misplaced(m, ".."),
    "a reference to what is not there": lambda m: (m / "refs" / "main").write_text("abc"),
    "a reference that is no text": lambda m: (m / "refs" / "main").write_bytes(b"\xff\xfe"),
    "a reference that is a pipe": lambda m: pipe(m / "refs" / "main"),
    "no config": lambda m: (m / "snapshots" / COMMIT / "config.json").unlink(),
}  # fmt: skip


def test_caches_that_are_broken(cache: Callable[..., Path]) -> None:
    """Whatever is wrong with a cache, the id is simply not in it; nothing outside is read."""
    faults = Faults()
    for number, (what, spoil) in enumerate(NOT_CACHED.items()):
        name = f"org/model-{number}"
        spoil(cache(name).parents[1])
        try:
            faults.append(f"{what}: found {find_model(name)}")
        except ConfigError as error:
            faults.expect(what, "is not in the local cache" in str(error), True)
    faults.none()


IDS = {
    "org/name": True, "name": True, "a.b/c_d-1": True, "org/../x": False, "../x": False,
    "/etc": False, "org/a/b": False, "": False, ".hidden": False, "a b": False, "org/": False,
    "x" * 97: False, "a..b": False, "org\\x": False,
}  # fmt: skip


def test_what_could_be_an_id() -> None:
    """Anything that could lead out of the cache is no id."""
    faults = Faults()
    for text, wanted in IDS.items():
        faults.expect(text, is_id(text), wanted)
        faults.expect(text, cached_snapshot(text), None)
    faults.none()


MISSING = {
    "roberta-bse": "did you mean roberta-base",
    "bert-base-uncasd": "did you mean bert-base-uncased",
    "nonsense": "see albert-calc presets",
    "": "see albert-calc presets",
    "\x1b[31m": "see albert-calc presets",
    "configs/none.json": "error: model: no such file, got 'configs/none.json'\n",
    "rob/config.json": "error: model: no such file, got 'rob/config.json'\n",
    "./some/folder": "error: model: no such file, got './some/folder'\n",
    "none.json": "error: model: no such file, got 'none.json'\n",
    "bert_large_uncasd": "did you mean bert-large-uncased",
}
"""What is no model, and what is offered for it."""


def test_nothing_found(run: Run) -> None:
    """One line with the nearest names; for an id, that nothing is fetched and what does that."""
    faults = Faults()
    for text, hint in MISSING.items():
        result = run("count", text)
        faults.expect(text, (result.exit_code, result.stdout), (2, ""))
        faults.expect(text, hint in result.stderr or result.stderr, True)
        faults.expect(text, "\x1b" in result.stderr, False)
        faults.expect(text, "hf download" in result.stderr, False)
    result = run("count", "someone/nothing")
    faults.expect("an id", "hf download someone/nothing config.json" in result.stderr, True)
    faults.expect("an id", "nothing is fetched" in result.stderr, True)
    for text in ("org/model.safetensors", "org/pytorch_model.bin"):
        faults.expect(text, "hf download" in run("infer", text).stderr, False)
    faults.none()


def model(text: str, **asked: Any) -> Model:
    """The model *text* as it is asked for."""
    return read_model(find_model(text), Request(**asked))


def test_a_model_is_what_was_found_and_asked_for() -> None:
    """Overrides, head, layout and sharing are those of the request; the title says what is odd."""
    plain = model("albert-base-v2")
    assert (plain.title, plain.counts.total, plain.notes) == ("albert-base-v2", 11_683_584, ())
    asked = model("base", overrides={"embedding_size": 64}, head="masked-lm", share="ffn")
    assert asked.title == "base, head masked-lm, share ffn"
    assert asked.config.embedding_size == 64
    assert model("base", layout="paper").title == "base, layout paper"
    book = model("base", layout="handbook")
    assert book.notes == ("layout handbook: albert has no pooler there",)
    assert book.counts.total == 11_161_088


def test_all_that_is_wrong_with_a_model_is_told() -> None:
    """The keys, the head and the layout are looked at together."""
    with pytest.raises(ConfigError) as error:
        model("bert-base-uncased", overrides={"hidden_size": 0}, head="discriminator", layout="x")
    assert [p.split(":")[0] for p in error.value.problems] == ["hidden_size", "head", "layout"]
    assert model("base", overrides={"num_hidden_groups": 2}, share="all").config.symbols["G"] == 2
    assert model("base", share="none").config.share == "none"
    with pytest.raises(ConfigError, match="num_hidden_groups: must be left out with --share none"):
        model("base", overrides={"num_hidden_groups": 2}, share="none")


def test_every_preset_is_a_model_by_its_id() -> None:
    """The id of a published model that is not cached is the preset, with no note."""
    faults = Faults()
    for text in ("google-bert/bert-base-uncased", "albert/albert-xxlarge-v2", "google/rembert"):
        found, preset = find_model(text), find_preset(text)
        faults.expect(text, (found.origin, found.notes), ("preset", ()))
        faults.expect(text, found.keys, preset.content if preset else None)
    faults.none()
