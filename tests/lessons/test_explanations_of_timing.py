"""The explanations of lessons 01 to 07, for made-up results."""

import subprocess
from random import Random
from statistics import mean
from types import SimpleNamespace

import psutil  # type: ignore[import-untyped]
import pytest
import torch
from sessions import MadeUp
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.clocks import BackgroundLoad
from harness.paired.duel import Finding

CORRECT_FIRST = MadeUp("01_correct_first")


def test_the_bound_accepts_any_order_of_the_sum_and_nothing_beyond_rounding() -> None:
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        a, b = torch.randn(2, 50, 63).to(dtype)
        for order in (torch.arange(63), torch.randperm(63), torch.arange(63).flip(0)):
            got = CORRECT_FIRST.mul_sum(a[:, order], b[:, order])
            assert CORRECT_FIRST.three_checks(got, a, b).bound
        magnitude = (a.double() * b.double()).abs().sum(-1)
        beyond = (a.double() * b.double()).sum(-1) + 70 * torch.finfo(dtype).eps * magnitude
        assert not CORRECT_FIRST.three_checks(beyond, a, b).bound


TIMEIT = MadeUp("02_timeit_vs_timer")
Row = list[float]
UNCLEAR = "This run gives no clear answer."


def test_what_threads_change_is_said_only_as_far_as_all_turns_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(one: Row, full: Row, threads: int = 4) -> object:
        """Return turns in which one function has these times with one thread and with all, and the other 1 s."""
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        ways = [TIMEIT.Ways(few, few, many) for few, many in zip(one, full, strict=True)]
        return TIMEIT.Threads([TIMEIT.Turn(TIMEIT.Ways(1.0, 1.0, 1.0), each) for each in ways], BackgroundLoad(0.0))

    for one, full, said in (
        ([2.0, 2.1, 1.9], [0.5, 0.6, 0.4], "So much that the other function is faster."),
        ([2.0, 2.1, 1.9], [0.5, 1.1, 0.4], UNCLEAR),
        ([0.9, 1.1, 1.0], [3.0, 3.1, 2.9], UNCLEAR),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], "By less than 5 %"),
        ([2.0, 2.1, 1.9], [2.0, 4.2, 1.9], UNCLEAR),
        ([2.0] * 9, [4.0] * 8 + [40.0], "By 5 % or more, but the same function is faster."),
        ([2.0] * 9, [4.0] * 7 + [2.0] * 2, UNCLEAR),
    ):
        TIMEIT.check("one_thread_or_all", found(one, full), {}, said)
    single = found([2.0] * 3, [2.0] * 3, threads=1)
    absent = ["with 1 thread as with one"]
    TIMEIT.check("one_thread_or_all", single, "skipped", "needs a second", UNCLEAR, absent=absent)


def test_equal_printed_times_do_not_show_that_the_runs_were_equal() -> None:
    for raw, standing in (
        ("1 msec, 1 msec", "inconclusive"),
        ("1 msec, 1.01 msec", "inconclusive"),
        ("1 msec, 1.1 msec", "held"),
    ):
        printed = f"raw times: {raw}\n\n200 loops, best of 2: 5 usec per loop\n"
        run = subprocess.CompletedProcess(["python", "-m", "timeit"], 0, stdout=printed)
        TIMEIT.check("command_line", run, {"prints-the-best": "held", "raw-times-differ": standing})


def test_a_cold_start_is_seen_in_both_orders() -> None:
    def orders(first_s: float, second_s: float, warm_s: Row) -> object:
        return TIMEIT.Orders([[first_s, 1e-6]] * 9, [[second_s, 1e-6]] * 9, [warm_s] * 9)

    both, equal = orders(9e-6, 9e-6, [1e-6, 1e-6]), "warm-equal"
    TIMEIT.check("only_a_cold_start", both, "held", "1.5× or more.")
    TIMEIT.check("only_a_cold_start", orders(1e-6, 1e-6, [1e-6] * 2), {"first-loses": "refuted"}, "0.67× to 1.5×.")
    TIMEIT.check("only_a_cold_start", orders(9e-6, 9e-6, [3e-6, 1e-6]), {"first-loses": "held", equal: "refuted"})
    TIMEIT.check("only_a_cold_start", orders(9e-6, 1e-6, [1e-6] * 2), {"first-loses": "inconclusive", equal: "held"})


