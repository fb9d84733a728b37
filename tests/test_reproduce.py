"""``reproduce``: the printed figures, one by one, against copies of what is printed."""

import csv
import io
import json

import pytest
from conftest import Run
from support import Faults, oracle

from albert_calc.errors import AlbertCalcError
from albert_calc.printed import gpu, paper
from albert_calc.printed.figure import Figure


def test_the_papers_rows(run: Run) -> None:
    """All 33 rows are there as printed; 31 round to what is printed, 235M and 233M differ."""
    result = run("reproduce", "paper", "-f", "json")
    rows = json.loads(result.stdout)
    printed = oracle("paper")["rows"]
    assert result.exit_code == 0
    assert [r["printed"] for r in rows] == [f"{r['published_M']}M" for r in printed]
    assert [r["figure"] for r in rows] == [r["row"] for r in printed]
    differing = [r["printed"] for r in rows if r["verdict"] == "differs by"]
    assert differing == ["235M", "233M"]
    assert [r["verdict"] for r in rows].count("rounds to") == 31
    assert all(round(r["computed"] / 10**6) == int(r["printed"][:-1])
               for r in rows if r["verdict"] == "rounds to")  # fmt: skip
    assert result.stderr.count("Table 12 of the same paper prints 225M") == 2


def test_the_papers_shapes() -> None:
    """The table of rows in the package has the sizes of the copy in the tests."""
    sharing = {"none": "not-shared", "all": "all-shared", "attention": "shared-attention",
               "ffn": "shared-FFN"}  # fmt: skip
    for row, printed in zip(paper._ROWS, oracle("paper")["rows"], strict=True):
        assert row.embedding_size == printed["E"]
        assert row.hidden_size == printed["H"]
        assert row.num_hidden_layers == printed["L"]
        assert sharing[row.share] == printed["sharing"]
        assert (printed["V"], printed["I"], printed["P"], printed["T"]) == (
            30_000, 4 * row.hidden_size, 512, 2,
        )  # fmt: skip


def test_the_books_figures(run: Run) -> None:
    """Every number of handbook.json is among the printed figures, and each is as expected."""
    result = run("reproduce", "handbook", "-f", "json")
    assert result.exit_code == 0
    printed = {r["printed"] for r in json.loads(result.stdout)}
    book = oracle("handbook")
    example, encoder = book["embedding_example"], book["encoder"]
    wanted = {f"{example[k]:,}" for k in ("standard", "token_matrix", "projection", "factorized")}
    wanted |= {f"{example['reduction_percent']}%", f"{encoder['reduction_percent']}%"}
    for row in book["embedding_table"]:
        wanted |= {f"{row['parameters']:,}", f"{row['reduction_percent']}%"}
    wanted |= {f"{encoder[k]:,}" for k in ("bert_base", "albert_base",
               "embeddings_and_projection", "shared_layer")}  # fmt: skip
    wanted |= {"125,018,112", "125M", "85,054,464", "85M", "12×"}
    assert wanted == printed
    assert "like for like it is 89.3% with both poolers" in result.stderr


@pytest.mark.parametrize("source", ["handbook", "paper", "gpu"])
def test_csv_has_plain_numbers(source: str, run: Run) -> None:
    """What is printed and what was computed are numbers of one unit; the difference is theirs."""
    rows = list(csv.DictReader(io.StringIO(run("reproduce", source, "-f", "csv").stdout)))
    items = json.loads(run("reproduce", source, "-f", "json").stdout)
    faults = Faults()
    for row, item in zip(rows, items, strict=True):
        printed, computed = float(row["printed"]), float(row["computed"])
        faults.expect(item["figure"], row["verdict"], item["verdict"])
        if row["unit"] in ("parameters", "bytes"):
            faults.expect(item["figure"], int(row["computed"]), item["computed"])
            difference = int(row["computed"]) - int(row["printed"])
            faults.expect(item["figure"], difference, item["difference"])
            faults.expect(item["figure"], row["difference"], str(difference))
        else:
            scale = 100 if row["unit"] == "percent" else 1
            faults.expect(item["figure"], computed, item["computed"] * scale)
            faults.expect(item["figure"], printed, float(item["printed"].rstrip("%×")))
    faults.none()


