from hypothesis import given
from hypothesis import strategies as st

from grader.reports.sanitize import sanitize, shortened


@given(st.text())
def test_what_is_shown_can_be_written_and_holds_nothing_that_acts(text: str) -> None:
    safe = sanitize(text)
    safe.encode()
    assert len(safe) >= len(text)
    assert not [char for char in safe if not char.isprintable() and char in "\x00\x1b\x7f\x9b\u202e\u2066\u200b\ufeff"]


def test_a_lone_surrogate_is_written_out() -> None:
    assert sanitize("a\udcffb") == "a[U+DCFF]b"


def test_lines_and_the_joiners_of_letters_stay() -> None:
    for text in ("two\nlines\tand a tab", "\u0645\u06cc\u200c\u062e", "👩\u200d🔬", "Zoë", "e\u0301"):
        assert sanitize(text) == text


def test_a_long_text_ends_in_an_ellipsis_and_a_short_one_does_not() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abc efg", 5) == "abc…"
    assert len(shortened("y" * 10_000)) == 300
