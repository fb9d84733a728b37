"""Mutate the arithmetic and see that the tests notice.

Run with ``python tests/bench/mutate.py [MODULE ...]``. Every operator, comparison, whole
number and symbol of the tensor tables and of the functions that count is changed, one at
a time, in a copy of the checkout; the tests that watch over the arithmetic must fail.
"""

import ast
import copy
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click  # noqa: F401 (forks have it at hand)
import pytest
import rich.console  # noqa: F401 (and this)

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    *(f"{folder}/{p.name}" for folder in ("families", "passes")
      for p in sorted((ROOT / "albert_calc" / folder).glob("*.py"))
      if p.name not in ("__init__.py", "sizes.py")),
    "config/followers.py", "config/values.py", "algebra.py", "counting/tensors.py",
    "counting/counts.py", "counting/comparison.py", "counting/priced.py", "costs/flops.py",
    "costs/memory.py", "search/grid.py", "search/sweep.py", "search/solve.py",
    "checks/bounds.py", "checks/measure.py",
]  # fmt: skip
TESTS = [
    "test_flops", "test_activations", "test_families", "test_counts", "test_peak",
    "test_trainable", "test_reproduce", "test_algebra", "test_detection", "test_comparison",
    "test_config", "test_cost", "test_solve", "test_sweep", "test_check", "test_infer",
    "test_verify", "test_cli",
]  # fmt: skip
NEAR = {
    "checks": {"test_check"},
    "config": {"test_config"},
    "counting": {"test_counts", "test_comparison"},
    "costs": {"test_cost", "test_flops"},
    "search": {"test_sweep", "test_solve"},
}
"""The tests that most likely notice a mutant of a folder, if not the first: they run first."""

LONGEST = 600  # seconds until a mutant that hangs counts as killed
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
SYMBOLS = dict(zip("VEHIPTLGNCBSA", "EHIPTLGNCBSAV", strict=True))

