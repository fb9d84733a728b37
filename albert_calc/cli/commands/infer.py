"""``albert-calc infer``: the config of a checkpoint that has none."""

from collections.abc import Iterator
from typing import Any

from albert_calc.checkpoints.adapters import adapter_folder, read_adapter
from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.inference import Inference, infer_config
from albert_calc.cli.asked import Asked
from albert_calc.cli.command import Function, argument, plain_command, with_parameters
from albert_calc.cli.options import OWN_HEADING, PATH, size_options
from albert_calc.config.files import quoted
from albert_calc.errors import CheckpointError, ConfigError
from albert_calc.families import family
from albert_calc.families.sizes import SIZES, size_problems
from albert_calc.models.checkpoint import find_checkpoint
from albert_calc.render import FORMATS
from albert_calc.report import Column, Report, Row, Section

_SHOWN_BY_NOTHING = "LA"


def _sizes(function: Function) -> Function:
    """The options for sizes that no shape shows."""
    return with_parameters(function, size_options(_SHOWN_BY_NOTHING, heading=OWN_HEADING))


@plain_command("infer", formats=("json", *(name for name in FORMATS if name != "json")))
@argument("path", type=PATH)
@_sizes
def command(_: Asked, *, path: str, **given: Any) -> Report:
    """Write the config.json of the checkpoint in PATH.

    Only the names and shapes of its tensors are used. PATH is a file of safetensors or of
    torch.save, an index of several, a directory with either, or an id in the local Hugging
    Face cache; only headers are read, and no pickle is run. Shapes rarely show the number of
    attention heads, nor how many layers are executed where they are shared: give -A and -L.

    \b
    Examples:
      albert-calc infer model.safetensors > config.json
      albert-calc infer path/to/checkpoint -L 12 -A 12
      albert-calc infer pytorch_model.bin -f table
    """
    sizes = {key: value for key, value in given.items() if value is not None}
    problems = [p for s in SIZES if s.key in sizes for p in size_problems(s, sizes[s.key])]
    if problems:
        raise ConfigError(problems)
    place, notes = find_checkpoint(path)
    folder = adapter_folder(place)
    if folder is not None:
        adapter = read_adapter(folder)
        base = f" for {adapter.base}" if adapter.base else ""
        raise CheckpointError(
            f"{quoted(path)}: an adapter of PEFT ({adapter.kind}){base}, and no model;"
            " albert-calc verify tells what it is"
        )
    found = infer_config(read_checkpoint(place), sizes)
    return Report(
        (
            Section(
                columns=(
                    Column("symbol", "symbol", "text"),
                    Column("key", "key", "text"),
                    Column("value", "value", "text"),
                ),
                rows=tuple(_rows(found)),
            ),
        ),
        found.content,
        f"{quoted(path)}: {found.config.model_type}, head {found.head}",
        remarks=(*notes, *found.notes),
        warnings=found.warnings,
    )


def _rows(found: Inference) -> Iterator[Row]:
    tables = family(found.config.model_type)
    symbols = {tables.name_of(s.key): s.symbol for s in (*SIZES, *tables.sizes)}
    yield None, "head", found.head
    for key, value in found.content.items():
        if isinstance(value, list):
            value = ", ".join(value)
        elif isinstance(value, bool):
            value = str(value).lower()
        yield symbols.get(key), key, value
