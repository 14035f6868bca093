"""Task (b) of lesson 16: pairs of recordings, and the functions whose share changed."""

import json
from importlib import import_module
from typing import Any

import numpy as np

recordings = import_module("grader.tasks.lesson_16_sampling.recordings")
recorded = import_module("grader.tasks.lesson_16_sampling.recorded")
record = import_module("grader.tasks.lesson_16_sampling.record")


def drawn(seed: int = 1) -> tuple[Any, ...]:
    return tuple(recordings.draw_scenarios(np.random.default_rng(seed)))


def stack(samples: int, *frames: tuple[str, str, int]) -> Any:
    return recorded.Stack(tuple(recorded.Frame(*frame) for frame in frames), samples)


def test_recorded_profiles_are_written_and_read_back() -> None:
    names = ("before", "after", "recursive")
    kept = {name: recorded.profile(name) for name in names}
    assert all(kept.values())
    text = recorded.PROFILES.read_text(encoding="utf-8")
    assert record.as_text(json.loads(text)["made by"], kept) == text


def test_a_recording_counts_each_different_stack() -> None:
    main, c = {"name": "main", "file": "a.py", "line": 3}, {"name": "gemm", "file": "libc.so.6", "line": None}
    profile = {"shared": {"frames": [main, c]}, "profiles": [{"samples": [[0], [0, 1]]}, {"samples": [[0, 1]]}]}
    assert record.stacks(profile) == [
        stack(2, ("main", "a.py", 3), ("gemm", "libc.so.6", 0)),
        stack(1, ("main", "a.py", 3)),
    ]


def test_the_rows_are_those_of_a_pair_computed_by_hand() -> None:
    main, same, c = ("main", "a.py", 3), ("main", "a.py", 9), ("gemm", "libc.so.6", 0)
    pair = recordings.Pair("by hand", (stack(50, main, c), stack(50, main)), (stack(5, main, c), stack(95, same)))
    assert pair.arguments[0] == ["main (a.py:3);gemm (libc.so.6) 50", "main (a.py:3) 50"]
    assert pair.right == [["gemm (libc.so.6)", 50, 5]]


def test_no_function_is_near_the_limit_and_most_pairs_have_changes() -> None:
    pairs = drawn()
    assert all(pair.clear for pair in pairs)
    assert sum(bool(pair.right) for pair in pairs) >= 9
    assert len({pair.title for pair in pairs}) == len(pairs) - 1


def test_a_pair_near_the_limit_is_not_clear() -> None:
    a, b = ("a", "a.py", 1), ("b", "a.py", 1)
    pair = recordings.Pair("near", (stack(50, a, b), stack(50, a)), (stack(36, a, b), stack(64, a)))
    assert not pair.clear


def test_recordings_of_the_same_program_have_no_changes_and_different_numbers() -> None:
    for words in ("the same program", "a longer recording"):
        pair = next(pair for pair in drawn() if words in pair.title)
        assert pair.right == []
        assert sum(each.samples for each in pair.before) != sum(each.samples for each in pair.after)
