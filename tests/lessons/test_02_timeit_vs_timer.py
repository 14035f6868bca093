import subprocess

import pytest
import torch
from sessions import MadeUp

from harness.machine.background_load import BackgroundLoad

LESSON = MadeUp("02_timeit_vs_timer")
Row = list[float]
UNCLEAR = "This run gives no clear answer."


def turns_of(mul_sum: Row, bmm: Row, number: int = 3) -> list[object]:
    """Return `number` equal repetitions. A row has the seconds by `timeit`, by Timer with one thread, and with all
    threads.
    """
    return [LESSON.Turn(LESSON.Ways(*mul_sum), LESSON.Ways(*bmm))] * number


def threads(monkeypatch: pytest.MonkeyPatch, turns: list[object], number: int, others: float = 0.0) -> object:
    """Return a result of the step on threads, on a machine on which torch uses `number` threads."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: number)
    return LESSON.Threads(turns, BackgroundLoad(others))


def test_a_single_thread_skips_the_claims_about_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = threads(monkeypatch, turns_of([1e-4] * 3, [2e-4] * 3), 1)
    LESSON.check("one_thread_or_all", found, "skipped", "needs a second", UNCLEAR, absent=["with 1 thread as with one"])


def test_what_threads_change_is_said_only_as_far_as_all_turns_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for one, full, said in (
        ([2.0, 2.1, 1.9], [0.5, 0.6, 0.4], "So much that the other function is faster."),
        ([2.0, 2.1, 1.9], [0.5, 1.1, 0.4], UNCLEAR),
        ([0.9, 1.1, 1.0], [3.0, 3.1, 2.9], UNCLEAR),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], "By less than 5 %"),
        ([2.0, 2.1, 1.9], [2.0, 4.2, 1.9], UNCLEAR),
        ([2.0] * 9, [4.0] * 8 + [40.0], "By 5 % or more, but the same function is faster."),
        ([2.0] * 9, [4.0] * 7 + [2.0] * 2, UNCLEAR),
    ):
        turns = [turns_of([1.0] * 3, [few, few, many], number=1)[0] for few, many in zip(one, full, strict=True)]
        LESSON.check("one_thread_or_all", threads(monkeypatch, turns, 4), {}, said)


def test_equal_printed_times_do_not_show_that_the_runs_were_equal() -> None:
    for raw, standing in (
        ("1 msec, 1 msec", "inconclusive"),
        ("1 msec, 1.01 msec", "inconclusive"),
        ("1 msec, 1.1 msec", "held"),
    ):
        printed = f"raw times: {raw}\n\n200 loops, best of 2: 5 usec per loop\n"
        run = subprocess.CompletedProcess(["python", "-m", "timeit"], 0, stdout=printed)
        LESSON.check("command_line", run, {"prints-the-best": "held", "raw-times-differ": standing})


def test_a_cold_start_is_seen_in_both_orders() -> None:
    def orders(first_s: float, second_s: float, warm_s: Row) -> object:
        return LESSON.Orders([[first_s, 1e-6]] * 9, [[second_s, 1e-6]] * 9, [warm_s] * 9)

    both, equal = orders(9e-6, 9e-6, [1e-6, 1e-6]), "warm-equal"
    LESSON.check("only_a_cold_start", both, "held", "1.5× or more.")
    LESSON.check("only_a_cold_start", orders(1e-6, 1e-6, [1e-6] * 2), {"first-loses": "refuted"}, "0.67× to 1.5×.")
    LESSON.check("only_a_cold_start", orders(9e-6, 9e-6, [3e-6, 1e-6]), {"first-loses": "held", equal: "refuted"})
    LESSON.check("only_a_cold_start", orders(9e-6, 1e-6, [1e-6] * 2), {"first-loses": "inconclusive", equal: "held"})
