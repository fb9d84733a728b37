"""Who may import whom: a pure core, and rich only where something is drawn."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

PACKAGE = ROOT / "albert_calc"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module may import those in the same row and in the rows above it.
LAYERS = [
    ["errors", "text", "algebra", "quantity", "format", "report", "picture", "printed.figure"],
    ["architectures.base"],
    ["architectures.*"],
    ["configfile", "sizes"],
    ["config"],
    ["presets", "tensors"],
    ["counts"],
    ["comparison", "explanation", "checks.bounds", "checkpoints.safetensors"],
    ["checks.file", "checkpoints.*", "costs.*", "search.*", "printed.*"],
    ["checks", "checkpoints", "costs", "search", "printed"],
    ["render", "render.*"],
    ["cli", "cli.*"],
    ["__main__"],
]
PUBLIC = "albert_calc"


def name_of(path: Path) -> str:
    """The module's name within the package; the package itself is ``albert_calc``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) or PUBLIC


def layer_of(name: str) -> int:
    """The row in which *name* stands, by itself or by its folder."""
    for pattern in (name, f"{name.rpartition('.')[0]}.*", f"{name}.*"):
        for row, names in enumerate(LAYERS):
            if pattern in names:
                return row
    raise AssertionError(f"{name} stands in no layer")


def imports_of(path: Path, late: bool) -> set[str]:
    """The names that a module imports; those inside functions only if *late*."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if late else ast.iter_child_nodes(tree)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_directions(path: Path) -> None:
    """Imports point one way: config, tensors, counts, report, rendering, command line."""
    name = name_of(path)
    if name == PUBLIC:
        return
    for imported in imports_of(path, late=False):
        if imported.startswith("albert_calc."):
            assert layer_of(imported.removeprefix("albert_calc.")) <= layer_of(name), imported


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_outside_libraries(path: Path) -> None:
    """The command line alone imports click, and what draws alone rich."""
    name = name_of(path)
    outside = {i.partition(".")[0] for i in imports_of(path, late=True)}
    outside -= {*sys.stdlib_module_names, "albert_calc"}
    drawing = {f"render.{n}" for n in ("table", "chart", "diagram", "export", "lines")}
    allowed = {"click"} if name.startswith("cli") else {"rich"} if name in drawing else set()
    assert outside <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_holds_and_may_import(path: Path) -> None:
    """A module begins with what it holds; where it lists what it may import, that is true.

    The modules of the command line and of rendering share the list of their folder.
    """
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    folder = ast.get_docstring(ast.parse(path.with_name("__init__.py").read_text(encoding="utf-8")))
    assert docstring
    assert "mport" in f"{docstring} {folder}"
    sentence = re.search(r"[Mm]ay\s+import\s[^.`]*(?:``[^`]*``[^.`]*)*\.", docstring)
    named = re.findall(r"``(albert_calc[\w.]*)``", sentence[0]) if sentence else []
    if named and path.name != "__init__.py":
        for imported in imports_of(path, late=True):
            if imported.startswith("albert_calc."):
                assert any(f"{imported}.".startswith(f"{name}.") for name in named), imported


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after *code*."""
    program = f"import sys\n{code}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_the_library_loads_neither_click_nor_rich() -> None:
    """``import albert_calc`` and a count load nothing but the standard library."""
    names = loaded("import albert_calc as a\na.count_parameters(a.ModelConfig.from_preset('base'))")
    assert "albert_calc" in names
    assert not {"click", "rich"} & names


@pytest.mark.parametrize(
    "args",
    [
        "compare --preset xxlarge --format json",
        "count --preset albert-base-v2 -f json",
        "count --preset albert-base-v2 --total",
        "presets -f csv",
        "explain --preset base -f markdown",
        "check --preset base --at-most 12M -f json",
        "reproduce paper -f json",
    ],
)
def test_rich_is_loaded_for_tables_only(args: str) -> None:
    """JSON, CSV and Markdown never load rich; a table does."""
    code = (
        "from albert_calc.cli import main\n"
        "try: main({args!r}.split())\n"
        "except SystemExit as done: assert done.code == 0\n"
    )
    assert "rich" not in loaded(code.format(args=args))
    assert "rich" in loaded(code.format(args="embedding -V 9 -E 2 -H 3"))
