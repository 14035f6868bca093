"""An explanation depends on the calls of the submission, and not on the kind of scenario."""

import re
from pathlib import Path

import pytest
from measuring import ONE_PROBE, TWO_BLOCKS_APART, fixed_blocks, launches
from playing import find_task, play, remarks

from grader import catalogue, overlays, paths
from grader.task import Scenario, SimulatedExam, SimulatedFunction

CALM, LONG, SLOW_CLOCK = "no interruptions", "a longer call", "takes long to read"
ALONE, SHARED = "short work", "short work on a shared device"


def said(
    source: str, kind: str, lesson: str = "02_timeit_vs_timer", name: str = "time_per_call", seed: int = 0
) -> list[str]:
    """Return the remarks on wrong answers in the scenarios of one kind. There must be at least one."""
    found = remarks(play(find_task(lesson, name), source, seed), kind)
    assert found
    return found


def said_of_launches(source: str, kind: str) -> list[str]:
    return said(source, kind, "03_cuda_sync", "time_async")


@pytest.mark.parametrize("kind", [CALM, SLOW_CLOCK])
def test_blocks_too_short_for_the_clock_are_never_told_to_be_shorter(kind: str) -> None:
    for remark in said(fixed_blocks(2, 6), kind):
        assert "2 calls" in remark
        assert "steps of this clock" in remark
        assert "Put more calls between two readings." in remark
        assert "put fewer" not in remark


def test_blocks_that_are_all_interrupted_are_told_how_long_the_quiet_lasts() -> None:
    remark = said(fixed_blocks(500, 5), LONG)[0]
    assert "the shortest of 5 blocks of 500 calls" in remark
    assert "went to interruptions. All 5 blocks of this size were disturbed." in remark
    assert "put fewer calls in a block" in remark


def test_the_smallest_is_never_called_a_mean_and_a_mean_is() -> None:
    assert not any("mean" in remark for remark in said(fixed_blocks(500, 5), LONG))
    remark = said(fixed_blocks(30, 10, "sum(times) / len(times)"), LONG)[0]
    assert "the mean of 10 blocks of 30 calls" in remark
    assert "the shortest block has the fewest disturbances" in remark


def test_one_interrupted_block_of_several_is_told_that_others_were_left_alone() -> None:
    assert (
        "blocks of this size had no disturbance: take the shortest" in said(fixed_blocks(3, 20, "max(times)"), LONG)[0]
    )


def test_slow_first_calls_are_told_where_they_are_in_the_answer() -> None:
    (remark,) = said(fixed_blocks(64, 1, warm=False), CALM)
    assert "went to slow first calls. Make the first calls before you read the clock." in remark
    assert "slow first" not in said(fixed_blocks(2, 6), CALM)[0]


def test_a_time_that_was_not_divided_is_told_so() -> None:
    (remark,) = said(fixed_blocks(32, 5, "min(times) * 32"), CALM)
    assert remark.endswith("the time of a whole block of 32 calls. Divide it by the number of calls.")


def test_an_interruption_of_the_one_probe_that_chose_the_block_size_is_told() -> None:
    for remark in said(ONE_PROBE, "interrupt"):
        assert ": the rest went to interruptions." in remark
        assert "If you chose the number of calls from the time of that block, you chose too few." in remark


def test_the_block_named_as_misleading_is_the_one_that_chose_the_size() -> None:
    """A timed block of slow first calls takes even longer, but the block size was not chosen from it."""
    known = overlays.whole(find_task("02_timeit_vs_timer", "time_per_call").known / "wrong_one_probe.py")
    told = [remark for seed in range(3) for remark in said(known, "interrupt", seed=seed)]
    pattern = re.compile(r"blocks of (\d+) calls.* An earlier block of (\d+) calls lasted .* went to interruptions")
    sizes = [match.groups() for remark in told if (match := pattern.search(remark))]
    assert len(sizes) > len(told) / 2
    assert all(size == misleading for size, misleading in sizes)


def test_an_answer_that_comes_from_no_block_gets_what_was_seen_and_no_cause() -> None:
    remark = said(TWO_BLOCKS_APART, LONG)[0]
    assert "You timed 2 blocks of 6 to 13 calls." in remark
    assert "exactly" not in remark


def test_who_times_nothing_is_told_that() -> None:
    (remark,) = said("def time_per_call(fn, clock):\n    fn()\n    return clock()\n", CALM)
    assert remark.endswith(
        "fn() was called 1 time, and the clock was read 1 time. No call was made between two readings."
    )


def test_short_blocks_of_launches_are_told_what_launching_and_waiting_took() -> None:
    remark = said_of_launches(launches(8, 5, "min(times)"), ALONE)[0]
    assert "the shortest of 5 blocks of 8 launches" in remark
    assert "went to launching and synchronizing. Put more launches in a block." in remark
    assert "mean" not in remark


def test_waiting_after_each_launch_is_counted() -> None:
    source = launches(100, 1, "times[0]", inside="synchronize()", after="")
    remark = " ".join(said_of_launches(source, ALONE))
    assert "A block calls synchronize() 100 times: call it only once, after the last launch." in remark


def test_a_clock_read_before_the_work_is_done_is_told_how_much_is_missing() -> None:
    remark = " ".join(said_of_launches(launches(200, 1, "times[0]", after=""), SHARED))
    assert "the device was still working at the last reading of the clock. Call synchronize()" in remark
    assert "other programs" not in remark


def test_work_launched_before_the_first_reading_is_told() -> None:
    busy = launches(100, 1, "times[0]").replace("    times = []", "    [launch() for _ in range(20)]\n    times = []")
    remark = said_of_launches(busy, ALONE)[0]
    assert "launched before the first reading. Call synchronize() before the first reading." in remark


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


def simulated_tasks() -> list[tuple[str, int]]:
    tasks = [task for task in catalogue.all_tasks() if isinstance(task.exam, SimulatedExam)]
    return [(task.lesson, task.exam.max_calls) for task in tasks if _asks(task.name, task.lesson)]  # type: ignore[union-attr]


def _asks(name: str, lesson: str) -> bool:
    exam = find_task(lesson, name).exam
    assert isinstance(exam, SimulatedExam)
    import numpy as np

    scenarios: list[Scenario] = list(exam.scenarios(np.random.default_rng(0)))
    return any(isinstance(argument, SimulatedFunction) for scenario in scenarios for argument in scenario.arguments)


@pytest.mark.parametrize(("lesson", "most"), simulated_tasks())
def test_the_stub_says_how_many_calls_are_allowed(lesson: str, most: int) -> None:
    if lesson != "06_ab_testing":  # its scenarios have at most 2000 pairs, and the stub states this number
        assert str(most) in Path(paths.stub(lesson)).read_text(encoding="utf-8")
