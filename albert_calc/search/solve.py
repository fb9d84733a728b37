"""The inverse question: the largest size with which a model stays within a budget.

A count never falls when a size grows, except that E = H may have fewer tensors than
E ≠ H. So bisection finds the answer, and E = H is tried on its own.
"""

from collections.abc import Callable, Iterator, Sequence
from math import lcm
from typing import NamedTuple

from albert_calc.config.followers import FOLLOWS, followers_of, put_followers
from albert_calc.config.values import followed, holds
from albert_calc.costs.fit import largest
from albert_calc.costs.workload import BATCH_KEYS
from albert_calc.counting.counts import component_formulas
from albert_calc.errors import ConfigError, Problems
from albert_calc.families import families
from albert_calc.families.sizes import LARGEST, SYMBOLS
from albert_calc.models.lookup import Found
from albert_calc.models.model import Model, Request, followers_in, read_model
from albert_calc.writing.harmless import shown

_WINDOW = 1_000
"""How many multiples are passed over, at most, to one that keeps the rules."""

VARIABLES: tuple[str, ...] = (
    "vocab_size",
    "embedding_size",
    "hidden_size",
    "num_hidden_layers",
    "intermediate_size",
)
"""The sizes of a model that can be solved for."""

Amount = Callable[[Model], int]
"""What a model costs, in whatever the budget is: never less where a size is larger."""


class Candidate(NamedTuple):
    """A model with one value of the size solved for, and what it costs."""

    value: int
    model: Model
    amount: int


class Solution(NamedTuple):
    """What was *found* for the size *key*, which must be a multiple of *step*.

    If it *fits*, it is the largest value within *budget*, and *next* the one after it, which
    is beyond; there is no next after the largest size allowed at all. If not, none fits, and
    *found* comes closest. *constant* says that the cost does not depend on the size, so that
    every value does as the first of them, *found*, does. An *isolated* answer fits because
    E = H there, while the value below it does not.
    """

    key: str
    budget: int
    step: int
    found: Candidate
    fits: bool
    next: Candidate | None = None
    constant: bool = False
    isolated: bool = False

    @property
    def left(self) -> int:
        """What is left of the budget, negative if nothing fits."""
        return self.budget - self.found.amount


def parameters_of(model: Model) -> int:
    """The measure of a budget of parameters."""
    return model.counts.total


def largest_size(
    found: Found,
    request: Request,
    key: str,
    budget: int,
    *,
    multiple_of: int = 1,
    measure: Amount = parameters_of,
) -> Solution:
    """The largest value of *key* with which the model *found* costs at most *budget*.

    Without an I in *request*, I follows the H solved for as 4·H, if it does in *found*. H is kept
    divisible by A, and values that break another rule are passed over. Raises ``ConfigError``
    for sizes that make no model, and for a budget or a *multiple_of* that is not a positive
    whole number.
    """
    followers = solved_followers(key, request, found)

    def at(value: int) -> Candidate:
        sizes = {**request.overrides, key: value}
        put_followers(sizes, followers)
        model = read_model(found, request._replace(overrides=sizes))
        return Candidate(value, model, measure(model))

    problems = Problems(solve_problems(key, budget, multiple_of))
    heads = _heads(at, found, request, key)
    with problems.collected():
        _first(at, key, heads)
    problems.raise_any()
    step = lcm(multiple_of, heads)
    most = min((FOLLOWS[follower].largest for follower in followers), default=LARGEST)
    if step > most:
        raise ConfigError(f"{key}: must be a multiple of {step} and at most {most:,}")
    first = _first(at, key, step)
    matters = first.model.config.family.has(key)
    if not matters or (measure is parameters_of and not depends_on(key, first.model)):
        return Solution(key, budget, step, first, first.amount <= budget, constant=True)
    possible = _possible(first.model, key, followers)
    square = [v for v in _square(key, first.model) if v % step == 0 and possible(v)]
    return largest_value(at, key, budget, step, most, square, possible)


