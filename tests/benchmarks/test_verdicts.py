from collections import Counter

import pytest
import reach
import verdicts
from jobs import Batch, BenchmarkError, Job, play
from tally import TITLES, Judgement, Trial
from workloads import WORKS

from harness.paired.duel_result import Finding

LOADS, TRUTHS, TOOLS = ["as it is", "bursty"], [1.0, 1.05, 1.25], ["duel", "timeit", "pyperf"]
NAMES = [work.name for work in WORKS]


def plan(times: int) -> list[Batch]:
    return verdicts.plan(LOADS, NAMES, TRUTHS, TOOLS, times, 1.0)


def test_every_tool_judges_as_often_under_each_load_and_truth() -> None:
    asked = Counter((batch.load, job.truth, job.tool) for batch in plan(4) for job in batch.jobs)
    assert asked == {(load, truth, tool): 4 for load in LOADS for truth in TRUTHS for tool in TOOLS}


def test_the_works_take_turns() -> None:
    asked = Counter((batch.load, batch.jobs[0].truth, batch.jobs[0].work) for batch in plan(5))
    assert set(asked.values()) == {1}
    assert all(len({(job.work, job.truth) for job in batch.jobs}) == 1 for batch in plan(5))


def test_a_shorter_run_is_the_beginning_of_a_longer_one() -> None:
    def cells(times: int) -> set[tuple[str, int, Job]]:
        return {(batch.load, batch.repetition, job) for batch in plan(times) for job in batch.jobs}

    assert cells(2) < cells(3)


def test_the_tools_play_in_another_order_each_time() -> None:
    assert len({tuple(job.tool for job in batch.jobs) for batch in plan(20)}) > 1


def trial(truth: float, slowdown: float, finding: Finding, timing_s: float = 1.0) -> Trial:
    return Trial("bursty", "matmul", truth, 0, "duel", Judgement("duel", slowdown, finding, timing_s, 2.0))


def test_the_truth_table_shows_the_median_of_the_processes() -> None:
    checks = [
        Trial("as it is", "matmul", 1.05, number, "check", Judgement("check", slowdown, Finding.UNDECIDED, 1.0, 1.0))
        for number, slowdown in enumerate((1.0, 1.051, 1.2))
    ]
    table = verdicts.truth_table([*checks, trial(1.05, 3.0, Finding.SLOWER)])
    assert table.rows == (("matmul", 1.051),)


def test_reach_counts_what_it_names() -> None:
    trials = [
        *(trial(1.0, 1.001, Finding.SAME) for _ in range(18)),
        trial(1.0, 1.015, Finding.SLOWER),  # wrong, but not by more than 2 %
        trial(1.0, 1.03, Finding.SLOWER),
        trial(1.03, 1.03, Finding.SLOWER),
        trial(1.03, 1.02, Finding.UNDECIDED),
        *(trial(2.0, 2.0, Finding.SLOWER, timing_s) for timing_s in (0.2, 0.3, 0.9)),
    ]
    (table,) = reach.tables(trials)
    goals, total, matmul = table.rows
    assert goals[0] == "reach"
    assert total[1:] == matmul[1:]
    assert total[2:6] == ("3 %", "1 of 20", "1 of 2", "300 ms")


def test_reach_asks_for_the_promised_numbers_of_verdicts() -> None:
    asked = Counter((job.tool, job.truth) for batch in reach.plan(["duel"], 1.0, 0.02) for job in batch.jobs)
    assert asked == {("duel", 1.0): 200, ("duel", 1.03): 100, ("duel", 2.0): 100}


def test_a_job_that_fails_is_told_with_what_was_printed() -> None:
    with pytest.raises(BenchmarkError, match="not a whole number"):
        play([Job("check", "python loop", 1.00001, 0.1)])


@pytest.mark.slow
def test_every_tool_sees_that_ten_times_the_work_takes_longer() -> None:
    told = play([Job(tool, "python loop", 10.0, 0.2) for tool in (*TITLES, "check")])
    readings = [judgement.reading for judgements in told for judgement in judgements]
    assert readings == [
        "duel",
        "duel, paired",
        "timeit, min of 5",
        "torch blocked",
        "torch adaptive",
        "pytest-benchmark, min",
        "pytest-benchmark, median",
        "pyperf, mean",
        "pyperf, t-test",
        "check",
    ]
    for judgements in told:
        for judgement in judgements:
            assert judgement.slowdown > 1.2, "while other tests run, some tools measure only a part of the slowdown"
            assert 0 < judgement.timing_s <= judgement.wall_s