VERDICTS: list[tuple[int, str, int | tuple[int, int], str, int | None]] = [
    (12, "millions", 12_000_000, "exact", 0),
    (12, "millions", 12_499_999, "rounds to", 499_999),
    (12, "millions", 12_500_000, "rounds to", 500_000),
    (12, "millions", 12_500_001, "differs by", 500_001),
    (12, "millions", 11_499_999, "differs by", -500_001),
    (7, "parameters", 7, "exact", 0),
    (7, "parameters", 8, "differs by", 1),
    (83, "percent", (100, 17), "exact", None),
    (83, "percent", (1000, 166), "rounds to", None),
    (-25, "tenths of a percent", (1000, 1025), "exact", None),
    (829, "tenths of a percent", (10_000, 1705), "rounds to", None),
    (829, "tenths of a percent", (10_000, 1704), "differs by", None),
    (12, "times", (120, 10), "exact", None),
]
"""What is printed in which unit, what was computed, the verdict, and the difference."""


def test_verdicts() -> None:
    """A verdict is taken in whole numbers: exact, within half the last digit, or not."""
    faults = Faults()
    for printed, unit, computed, verdict, difference in VERDICTS:
        figure = Figure("x", "y", printed, unit, computed, "", "exact")  # type: ignore[arg-type]  # any text for a Literal
        found = (figure.verdict, figure.difference)
        faults.expect((printed, unit, computed), found, (verdict, difference))
    faults.none()


def test_figures_as_they_are_shown() -> None:
    """What was computed has one digit more than what was printed."""
    faults = Faults()
    for printed, unit, computed, shown in (
        (829, "tenths of a percent", (10_000, 1705), ("82.9%", "82.95%")),
        (83, "percent", (1000, 166), ("83%", "83.4%")),
        (12, "times", (123, 10), ("12×", "12.30×")),
        (31, "millions", 31_515_648, ("31M", "31,515,648")),
        (31_515_648, "parameters", 31_515_648, ("31,515,648", "31,515,648")),
    ):
        figure = Figure("x", "y", printed, unit, computed, "", "exact")  # type: ignore[arg-type]  # as above
        faults.expect((printed, unit), (figure.printed_text, figure.computed_text), shown)
    faults.none()


@pytest.mark.parametrize(
    ("preset", "head", "reason"),
    [
        (
            "deberta-base",
            "masked-lm",
            "the forward pass of deberta is not described; those of albert",
        ),
        (
            "modernbert-base",
            "model",
            "the forward pass of modernbert is not described; those of albert",
        ),
    ],
)
def test_a_printed_peak_is_never_held_against_nothing(
    preset: str, head: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose training cannot be estimated is named, with the reason."""
    monkeypatch.setattr(gpu, "_RUNS", {"BERT": (preset, head, "A100")})
    with pytest.raises(AlbertCalcError, match=f"{preset}: .* unknown, since {reason}"):
        list(gpu.figures())


@pytest.mark.parametrize(("expected", "status"), [("exact", 1), ("differs by", 0)])
def test_an_unexpected_verdict_fails(
    expected: str, status: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1 and a warning if a verdict is not the one that is known."""
    figure = Figure("t", "f", 7, "parameters", 8, "c", expected)  # type: ignore[arg-type]  # as above
    monkeypatch.setattr(paper, "figures", lambda: [figure])
    result = run("reproduce", "paper")
    assert result.exit_code == status
    assert ("warning: t, f: expected 'exact'" in result.stderr) == (status == 1)
    assert "differs by +1" in result.stdout