def largest_value(
    at: Callable[[int], Candidate],
    key: str,
    budget: int,
    step: int,
    most: int,
    apart: Sequence[int] = (),
    possible: Callable[[int], bool] = lambda _: True,
) -> Solution:
    """The largest multiple of *step* up to *most* with which *at* costs at most *budget*.

    No value may cost less than a smaller one, but for those of *apart*; those that are not
    *possible* are passed over. Raises ``ConfigError`` if none is.
    """

    def beside(value: int, way: int) -> Candidate | None:
        """The nearest possible multiple, from *value* up or down."""
        several = range(value, value + way * step * _WINDOW, way * step)
        near = next((v for v in several if 0 < v <= most and possible(v)), 0)
        return at(near) if near else None

    def fits(times: int) -> bool:
        candidate = beside(times * step, 1)
        return candidate is not None and candidate.amount <= budget

    first, alone = beside(step, 1), [at(value) for value in apart]
    times = largest(fits, most // step)
    best = [at(times * step)] if times else []
    fitting = [c for c in (*best, *alone) if c.amount <= budget]
    if not fitting:
        several = [*([first] if first else []), *alone]
        if not several:
            raise ConfigError(f"{key}: must be a multiple of {step} and at most {most:,}")
        closest = min(several, key=lambda c: c.amount)
        return Solution(key, budget, step, closest, fits=False)
    answer = max(fitting, key=lambda c: c.value)
    below = beside(answer.value - step, -1)
    return Solution(
        key, budget, step, answer, True, beside(answer.value + step, 1),
        isolated=below is not None and below.amount > budget,
    )  # fmt: skip


def _first(at: Callable[[int], Candidate], key: str, step: int) -> Candidate:
    """The smallest multiple of *step* that makes a model.

    Raises ``ConfigError`` for what is wrong whatever the size *key* is.
    """
    problems: tuple[str, ...] = ()
    for value in range(step, step * _WINDOW, step):
        try:
            return at(value)
        except ConfigError as error:
            problems = problems or error.problems
            # Another value may mend a rule that names the size, and nothing else.
            names = {tables.name_of(key) for tables in families()}
            if not all(any(name in p for name in names) for p in error.problems):
                break
    raise ConfigError(problems)


def _possible(model: Model, key: str, followers: tuple[str, ...]) -> Callable[[int], bool]:
    """Whether a value of the size *key* keeps the rules of *model*'s family and head."""
    config, tables = model.config, model.config.family
    rules = [r for r in (*tables.rules, *tables.heads[model.head].rules) if r.fatal]
    keys = {**config.keys, "share": config.share}

    def keeps(value: int) -> bool:
        keys[key] = value
        put_followers(keys, followers)
        for name in config.following:
            if name != key:
                keys[name] = followed(tables.defaults[tables.name_of(name)], keys)
        return all(holds(rule, keys) for rule in rules)

    return keeps


def solved_followers(key: str, request: Request, found: Found) -> tuple[str, ...]:
    """The sizes of *found* that follow *key* when it is varied, since nobody gives them."""
    given = {name for name, value in request.overrides.items() if value is not None}
    return followers_of((key,), given, followers_in(found))


def solve_problems(key: str, budget: object, multiple_of: object) -> Iterator[str]:
    """Every rule that a question breaks, whatever the model, one line each."""
    if key not in (*VARIABLES, *BATCH_KEYS):
        yield f"vary: must be one of {', '.join(VARIABLES)}, got {shown(key)}"
    for name, value in (("budget", budget), ("multiple_of", multiple_of)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            yield f"{name}: must be a positive whole number, got {shown(value)}"


def depends_on(key: str, model: Model) -> bool:
    """Whether the count of *model* changes with the size *key*."""
    moved = {key, SYMBOLS[key]}
    for derived in model.config.family.derived:
        if moved.intersection(derived.keys):
            moved.add(derived.symbol)
    formulas = component_formulas(model.blueprint.variant)
    return any(moved & f.terms.symbols for f in formulas)


def _heads(at: Callable[[int], Candidate], found: Found, request: Request, key: str) -> int:
    """How many heads must divide the size *key*; 1 if none must.

    An A that is no size is refused later.
    """
    if key != "hidden_size":
        return 1
    heads = request.overrides.get("num_attention_heads", found.keys.get("num_attention_heads"))
    sound = isinstance(heads, int) and not isinstance(heads, bool) and heads > 0
    try:
        model = read_model(found, request)
    except ConfigError:
        # Most likely there is no H yet.
        try:
            model = at(heads if sound else 1).model
        except ConfigError:
            return heads if sound else 1
    config = model.config
    heads = config.num_attention_heads
    if heads is None:
        return 1
    keys = {**config.keys, key: heads + 1}
    rules = (r for r in config.family.rules if r.keys[:2] == ("num_attention_heads", key))
    return 1 if all(holds(rule, keys) for rule in rules if rule.fatal) else heads


def _square(key: str, model: Model) -> tuple[int, ...]:
    """The value of *key* with which E = H, if the model has an E of its own."""
    config = model.config
    if key not in ("embedding_size", "hidden_size") or not config.family.has("embedding_size"):
        return ()
    other = config.hidden_size if key == "embedding_size" else config.embedding_size
    return (other,) if other else ()
