"""An explanation depends on the calls of the submission, and not on the kind of scenario."""

import re

import pytest
from measuring import TWO_BLOCKS_APART, fixed_blocks, launches
from playing import find_task, play, remarks

from grader import overlays, paths

CALM, LONG, SLOW_CLOCK = "no interruptions", "a longer call", "takes long to read"
ALONE, SHARED = "short work", "short work on a shared device"
NOTHING_TIMED = "def time_per_call(fn, clock):\n    fn()\n    return clock()\n"


def said(
    source: str, kind: str, lesson: str = "02_timeit_vs_timer", name: str = "time_per_call", seed: int = 0
) -> list[str]:
    return remarks(find_task(lesson, name), source, kind, seed)


BUSY = launches(100, 1, "times[0]").replace("    times = []", "    [launch() for _ in range(20)]\n    times = []")


@pytest.mark.parametrize(
    ("source", "kind", "fact", "absent"),
    [
        (fixed_blocks(2, 6), CALM, "one step. Put more calls between two readings.", "put fewer"),
        (fixed_blocks(500, 5), LONG, "All 5 blocks of this size were disturbed. ", "mean of"),
        (fixed_blocks(30, 10, "sum(times) / len(times)"), LONG, "the mean of 10 blocks of 30 calls", "the shortest of"),
        (fixed_blocks(3, 20, "max(times)"), LONG, "blocks of this size had no disturbance: take the shortest", "mean"),
        (fixed_blocks(64, 1, warm=False), CALM, "went to slow first calls. Make the first calls before", "interrupt"),
        (fixed_blocks(32, 5, "min(times) * 32"), CALM, "a whole block of 32 calls. Divide it by the number", "went to"),
        (TWO_BLOCKS_APART, LONG, "You timed 2 blocks of 6 to 13 calls.", "exactly"),
        (NOTHING_TIMED, CALM, "fn() was called 1 time, and the clock was read 1 time. No call was made", "exactly"),
        (launches(8, 5, "min(times)"), ALONE, "went to launching and synchronizing. Put more launches in", "mean"),
        (launches(100, 1, "times[0]", "synchronize()", ""), ALONE, "A block calls synchronize() 100 times", "mean"),
        (launches(200, 1, "times[0]", after=""), SHARED, "still working at the last reading of the clock", "programs"),
        (BUSY, ALONE, "launched before the first reading. Call synchronize() before the first", "interruptions"),
    ],
)
def test_the_explanation_names_the_cause_and_no_other(source: str, kind: str, fact: str, absent: str) -> None:
    of_launches = ("03_cuda_sync", "time_async") if "launch()" in source else ()
    found = said(source, kind, *of_launches)
    assert fact in found[0]
    assert not any(absent in remark for remark in found)


def test_the_block_named_as_misleading_is_the_one_that_chose_the_size() -> None:
    """A timed block of slow first calls takes even longer, but the block size was not chosen from it."""
    known = overlays.whole(find_task("02_timeit_vs_timer", "time_per_call").known / "wrong_one_probe.py")
    told = [remark for seed in range(3) for remark in said(known, "interrupt", seed=seed)]
    pattern = re.compile(r"blocks of (\d+) calls.* An earlier block of (\d+) calls lasted .* went to interruptions")
    sizes = [match.groups() for remark in told if (match := pattern.search(remark))]
    assert len(sizes) > len(told) / 2
    assert all("from the time of that block, you chose too few." in remark for remark in told if "earlier" in remark)
    assert all(size == misleading for size, misleading in sizes)


def test_lists_made_and_lists_sorted_already_are_told_by_what_happened() -> None:
    stub = paths.stub("02_timeit_vs_timer").read_text(encoding="utf-8")
    game = play(find_task("02_timeit_vs_timer", "repair"), stub, seed=1)
    found = {scenario.function: m.remark for scenario, m in zip(game.scenarios, game.mismatches, strict=True) if m}
    assert "went to making lists" in found["time_sum"]
    assert "Divide it by the number of calls." in found["time_multiply"]
    assert "went to slow first calls" in found["time_matmul"]
    assert "lists that were sorted already. Give each call a new list." in found["time_sort"]
    assert "the mean of 10 blocks of 50 calls" in found["time_hash"]


def test_a_warm_up_that_was_not_timed_misled_nobody() -> None:
    task = find_task("04_autorange", "blocked_autorange")
    warmed, cold = (
        overlays.whole(task.known / f"{name}.py") for name in ("wrong_one_run_a_sample", "wrong_cold_guess")
    )
    assert said(warmed, "a fast statement", task.lesson, task.name) == [""]
    assert "this block includes the slow first run" in said(cold, "a fast statement", task.lesson, task.name)[0]
