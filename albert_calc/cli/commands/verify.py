"""``albert-calc verify``: is this checkpoint this config."""

import os
from typing import Any

import click

from albert_calc.checkpoints.adapters import adapter_folder, misfits, read_adapter
from albert_calc.checkpoints.completing import completed
from albert_calc.checkpoints.files import Checkpoint, read_checkpoint
from albert_calc.checkpoints.verification import verify
from albert_calc.cli.asked import Asked
from albert_calc.cli.command import (
    ALL_SIZES,
    Function,
    argument,
    option,
    plain_command,
    with_parameters,
)
from albert_calc.cli.options import (
    MODEL_HEADING,
    PATH,
    SIZES_HEADING,
    head_option,
    layout_option,
    refuse_beside,
    size_options,
    source_options,
    typed,
    under,
)
from albert_calc.cli.reports.adapter import adapter_report
from albert_calc.cli.reports.verification import verification_report
from albert_calc.config.files import quoted
from albert_calc.config.presets import find_preset
from albert_calc.errors import ConfigError, Problems
from albert_calc.models.checkpoint import find_checkpoint
from albert_calc.models.lookup import Found, find_file, find_named
from albert_calc.models.model import Model
from albert_calc.report import Report


def _config_options(function: Function) -> Function:
    """The options that say which config a checkpoint is held against."""
    head = head_option("that of the class which the config names, else the one that fits best")
    options = [*source_options(), head, layout_option(), *size_options(ALL_SIZES)]
    return with_parameters(function, options)


@plain_command("verify")
@argument("path", type=PATH)
@option("--all", is_flag=True, help="List every difference, and not ten lines of them.")
@_config_options
def command(asked: Asked, *, path: str, all: bool, **_: Any) -> Report:
    """Check that the checkpoint in PATH is the model of a config.

    PATH is a file of safetensors or of torch.save, a model.safetensors.index.json, a directory
    with either, or an id in the local Hugging Face cache. Only headers are read, and no pickle
    is run. The config is the config.json beside it, unless --preset or --config names another.
    An adapter of PEFT is held against its own config, and against its base where that is known.
    Exits with 0 if every tensor is there and has its shape, with 1 if not, and with 2 if
    something cannot be read.

    \b
    Examples:
      albert-calc verify path/to/checkpoint
      albert-calc verify model.safetensors --preset albert-base-v2 --head masked-lm
      albert-calc verify pytorch_model.bin --config config.json
      albert-calc verify path/to/adapter --preset bert-base-uncased
    """
    refuse_beside(("preset",), ("config",))
    problems = Problems()
    with problems.collected():
        place, notes = find_checkpoint(path)
        folder = adapter_folder(place)
        checkpoint = read_checkpoint(place) if folder is None else None
    if problems:
        with problems.collected():
            asked.find()
    problems.raise_any()
    if checkpoint is None:
        return _of_adapter(asked, path, folder or place)
    found = _config(asked, checkpoint)
    keys, more = completed({**found.keys, **asked.request.overrides}, checkpoint)
    if more:
        found, notes = found._replace(keys=keys, origin="file"), (*notes, *more)
    (model,) = asked.read([found], asked.request._replace(class_head=True))
    result = verify(model.config, checkpoint, asked.request.head, asked.request.layout)
    return verification_report(
        quoted(path),
        model._replace(head=result.head),
        result,
        notes,
        whole=all,
        format=asked.format,
    )


def _config(asked: Asked, checkpoint: Checkpoint) -> Found:
    """The config that the line names, or else that beside *checkpoint*."""
    preset, config = asked.options["preset"], asked.options["config"]
    if not preset and config is None:
        folder = os.path.dirname(checkpoint.path) or os.curdir
        beside = os.path.join(folder, "config.json")
        if os.path.lexists(beside):
            # In its directory, as a pipe of that name would never be written to.
            return find_file(folder)
        if not asked.request.overrides:
            raise ConfigError(
                f"config: no config.json in {quoted(folder)}: give --config or --preset"
            )
    return asked.found[0]


def _of_adapter(asked: Asked, name: str, folder: str) -> Report:
    """What an adapter is, and whether it belongs on the model that is named, or that it names."""
    adapter = read_adapter(folder)
    base: Model | None = None
    if asked.options["preset"] or asked.options["config"] is not None:
        base = asked.model
    elif find_preset(adapter.base) is not None:
        (base,) = asked.read([find_named(adapter.base)], asked.request)
    elif idle := typed(*under(MODEL_HEADING), *under(SIZES_HEADING)):
        raise click.UsageError(
            f"{idle[0]} says nothing of this adapter, whose base is not known: give --preset or"
            " --config"
        )
    problems = misfits(adapter, base.config) if base is not None else []
    return adapter_report(quoted(name), adapter, base, problems)
