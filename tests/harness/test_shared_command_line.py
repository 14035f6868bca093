"""Commands find the lesson or the term that a user names, and print each error as one sentence."""

from pathlib import Path

import pytest
import typer

from harness.command_line import guarded, named
from harness.errors import UsageError
from harness.glossary import parse

LESSONS = ("01_correct_first", "02_timeit_vs_timer", "10_memory", "11_torch_profiler")


def test_a_lesson_is_named_by_number_name_or_the_beginning_of_either() -> None:
    ways = ("2", "02", "002", "02_", "02_timeit", "timeit_vs_timer", "timeit", "02_timeit_vs_timer", "Timeit")
    assert {way: named(way, LESSONS) for way in ways} == dict.fromkeys(ways, "02_timeit_vs_timer")

    assert named("1", LESSONS) == "01_correct_first"


def test_the_error_names_several_matches_or_similar_names_or_all_names() -> None:
    errors = {
        "t": "'t' can mean 02_timeit_vs_timer or 11_torch_profiler",
        "timiet": "Did you mean 02_timeit_vs_timer",
        "10_memroy": "Did you mean 10_memory",
        "12": r"There is no lesson '12'\. There are: 01_correct_first",
    }
    errors |= dict.fromkeys(("", " ", "0", "-1", "zzz"), "There are: 01_correct_first, 02_timeit_vs_timer")
    for given, said in errors.items():
        with pytest.raises(UsageError, match=said):
            named(given, LESSONS)


def test_an_internal_error_names_the_file_and_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def fails() -> None:
        raise AttributeError("no such attribute")

    line = fails.__code__.co_firstlineno + 2
    assert guarded(app, "python -m grader", []) == 1
    place = f"{Path(__file__).name}, line {line}"
    said = f"Internal error in python -m grader: no such attribute ({place}). Run it with --debug"
    assert capsys.readouterr().err.startswith(said)


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
