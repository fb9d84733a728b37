"""Who may import whom: a pure core, and libraries only where something is drawn or asked."""

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from support import ROOT, Faults

PACKAGE = ROOT / "albert_calc"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
    ("named_tuple",),
    ("algebra", "errors", "writing"),
    ("families.sizes",),
    ("families.base",),
    ("families.tensors", "families.heads", "families.keys"),
    ("families",),
    ("config",),
    ("counting", "passes"),
    ("models", "costs", "checkpoints"),
    ("search", "checks", "printed"),
    ("pictures",),
    ("report",),
    ("render",),
    ("cli",),
    ("__main__",),
)
"""Modules, and folders of them: each may import what stands above it, and its own folder."""

LATE = {
    # A config whose family cannot be told is refused with what each candidate counts.
    ("config.detection", "counting.counts"),
}
"""Imports that point upwards, each with its reason; they stand inside a function."""

PLAIN = ("cells", "csv", "github", "json", "junit", "latex", "markdown", "stream", "theme")
"""The renderers that write text and draw nothing."""

PUBLIC = "albert_calc"
"""The package itself, which imports its public names when they are asked for."""


def name_of(path: Path) -> str:
    """The module's name within the package; the package itself is ``albert_calc``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) or PUBLIC


def layer_of(name: str) -> int:
    """The row in which *name* stands, by itself or by a folder that it lies in."""
    while name:
        for row, names in enumerate(LAYERS):
            if name in names:
                return row
        name = name.rpartition(".")[0]
    return -1


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path, *, late: bool = True) -> set[str]:
    """Every name that a module imports, those inside functions only if *late*."""
    tree = tree_of(path)
    found: set[str] = set()
    for node in ast.walk(tree) if late else ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + str(node.module))
    return found


def may_import(name: str, imported: str) -> bool:
    """Whether the module *name* may import *imported*, both of the package."""
    above, own = layer_of(imported), layer_of(name)
    if above == own:
        return name.partition(".")[0] == imported.partition(".")[0]
    return 0 <= above < own


def may_use(name: str, library: str) -> bool:
    """Whether the module *name* may import *library*, which is not the standard one."""
    folder, _, module = name.partition(".")
    if library == "click":
        return folder == "cli"
    if library == "rich":
        return folder == "render" and module.partition(".")[0] not in ("", *PLAIN)
    if library == "matplotlib":
        return module == "figure" or module.startswith("plotted")
    return False


def test_directions() -> None:
    """Imports point one way: config, tensors, counts, report, rendering, command line."""
    faults = Faults()
    upwards = set()
    for path in MODULES:
        name = name_of(path)
        if name == PUBLIC:
            continue
        faults.expect((name, "has a layer"), layer_of(name) >= 0, True)
        at_once = imports_of(path, late=False)
        for imported in imports_of(path):
            faults.expect((name, imported, "is relative"), imported.startswith("."), False)
            package, _, inside = imported.partition(".")
            if package == PUBLIC and inside and not may_import(name, inside):
                upwards.add((name, inside))
                faults.expect((name, imported, "at once"), imported in at_once, False)
    faults.expect("upwards", upwards, LATE)
    faults.none()


def test_libraries() -> None:
    """The command line alone imports click, what draws alone rich, and files alone matplotlib."""
    faults = Faults()
    for path in MODULES:
        name = name_of(path)
        libraries = {imported.partition(".")[0] for imported in imports_of(path)}
        for library in libraries - {*sys.stdlib_module_names, PUBLIC}:
            faults.expect((name, library), may_use(name, library), True)
    faults.none()


def test_every_module_says_what_it_holds() -> None:
    """A module begins with what it holds; what it may import stands in the table above alone."""
    faults = Faults()
    contract = re.compile(r"\bmay import\b|\bimports nothing\b", re.IGNORECASE)
    for path in MODULES:
        docstring = ast.get_docstring(tree_of(path)) or ""
        faults.expect(name_of(path), bool(docstring), True)
        faults.expect(name_of(path), contract.findall(docstring), [])
    faults.none()


def modules(code: str) -> set[str]:
    """Every module that a fresh interpreter has loaded after *code*."""
    program = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_public_names_are_listed_before_they_are_asked_for() -> None:
    """An interactive session completes them."""
    code = "import albert_calc as a; print(set(a.__all__) <= set(dir(a)), 'ModelConfig' in vars(a))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True False\n"


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after *code*."""
    return {name.partition(".")[0] for name in modules(code)}


def after_lines(lines: Sequence[str]) -> str:
    """Code that runs each of *lines* as a command line, all of which succeed."""
    return (
        "from albert_calc.cli import main\n"
        f"for line in {tuple(lines)!r}:\n"
        "    try: main(line.split())\n"
        "    except SystemExit as done: assert done.code == 0, line\n"
    )


def test_the_library_loads_neither_click_nor_rich() -> None:
    """``import albert_calc`` and a count load nothing but the standard library."""
    names = loaded("import albert_calc as a\na.count_parameters(a.ModelConfig.from_preset('base'))")
    assert "albert_calc" in names
    assert not {"click", "rich", "matplotlib"} & names


UNDRAWN = (
    "compare xxlarge --format json",
    "count albert-base-v2 -f json",
    "count albert-base-v2 --total",
    "presets -f csv",
    "explain base -f markdown",
    "check base --at-most 12M -f json",
    "reproduce paper -f json",
    "sweep base -L 1:3 -f csv",
)
"""Lines that draw nothing."""


def test_libraries_are_loaded_where_something_is_drawn() -> None:
    """JSON, CSV and Markdown load neither rich nor matplotlib."""
    assert not {"rich", "matplotlib"} & loaded(after_lines(UNDRAWN))
    assert "rich" in loaded(after_lines(["count base"]))


def test_nothing_is_looked_up_that_a_count_does_not_need() -> None:
    """Neither options that are near to a short one nor translations: that takes as long."""
    lines = ["count base -f json", "count base --total", "compare xxlarge -f csv"]
    assert not {"difflib", "gettext", "locale"} & (
        loaded(after_lines(lines)) - loaded("import click")
    )


COUNTED = (
    "count base",
    "count base -f json",
    "count bert-base-uncased --head masked-lm -f csv",
    "layers base",
    "embedding base",
    "check base --at-most 12M",
    "reproduce paper -f json",
    "compare xxlarge",
    "compare base bert-base-uncased -f json",
)
"""Lines that count and train nothing."""


def test_forward_passes_are_loaded_where_something_is_trained() -> None:
    """A count loads no step, and a cost the steps of its own families."""
    passes = "albert_calc.passes"
    counted = {name for name in modules(after_lines(COUNTED)) if name.startswith(passes)}
    assert counted <= {passes, f"{passes}.conditions"}
    trained = modules(after_lines(["cost base -f json"]))
    assert f"{passes}.albert" in trained
    assert f"{passes}.bert" not in trained
