import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports.csv_file import CsvFile, defuse_formula, number
from harness.errors import UsageError

ODD = '\ufeff"Name","Points" ,Note\r\n"Doe, ""Jane""",  7,"two\r\nlines"\r\nÅsa,,\n;;'


def test_a_cell_is_filled_and_nothing_else_changes() -> None:
    sheet = CsvFile(ODD.encode(), "a.csv")
    assert sheet.fill(2, 1, "9.5")
    assert sheet.to_bytes().decode() == ODD.replace("Åsa,,", "Åsa,9.5,")
    assert not sheet.fill(2, 1, "9.5")
    sheet = CsvFile(b"a,b,c\n1\n", "a.csv")
    sheet.fill(1, 2, "3")
    assert sheet.to_bytes() == b"a,b,c\n1,,3\n", "a row that is too short is filled up"


def test_a_quoted_cell_stays_quoted_and_a_text_that_needs_quotes_gets_them() -> None:
    sheet = CsvFile(b'"a",b\n"1",2\n', "a.csv")
    sheet.fill(1, 0, "3")
    sheet.fill(1, 1, 'x, "y"')
    assert sheet.to_bytes() == b'"a",b\n"3","x, ""y"""\n'


def test_a_semicolon_or_a_tab_may_separate_and_the_headings_say_which() -> None:
    for sign in ";\t":
        assert CsvFile(f'"a,b,c"{sign}d\n1,5{sign}2'.encode(), "a.csv").rows == [["a,b,c", "d"], ["1,5", "2"]]


@given(
    st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")), min_size=2), min_size=1),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_table_reads_as_the_standard_library_reads_it(
    table: list[list[str]], sign: str, end: str, quoting: int
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=sign, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow([f"column {number}" for number in range(9)])
    writer.writerows(table)
    data = text.getvalue().encode()
    sheet = CsvFile(data, "a.csv")
    assert sheet.to_bytes() == data
    # For an empty line, Python's reader returns a row without cells. `CsvFile` has a row with an empty cell.
    expected = [row or [""] for row in csv.reader(io.StringIO(text.getvalue(), newline=""), delimiter=sign)]
    assert [[cell.strip(" ") for cell in row] for row in sheet.rows] == [
        [cell.strip(" ") for cell in row] for row in expected
    ]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "is empty"),
        ("Student;ID".encode("utf-16"), "not UTF-8"),
        (b"PK\x03\x04\0\0", "is not a CSV file"),
        (b'a,b\n1,"open\n', "line 2: a quote is not closed"),
        ("Åsa,1".encode("latin-1"), "not UTF-8"),
    ],
)
def test_what_is_no_such_file_is_refused_in_one_sentence(data: bytes, part: str) -> None:
    with pytest.raises(UsageError, match=part) as caught:
        CsvFile(data, "a.csv")
    assert str(caught.value).startswith("a.csv")


@pytest.mark.parametrize(
    ("text", "value"),
    [("10", 10.0), ("9,50", 9.5), ("1.234,5", 1234.5), ("1,234.5", 1234.5), (" 7 ", 7.0), ("-1", -1.0), ("EX", None),
     ("", None), ("(read only)", None), ("1 000,5", 1000.5)],
)  # fmt: skip
def test_a_number_is_read_whichever_sign_its_decimals_have(text: str, value: float | None) -> None:
    assert number(text) == value


def test_a_formula_is_made_harmless_and_a_name_is_left_alone() -> None:
    assert [defuse_formula(text) for text in ("=1", " +1", "\uff1d1", "Åsa")] == ["'=1", "' +1", "'\uff1d1", "Åsa"]