# Lines whose mutants mean the same, each with the reason why.
EQUIVALENT = {
    ("algebra.py", "@lru_cache(maxsize=4096)"): "a cache of any size gives the same",
    ("algebra.py", 'sign = notation.minus if coefficient < 0 else "+"'): "no coefficient is 0",
    ("algebra.py", 'Key = TypeVar("Key", contravariant=True)'): "only types read it",
    ("checks/bounds.py", "denominator: int = 1"): "a numerator comes with its denominator",
    ("checks/bounds.py", "exactly: bool = False"): "it says nothing without same_as",
    ("checks/measure.py", "if not isinstance(values.get(key, False), bool)"): "either is a bool",
    ("costs/flops.py", "forward = self.forward or 1"): "nothing has no shares",
    ("counting/priced.py", 'model_type, frozenset({"factorized"}), tables.default_share, True,'
                           ' "model", "transformers"'): "nothing in the bare model is tied",
    ("counting/tensors.py", "copies = (minus(copies[0], skip), *copies[1:])"):
        "no layer of which some is skipped is stored in groups",
    ("counting/tensors.py", "runs = (minus(runs[0], tensor.skip), *runs[1:])"):
        "what is skipped is a norm, whose runs count nothing",
    ("families/deberta_v2.py", '"position_buckets": -1,'): "any number below 1 is none",
    ("families/keys.py", 'return Switch(key, "a positive whole number" if least > 0'
                         ' else "a whole number", read)'): "no key is at least 0",
    ("families/mobilebert.py", '*only(_unused(_projection("E")), unless=("trigram",'
                               ' "factorized")),'): "E is H where nothing is factorized",
    ("families/modernbert.py", '"global_attn_every_n_layers": 3,'): "it counts nothing",
    ("search/grid.py", "MOST_IMPOSSIBLE = 5_000_000"): "a limit of patience",
    ("search/solve.py", "_WINDOW = 1_000"): "a limit of patience",
    ("search/solve.py", "sound = isinstance(heads, int) and not isinstance(heads, bool)"
                        " and heads > 0"): "an A that is no size is refused later",
    ("search/solve.py", "return heads if sound else 1"): "an A that is no size is refused later",
    ("search/solve.py", "times = largest(fits, most // step)"): "nothing fits beyond the most",
    ("search/solve.py", "for value in range(step, step * _WINDOW, step):"): "a limit of patience",
    ("search/solve.py", "keys = {**config.keys, key: heads + 1}"): "neither is a multiple of A",
    ("search/solve.py", 'rules = (r for r in config.family.rules if r.keys[:2] =='
                        ' ("num_attention_heads", key))'): "such a rule has these keys alone",
    ("search/solve.py", 'if key not in ("embedding_size", "hidden_size") or not'
                        ' config.family.has("embedding_size"):'):
        "a value that is tried beside the search can only cost what the search knows",
    ("search/sweep.py", 'if grid.embedding == "factorized" and grid.layout == "paper":'):
        "more pieces of a stretch count the same",
    ("search/sweep.py", "follows = not (moving - {inner}).isdisjoint(key for f in deciding"
                        " for key in f.keys)"):
        "no feature is turned by what follows the size that varies",
}  # fmt: skip


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Every mutant of *tree*: its line, what stood there, and the mutated tree."""
    for index, node in enumerate(ast.walk(tree)):
        for change in range(len(changes(node))):
            mutated = copy.deepcopy(tree)
            target = list(ast.walk(mutated))[index]
            changes(target)[change]()
            yield getattr(node, "lineno", 0), ast.unparse(node), mutated


def changes(node: ast.AST) -> list[Callable[[], None]]:
    """What can be changed about *node*, as functions that do it."""
    found = []
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        found.append(lambda: setattr(node, "op", OPERATORS[type(node.op)]()))
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        found.append(lambda: setattr(node, "ops", [OPERATORS[type(node.ops[0])]()]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        found.append(lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand)))
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            found.append(lambda: setattr(node, "value", not value))
        elif isinstance(value, int):
            found.append(lambda: setattr(node, "value", value + 1))
        elif isinstance(value, str) and value in SYMBOLS:
            found.append(lambda: setattr(node, "value", SYMBOLS[value]))
    return found


def is_killed(folder: Path, near: Collection[str] = (), *, caching: bool = False) -> bool:
    """Whether the tests fail in the copy of the checkout in *folder*, first those that are *near*.

    They run in a fork of this process, which has imported all that does not change; with
    *caching* they leave compiled files for the runs that follow.
    """
    child = os.fork()
    if not child:
        signal.alarm(LONGEST)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = sys.path[0] = str(folder)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "" if caching else "1"
        sys.dont_write_bytecode = not caching
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        options = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "-m", "not slow"]
        ordered = sorted(TESTS, key=lambda name: name not in near)
        killed = any(pytest.main([*options, f"tests/{name}.py"]) for name in ordered)
        os._exit(killed)
    return os.waitpid(child, 0)[1] != 0


def try_part(folder: Path, part: int, parts: int) -> tuple[int, int]:
    """Try every mutant whose number leaves *part*: how many, and how many survived."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    assert not is_killed(folder, caching=True), "the tests fail without any mutant"
    survivors = tried = 0
    for module in sys.argv[1:] or MODULES:
        path = folder / "albert_calc" / module
        original = path.read_text(encoding="utf-8")
        found = list(mutants(ast.parse(original)))
        for line, text, mutated in found[part::parts]:
            path.write_text(ast.unparse(mutated), encoding="utf-8")
            tried += 1
            if not is_killed(folder, NEAR.get(module.split("/")[0], ())):
                reason = EQUIVALENT.get((module, original.splitlines()[line - 1].strip()))
                survivors += reason is None
                verdict = f"equivalent ({reason})" if reason else "SURVIVED"
                print(f"{verdict}: {module}:{line}: {text}", flush=True)
        path.write_text(original, encoding="utf-8")
        print(f"{module}: done, {tried} mutants so far", flush=True)
    return tried, survivors


def main() -> None:
    """Try all mutants of the modules named, or of all; name the survivors."""
    parts = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(parts) as pool:
        done = [pool.submit(try_part, Path(name) / str(part), part, parts) for part in range(parts)]
        tried, survivors = map(sum, zip(*(each.result() for each in done), strict=True))
    print(f"{tried} mutants, {survivors} survived")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
