from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.glossary import load, parse

GLOSSARY = parse("""
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

[process]
meaning = "A running program."
also = ["memory"]
""")


def test_a_term_is_found_in_any_spelling() -> None:
    found = {
        "OVERHEADS": "overhead",
        "no op  calls": "no-op call",
        "Null-Call": "no-op call",
        "a/a Comparisons": "A/A comparison",
        "Processes": "process",
        "memories": "process",
    }
    assert {given: GLOSSARY.find(given).name for given in found} == found
    everything = "python -m lessons glossary lists all terms"
    for given, said in {"overhad": "close terms are: overhead", "call": "no-op call", "…": everything}.items():
        with pytest.raises(UsageError, match=said):
            GLOSSARY.find(given)
    used = GLOSSARY.used_in("Null calls measure the Overhead. A cached value is something else, and so is cachet.")
    assert [term.name for term in used] == ["no-op call", "overhead"]
    assert GLOSSARY.used_in("") == ()


def test_a_damaged_file_is_one_error_that_names_the_file_and_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "glossary.toml"
    with pytest.raises(UsageError, match="No such file"):
        load(path)
    sound = "[cache]\nmeaning = 'A store.'\n"
    for text, expected in {
        "[cache]\n": "'meaning'",
        f"{sound}alias = []": "'alias'",
        f"{sound}see = ['disk']": "'cache' refers to 'disk'",
        f"{sound}[Caches]\nmeaning = 'Stores.'": "share the name 'cache'",
        "[cache": "Expected",
    }.items():
        path.write_text(text)
        with pytest.raises(UsageError, match=expected) as caught:
            load(path)
        assert str(path) in str(caught.value)
