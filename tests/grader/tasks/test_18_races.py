"""Task (b) of lesson 18: events of threads with known races."""

from importlib import import_module
from typing import Any

import numpy as np

from grader import paths
from harness.threads.accesses import Recorder

events = import_module("grader.tasks.lesson_18_threads.events")
record = import_module("grader.tasks.lesson_18_threads.record")
recorded = import_module("grader.tasks.lesson_18_threads.recorded")


def drawn(seed: int = 1) -> tuple[Any, ...]:
    return tuple(events.draw_scenarios(np.random.default_rng(seed)))


def solution() -> Any:
    names: dict[str, Any] = {}
    exec(paths.solution("18_threads").read_text(encoding="utf-8"), names)  # noqa: S102 - it is a file of the project
    return names["races"]


def test_a_case_is_written_with_signs() -> None:
    part = events._part("a case", "m>A A+L A!x A-L m<A", "xAm", "advice")
    assert part.events[:3] == (("main", "start", "A"), ("A", "acquire", "L"), ("A", "write", "x"))
    assert part.races == (("x", "A", "main"),)


def test_names_are_new_and_no_two_cases_share_one() -> None:
    woven = [scenario for scenario in drawn() if scenario.title == "several threads and variables"]
    assert len(woven) == 8
    for scenario in drawn():
        threads = {thread for thread, _, _ in scenario.events} - {"main"}
        started = {name for _, action, name in scenario.events if action == "start"}
        assert threads <= started
        assert "main" not in started
    letters = set("ABCKLMxyz")
    assert not any({*row[:1], row[2]} & letters for scenario in drawn() for row in scenario.events)


def test_many_cases_have_races_and_many_have_none() -> None:
    with_races = sum(bool(part.races) for part in events.PARTS)
    assert 10 <= with_races <= len(events.PARTS) - 10
    assert len({part.title for part in events.PARTS}) == len(events.PARTS)


def test_a_lock_is_acquired_before_it_is_released_and_a_thread_runs_only_between_start_and_join() -> None:
    for scenario in drawn():
        held: dict[tuple[str, str], int] = {}
        running = {"main"}
        for thread, action, name in scenario.events:
            assert thread in running
            if action == "start":
                running.add(name)
            if action == "join":
                running.remove(name)
            if action in {"acquire", "release"}:
                held[thread, name] = held.get((thread, name), 0) + (1 if action == "acquire" else -1)
                assert held[thread, name] >= 0


def test_each_run_of_a_recorded_program_has_the_races_that_the_program_states() -> None:
    """The races follow from the program. So a new recording, with another order of events, has the same races."""
    for name, program in record.PROGRAMS.items():
        recorder = Recorder()
        races = program(recorder)
        rows = solution()([[event.thread, event.action, event.name] for event in recorder.events])
        assert rows == sorted([variable, *sorted(threads)] for variable, *threads in races)
        assert [tuple(race) for race in races] == list(recorded.load()[name][1])


def test_the_recordings_are_those_of_real_programs() -> None:
    for name, (rows, races) in recorded.load().items():
        assert len(rows) > 25
        assert races
        assert {row[1] for row in rows} == {"start", "join", "acquire", "release", "read", "write"}, name
