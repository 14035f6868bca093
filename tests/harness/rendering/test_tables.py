import io

import pytest
from rich.console import Console

from harness.rendering.tables import Column, Table
from harness.rendering.units import ratio, seconds

TABLE = Table(
    "Two ways",
    (Column("what"), Column("median", seconds), Column("gain", ratio)),
    (("mul-sum", 1.07e-4, None), ("bmm", 3e-6, 35.67)),
)


def test_plain_text_is_aligned_and_rounded() -> None:
    assert Table.of("Two ways", {"what": None, "median": seconds, "gain": ratio}, list(TABLE.rows)) == TABLE
    assert TABLE.to_text().replace("\N{MULTIPLICATION SIGN}", "*").splitlines() == [
        "Two ways",
        "what     median   gain",
        "───────  ──────  ─────",
        "mul-sum  107 µs",
        "bmm        3 µs  35.7*",
    ]
    # A wide character takes two columns.
    table = Table("", (Column("name"), Column("n")), (("日本", 1.0), ("abcd", 2.0)))
    assert table.to_text().splitlines() == ["name  n", "────  ─", "日本  1", "abcd  2"]


def test_a_terminal_shows_markup_in_cells_as_text() -> None:
    table = Table("[b]", (Column("[i]"), Column("t", seconds)), (("[red]x[/red]", 0.25),))
    console = Console(file=io.StringIO(), width=60)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for text in ("[b]", "[i]", "[red]x[/red]", "250 ms"):
        assert text in shown


def test_a_table_without_rows_is_its_heading_and_a_row_that_does_not_fit_is_refused() -> None:
    assert Table("", (Column("a"), Column("b")), ()).to_text() == "a  b\n─  ─"
    with pytest.raises(ValueError, match="1 cells under 2 columns"):
        Table("t", (Column("a"), Column("b")), (("only one",),))
