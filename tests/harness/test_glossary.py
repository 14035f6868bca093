from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.glossary import Glossary, key, load, parse

TEXT = """
["A/A comparison"]
meaning = "Code against itself."

[cache]
meaning = "A store."

["no-op call"]
meaning = "A call that does nothing."
also = ["null call"]
lesson = "04_autorange"
see = ["overhead"]

[overhead]
meaning = "Time for anything but the work."
"""


@pytest.fixture
def glossary() -> Glossary:
    return parse(TEXT)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("overhead", "overhead"),
        ("OVERHEADS", "overhead"),
        ("no op  calls", "no-op call"),
        ("Null-Call", "no-op call"),
        ("caches", "cache"),
        ("a/a Comparisons", "A/A comparison"),
    ],
)
def test_a_term_is_found_however_it_is_written(glossary: Glossary, given: str, name: str) -> None:
    assert glossary.find(given).name == name


@pytest.mark.parametrize(("given", "close"), [("overhad", "close terms are: overhead"), ("call", "no-op call")])
def test_a_wrong_term_gets_close_ones(glossary: Glossary, given: str, close: str) -> None:
    with pytest.raises(UsageError, match=close):
        glossary.find(given)


@pytest.mark.parametrize("given", ["", "zzzzzz", "…"])
def test_without_a_close_term_the_error_names_the_command_that_lists_all(glossary: Glossary, given: str) -> None:
    with pytest.raises(UsageError, match="python -m lessons glossary lists all terms"):
        glossary.find(given)


def test_the_terms_of_a_text_are_found_by_any_name_and_as_whole_words(glossary: Glossary) -> None:
    used = glossary.used_in("Null calls measure the Overhead. A cached value is something else, and so is cachet.")
    assert [term.name for term in used] == ["no-op call", "overhead"]
    assert glossary.used_in("") == ()


@pytest.mark.parametrize(
    ("one", "other"), [("Processes", "process"), ("caches", "cache"), ("memories", "memory"), ("GIL", "gil")]
)
def test_spellings_of_one_term_have_one_key(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cache = 3", "'cache' is not a table"),
        ("[cache]\n", "'cache' has no meaning"),
        ("[cache]\nmeaning = ' '", "'cache' has no meaning"),
        ("[cache]\nmeaning = 'A store.'\nalias = []", "unknown field 'alias'"),
        ("[cache]\nmeaning = 'A store.'\nlesson = 4", "lesson of the term 'cache' is not a text"),
        ("[cache]\nmeaning = 'A store.'\nalso = 'store'", "'also' of the term 'cache' is not a list of texts"),
        ("[cache]\nmeaning = 'A store.'\nsee = ['disk']", "'cache' refers to 'disk'"),
        ("[cache]\nmeaning = 'A store.'\n[Caches]\nmeaning = 'Stores.'", "share the name 'cache'"),
        ("[cache", "Expected"),
    ],
)
def test_a_damaged_file_is_one_error_that_names_the_file_and_the_fault(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "glossary.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=expected) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "glossary.toml")
