"""Task (a) of lesson 17: recordings with known blocks, and their right answers."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from playing import find_task, mistakes

from grader import paths
from grader.task import CountedExam
from grader.tasks.plain import right_rows
from grader.values import Value
from harness.memory import lacking_memray

blocks = import_module("grader.tasks.lesson_17_peaks_and_leaks.blocks")
recorded = import_module("grader.tasks.lesson_17_peaks_and_leaks.recorded")
TASK = find_task("17_peaks_and_leaks", "at_peak")
RIGHT = [paths.solution("17_peaks_and_leaks"), *sorted(TASK.known.glob("[bt]*.py"))]
WRONG = list(TASK.wrong_answers)


def mismatches(path: Path, seed: int) -> list[str]:
    return mistakes(path, "at_peak", blocks.draw_cases(np.random.default_rng(seed)))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_right_one_is_right_whatever_is_drawn(path: Path) -> None:
    assert [mismatches(path, seed) for seed in range(2)] == [[]] * 2


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_one_is_wrong_whatever_is_drawn(path: Path) -> None:
    assert all(mismatches(path, seed) for seed in range(2))


def test_the_recording_in_the_exercise_has_the_answer_that_it_shows() -> None:
    events = (("alloc", 7, 300, "load"), ("alloc", 9, 100, "parse"), ("free", 7, 0, ""), ("alloc", 7, 400, "parse"))
    assert blocks.Blocks("as shown", events).right == [["parse", 500]]


def test_recordings_are_real_ones_with_frees_and_addresses_used_again() -> None:
    for program, events in recorded.load().items():
        addresses = [address for kind, address, _, _ in events if kind == "alloc"]
        assert len(set(addresses)) < len(addresses), program
        assert {kind for kind, *_ in events} == {"alloc", "free"}, program
        assert all(bool(name) == bool(n_bytes) == (kind == "alloc") for kind, _, n_bytes, name in events), program


def test_no_address_is_used_by_two_blocks_at_once() -> None:
    for case in blocks.draw_cases(np.random.default_rng(3)):
        in_use: set[int] = set()
        for kind, address, n_bytes, _ in case.events:
            assert kind == "free" or (address not in in_use and n_bytes > 0), case.title
            (in_use.add if kind == "alloc" else in_use.discard)(address)


def test_what_is_counted_is_drawn_again_each_time() -> None:
    one, other = (blocks.draw_counted(np.random.default_rng(seed)) for seed in (1, 2))
    assert [case.right for case in one] != [case.right for case in other]
    assert all(case.judge(right_rows(case)) is None for case in one)


@pytest.mark.parametrize("answer", [None, "", 3, {}, [[]], [["x", 1]], [["x", 1]] * 2000, [3], "rows"])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert blocks.draw_counted(np.random.default_rng(5))[0].judge(answer) is not None


def test_the_modules_named_in_the_exercise_are_those_that_are_there() -> None:
    assert isinstance(TASK.exam, CountedExam)
    told = paths.stub("17_peaks_and_leaks").read_text(encoding="utf-8")
    assert all(name in told for name in TASK.exam.modules if name != "__future__")


@pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
def test_a_program_is_recorded_as_its_events() -> None:
    record = import_module("grader.tasks.lesson_17_peaks_and_leaks.record")

    def keep_and_drop() -> bytearray:
        kept = bytearray(3000)
        for _ in range(3):
            bytearray(2000)
        return kept

    events = record.recorded(keep_and_drop)
    large = [i for i, event in enumerate(events) if event[3] == "keep_and_drop" and event[2] > 1900]
    assert [events[i][2] // 1000 for i in large] == [3, 2, 2, 2]
    frees = [("free", events[i][1], 0, "") for i in large]
    freed = [free in events[i:j] for free, i, j in zip(frees, large, [*large[1:], None], strict=True)]
    assert freed == [False, True, True, True]