CUDA_SYNC = MadeUp("03_cuda_sync")


def test_a_simulated_stream_is_named_and_what_came_out_is_what_is_explained() -> None:
    simulated = "Simulated: torch finds no CUDA on this machine"
    assert CUDA_SYNC.lesson.opening.startswith(simulated) or torch.cuda.is_available()
    for step, kind, turns, standing, says in (
        ("launch_and_wait", "Launched", [(1e-4, 4e-2)] * 7, "held", "does not depend on how long the work takes"),
        ("launch_and_wait", "Launched", [(3e-2, 4e-2)] * 7, "refuted", "launches took a large part of the time"),
        ("own_clock", "Clocks", [(4.1e-2, 4e-2)] * 7, "held", "The first launch and the end of the wait are short"),
        ("own_clock", "Clocks", [(6e-2, 4e-2)] * 7, "refuted", "the two clocks differ"),
        ("own_clock", "Clocks", [(4e-2, 4e-2), (9e-2, 4e-2), (4e-2, 4e-2)], "inconclusive", "differ too much to show"),
        ("cold_and_warm", "Repeated", [(1e-5, 9e-5)] * 9, "held", "The two calls differ in the place of their numbers"),
        ("cold_and_warm", "Repeated", [(1e-5, 1e-5)] * 9, "refuted", "between warm and cold calls is small"),
    ):
        CUDA_SYNC.check(step, [getattr(CUDA_SYNC, kind)(*turn) for turn in turns], standing, says)
    CUDA_SYNC.check("first_bmm", [5e-3] + [5e-5] * 9, "held", "includes this slow first call")
    CUDA_SYNC.check("first_bmm", [5e-5] * 10, "refuted", "the first call was not slow")


AUTORANGE = MadeUp("04_autorange")
SPEC = TaskSpec(stmt="pass", setup="pass")


def blocks_of(seconds: float, number: int, calls: int = 1) -> Measurement:
    """Return a measurement of `number` equal blocks of `calls` calls."""
    return Measurement(calls, [seconds * calls] * number, SPEC)


def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    with pytest.raises(ZeroDivisionError), AUTORANGE.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    left = [str(each.cmdline()) for each in psutil.Process().children(recursive=True)]
    assert [each for each in left if "time() % 0.1" in each] == []


def test_the_rounds_decide_together_which_figure_moved() -> None:
    for further, option in (
        ([0.1, 0.3], "the mean"),
        ([-0.1, -0.3], "the median"),
        ([0.01, -0.01], "both"),
        ([0.1, -0.1], ""),
    ):
        moves = [AUTORANGE.Moves(mean=0.5 + each, median=0.5) for each in further]
        judged = AUTORANGE.beside_neighbours.predict.judge(None, AUTORANGE.moved_more(moves, noise=0.1))
        assert (judged.truth or "").startswith(option)
        assert bool(judged.truth) == bool(option)


def test_the_distance_that_chance_explains_is_that_of_medians_from_one_distribution() -> None:
    """The medians of samples from one distribution have, on average, the range that `by_chance` returns."""
    draws, shares = Random(5), []
    for _ in range(400):
        answers = [Measurement(1, [draws.gauss(1, 0.02) for _ in range(30)], SPEC) for _ in range(5)]
        shares.append(AUTORANGE.apart(answers) / AUTORANGE.by_chance(answers).mean)
    assert mean(shares) == pytest.approx(1, rel=0.15)


