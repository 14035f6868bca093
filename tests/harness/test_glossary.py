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


def test_a_term_is_found_however_it_is_written(glossary: Glossary) -> None:
    found = {
        "OVERHEADS": "overhead",
        "no op  calls": "no-op call",
        "Null-Call": "no-op call",
        "caches": "cache",
        "a/a Comparisons": "A/A comparison",
    }
    assert {given: glossary.find(given).name for given in found} == found


def test_a_wrong_term_gets_close_ones_or_the_command_that_lists_all(glossary: Glossary) -> None:
    everything = "python -m lessons glossary lists all terms"
    close = {"overhad": "close terms are: overhead", "call": "no-op call"}
    for given, said in {**close, "": everything, "…": everything}.items():
        with pytest.raises(UsageError, match=said):
            glossary.find(given)


def test_the_terms_of_a_text_are_found_by_any_name_and_as_whole_words(glossary: Glossary) -> None:
    used = glossary.used_in("Null calls measure the Overhead. A cached value is something else, and so is cachet.")
    assert [term.name for term in used] == ["no-op call", "overhead"]
    assert glossary.used_in("") == ()


def test_spellings_of_one_term_have_one_key() -> None:
    for one, other in [("Processes", "process"), ("caches", "cache"), ("memories", "memory"), ("GIL", "gil")]:
        assert key(one) == key(other)


def test_a_damaged_file_is_one_error_that_names_the_file_and_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "glossary.toml"
    with pytest.raises(UsageError, match="cannot be read"):
        load(path)
    sound = "[cache]\nmeaning = 'A store.'\n"
    for text, expected in {
        "cache = 3": "'cache' is not a table",
        "[cache]\n": "'cache' has no meaning",
        "[cache]\nmeaning = ' '": "'cache' has no meaning",
        f"{sound}alias = []": "unknown field 'alias'",
        f"{sound}lesson = 4": "lesson of the term 'cache' is not a text",
        f"{sound}also = 'store'": "'also' of the term 'cache' is not a list of texts",
        f"{sound}see = ['disk']": "'cache' refers to 'disk'",
        f"{sound}[Caches]\nmeaning = 'Stores.'": "share the name 'cache'",
        "[cache": "Expected",
    }.items():
        path.write_text(text)
        with pytest.raises(UsageError, match=expected) as caught:
            load(path)
        assert str(path) in str(caught.value)
