"""Commands find the lesson that a user names, and print each error as one sentence."""

from pathlib import Path

import pytest
import typer

from harness.command_line.command import guarded
from harness.command_line.names import named
from harness.errors import UsageError

LESSONS = ("01_correct_first", "02_timeit_vs_timer", "10_memory", "11_torch_profiler")


def test_a_lesson_is_named_by_number_name_or_the_beginning_of_either() -> None:
    ways = ("2", "02", "002", "02_", "02_timeit", "timeit_vs_timer", "timeit", "02_timeit_vs_timer", "Timeit")
    assert {way: named(way, LESSONS) for way in ways} == dict.fromkeys(ways, "02_timeit_vs_timer")


def test_a_number_matches_the_whole_number_only() -> None:
    assert named("1", LESSONS) == "01_correct_first"
    with pytest.raises(UsageError, match=r"There is no lesson '12'\. There are: 01_correct_first"):
        named("12", LESSONS)


def test_the_error_for_several_matches_names_them_all_and_for_a_misspelt_name_similar_ones() -> None:
    for given, said in {
        "t": "'t' can mean 02_timeit_vs_timer or 11_torch_profiler",
        "timiet": "Did you mean 02_timeit_vs_timer",
        "10_memroy": "Did you mean 10_memory",
    }.items():
        with pytest.raises(UsageError, match=said):
            named(given, LESSONS)


def test_the_error_for_an_unknown_name_lists_all_names() -> None:
    for given in ("", " ", "0", "-1", "zzz"):
        with pytest.raises(UsageError, match="There are: 01_correct_first, 02_timeit_vs_timer"):
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