def test_one_block_as_long_as_the_measurement_refutes_nothing_about_the_spread() -> None:
    """On a machine whose clock looked slow for a moment, torch chose one block of 10 000 calls for 0.2 s."""
    one = Measurement(10_000, [0.254], SPEC)
    AUTORANGE.check(
        "many_blocks",
        AUTORANGE.Blocks(blocks_of(1.0, 1), one, one, 0.541, [1e-7]),
        {"blocks-have-spread": "inconclusive", "blocks-waste-less": "inconclusive"},
        "1 block of 10 000 calls",
        "This measurement has only 1 block",
        absent=["Less than 1 %.", "torch prints no warning for this IQR"],
        one_long_run=[AUTORANGE.Run(5000, 0.172), AUTORANGE.Run(10_000, 0.236)],
    )


COMPARE = MadeUp("05_compare")


def fought(ratio: float, doubt: float) -> SimpleNamespace:
    clear = Finding.FASTER if ratio > 1 else Finding.SLOWER
    finding = Finding.UNDECIDED if ratio - doubt < 1 < ratio + doubt else clear
    return SimpleNamespace(ratio=ratio, low=ratio - doubt, high=ratio + doubt, verdict=finding, margin=0.01)


def test_a_crossing_is_claimed_only_where_the_way_there_was_clear() -> None:
    words = "the winner changes between 27 555 and 92 682 numbers"
    for doubt, quarter, fourfold, standing in (
        (0.1, 0.5, 1.5, "held"),
        (0.1, 1.5, 0.5, "refuted"),
        (0.6, 0.5, 1.5, "inconclusive"),
    ):
        found = {8192: fought(0.5, doubt), 92_682: fought(1.5, doubt), 27_555: fought(0.9, 0.2)}
        steps = [COMPARE.Compared(numbers, duel) for numbers, duel in found.items()]
        search = COMPARE.Search(steps, fought(quarter, 0.1), fought(fourfold, 0.1))
        COMPARE.check("where", search, standing, words, "would measure up to 44 sizes")


def test_several_threads_are_not_judged_where_others_use_their_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    result = COMPARE.sizes_and_threads(fast=True)._replace(others=BackgroundLoad(0.5))
    COMPARE.check("sizes_and_threads", result, {"threads-move-margin": "inconclusive"}, "no clear answer")


AB_TESTING = MadeUp("06_ab_testing")


def test_an_aa_test_of_a_record_with_drift_errs_back_to_back_and_not_in_abba_order() -> None:
    record = [1 + 0.001 * turn for turn in range(400)]
    errors = {name: AB_TESTING.aa_errors(record, order) for name, order in AB_TESTING.ORDERS.items()}
    assert all(len(each) == 10 for each in errors.values())
    assert min(errors["back to back"]) > 0.01
    assert max(map(abs, errors["alternating, ABBA"])) < 0.001


def test_a_quick_pattern_of_the_noise_refutes_nothing_about_the_order() -> None:
    """In each four times, the first and the last are slower. In the order ABBA, these are the two times of A."""
    rng = Random(3)
    times = [1 + 0.05 * (at % 4 in {0, 3}) + abs(rng.gauss(0, 0.01)) for at in range(5000)]
    AB_TESTING.check("same_again", times, {"back-to-back-errs": "inconclusive"})


FUZZING = MadeUp("07_fuzzing")


def turned(turns: dict[int, list[tuple[float, float]]]) -> dict[int, list[object]]:
    """Return the given pairs of seconds, by size, as `Turn` objects of the lesson."""
    return {n: [FUZZING.Turn(*each) for each in rounds] for n, rounds in turns.items()}


def test_a_machine_on_which_transposing_costs_nothing_refutes_the_claims_about_it() -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 2e-3)] * 3, 2048: [(2e-3, 2.1e-3)] * 3})
    words = "the time per number at size 2048 was less than 1.10× the time at size 2000"
    FUZZING.check("the_input_that_hurts", turns, "refuted", "Less than 2×.", "1.05× to 1.05×.", words)


def test_turns_that_disagree_decide_no_claim_and_no_text() -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 8e-3), (2e-3, 12e-3)], 2048: [(2e-3, 4e-3), (2e-3, 3e-2)]})
    words = ("gives no clear answer", "does not show clearly whether size 2000")
    FUZZING.check("the_input_that_hurts", turns, "inconclusive", *words)
