import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch
from sessions import Play, explained
from torch.utils.benchmark import Compare, Measurement, Timer
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.background_load import HIGH_LOAD, BackgroundLoad
from lessons.engine.interval import Interval
from lessons.engine.lesson import Lesson
from lessons.engine.predict import Answer
from lessons.engine.published import RECIPE_THREADS
from lessons.engine.run import explain

ROOT = Path(__file__).parent.parent.parent
Row = list[float]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.02_timeit_vs_timer")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


Explain = Callable[..., tuple[str, dict[str, str]]]


def turns_of(module: ModuleType, mul_sum: Row, bmm: Row, number: int = 3) -> list[object]:
    """Return `number` equal repetitions. A row has the seconds by `timeit`, by Timer with one thread, and with all
    threads.
    """
    return [module.Turn(module.Ways(*mul_sum), module.Ways(*bmm))] * number


@pytest.fixture
def explain_threads(prepare: Play, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Return a function that explains given turns after the answer "a".

    That function returns the printed text and the result of each claim.
    """

    def explained(turns: list[object], threads: int, others: float = 0.0) -> tuple[str, dict[str, str]]:
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        played = prepare(module.lesson)
        step = module.one_thread_or_all
        page = played.session._page(step)
        page.prediction, page.answer = step.predict, Answer("a", step.predict.options["a"])
        explain(step, page, module.Threads(turns, BackgroundLoad(others)))
        printed = " ".join(played.out.getvalue().split())
        return printed, {claim.id: f"{claim.standing} {claim.reason}".strip() for claim in page.claims}

    return explained


def test_a_winner_that_changes_with_the_threads_is_announced(explain_threads: Explain, module: ModuleType) -> None:
    printed, standings = explain_threads(turns_of(module, [1e-4, 2e-4, 1e-4], [2e-4, 1e-4, 2e-4]), 4)
    assert "The right answer: so much that the other function is faster." in printed
    assert "the faster function changes" in printed
    assert set(standings.values()) == {"held"}


def test_threads_that_make_it_slower_refute_the_claim_and_are_explained(
    explain_threads: Explain, module: ModuleType
) -> None:
    printed, standings = explain_threads(turns_of(module, [9e-3, 1e-4, 9e-3], [18e-3, 2e-4, 18e-3]), 2)
    assert "Your answer: by less than 5 %. That is right." in printed
    assert "mul_sum took 90× as long with 2 threads as with one" in printed
    assert standings == {
        "one-thread-is-slower": "refuted",
        "same-threads-agree": "held",
        "two-answers": "held",
    }


def test_a_single_thread_skips_the_claims_about_threads(explain_threads: Explain, module: ModuleType) -> None:
    printed, standings = explain_threads(turns_of(module, [1e-4, 1e-4, 1e-4], [2e-4, 2e-4, 2e-4]), 1)
    assert "This run gives no clear answer" in printed
    assert "skipped: needs a second" in printed
    assert "with 1 thread as with one" not in printed
    assert set(standings.values()) == {"skipped needs a second thread, but torch uses only one on this machine"}


def test_on_a_crowded_machine_nothing_is_said_of_threads(explain_threads: Explain, module: ModuleType) -> None:
    turns = turns_of(module, [1.0, 0.01, 1.0], [1.0, 0.02, 1.0], number=9)
    printed, standings = explain_threads(turns, 2, others=HIGH_LOAD)
    assert set(standings.values()) == {"inconclusive the machine was too noisy"}
    assert "This run gives no clear answer" in printed
    assert "This run does not show how threads change the comparison" in printed


def test_the_ratio_in_the_table_is_the_ratio_in_the_text(explain_threads: Explain, module: ModuleType) -> None:
    """In these repetitions, the median of the ratios is 2, and the ratio of the medians is 4.5."""
    seconds = {1.0: 2.0, 2.0: 9.0, 9.0: 18.0}
    turns = [turns_of(module, [sum_s] * 3, [bmm_s] * 3, number=1)[0] for sum_s, bmm_s in seconds.items()]
    printed, _ = explain_threads(turns, 2)
    assert printed.count("2× as long as mul_sum with one thread, and 2× as long with 2 threads") == 1
    table = printed.partition("Published")[0]
    assert "4.50×" not in table
    assert table.count(" 2× ") >= 3


def test_the_winner_changes_with_the_threads_in_the_recipe_and_not_in_the_re_run() -> None:
    """The lesson states this beside the published figures."""
    wins = {how: bmm_s < sum_s for how, sum_s, bmm_s in RECIPE_THREADS}
    assert [wins[f"recipe: Timer, {threads}"] for threads in ("1 thread", "40 threads")] == [False, True]
    assert [wins[f"re-run: Timer, {threads}"] for threads in ("1 thread", "8 threads")] == [True, True]


@pytest.mark.parametrize(
    ("total", "per_run", "letter"),
    [([10, 10], [1, 1], "b"), ([10, 10], [9, 11], "a"), ([1, 1], [1, 1], "c"), ([10, 10], [1, 5], None)],
)
def test_a_result_grew_only_if_its_whole_interval_shows_it(
    module: ModuleType, total: Row, per_run: Row, letter: str | None
) -> None:
    assert module.grew(Interval.every(total), Interval.every(per_run)) == letter


def test_a_measurement_prints_no_environment_and_a_table_of_several_does() -> None:
    measured = [Timer("pass", description="pass", env=env).timeit(3) for env in ("first env", "second env")]
    assert "first env" not in repr(measured[0])
    assert "first env" in str(Compare(measured))


@pytest.mark.parametrize(
    ("constants", "sentence"), [([1024, None], "The compiler computed"), ([2, 10], "when the statement runs")]
)
def test_the_constants_show_whether_the_compiler_computed_the_power(
    module: ModuleType, constants: list[object], sentence: str
) -> None:
    assert sentence in module.about_constants(constants)


@pytest.mark.parametrize(
    ("one", "full", "said"),
    [
        ([2.0, 2.1, 1.9], [0.5, 0.6, 0.4], "The right answer: so much that the other function is faster."),
        ([2.0, 2.1, 1.9], [0.5, 1.1, 0.4], "This run gives no clear answer."),
        ([0.9, 1.1, 1.0], [3.0, 3.1, 2.9], "This run gives no clear answer."),
        ([2.0, 2.1, 1.9], [3.0, 3.1, 2.9], "The right answer: by 5 % or more, but the same function is faster."),
        ([0.5, 0.6, 0.5], [0.7, 0.8, 0.7], "The right answer: by 5 % or more, but the same function is faster."),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], "That is right."),
        ([2.0, 2.1, 1.9], [2.0, 4.2, 1.9], "This run gives no clear answer."),
        ([2.0, 2.1, 1.9], [1.2, 2.1, 1.9], "This run gives no clear answer."),
        ([2.0] * 9, [4.0] * 8 + [40.0], "The right answer: by 5 % or more, but the same function is faster."),
        ([2.0] * 9, [4.0] * 7 + [2.0] * 2, "This run gives no clear answer."),
    ],
)
def test_what_threads_change_is_said_only_as_far_as_all_turns_say_it(
    explain_threads: Explain, module: ModuleType, one: Row, full: Row, said: str
) -> None:
    factors = zip(one, full, strict=True)
    turns = [turns_of(module, [1.0, 1.0, 1.0], [few, few, many], number=1)[0] for few, many in factors]
    printed, _ = explain_threads(turns, 4)
    assert said in printed


def test_one_disturbed_repetition_does_not_turn_the_direction_of_a_change(module: ModuleType) -> None:
    assert module.changes([1.0] * 9, [2.0] * 8 + [0.1])[:8] == [2.0] * 8
    assert module.changes([2.0] * 9, [1.0] * 8 + [40.0])[:8] == [2.0] * 8
    assert module.changes([1.0, 1.0], [1.0, 0.5]) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("raw", "standing"),
    [("1 msec, 1 msec", "inconclusive"), ("1 msec, 1.01 msec", "inconclusive"), ("1 msec, 1.1 msec", "held")],
)
def test_equal_printed_times_do_not_show_that_the_runs_were_equal(
    prepare: Play, module: ModuleType, raw: str, standing: str
) -> None:
    printed = f"raw times: {raw}\n\n200 loops, best of 2: 5 usec per loop\n"
    run = subprocess.CompletedProcess(["python", "-m", "timeit"], 0, stdout=printed)
    _, standings = explained(prepare, module.lesson, "command_line", run)
    assert standings == {"prints-the-best": "held", "raw-times-differ": standing}


def fed(module: ModuleType, finite: Row, wrong_s: float, right_s: float) -> object:
    """Return a result of the step with `x = x.mm(x)`."""
    spec = TaskSpec("pass", "pass")
    return module.Fed([(Measurement(1, [wrong_s], spec), Measurement(1, [right_s], spec))] * 9, finite)


@pytest.mark.parametrize(
    ("finite", "wrong_s", "said", "standings"),
    [
        (
            [1.0] * 4 + [0.0] * 96,
            1e-5,
            "No finite number. All numbers were finite after each of the first 4 calls. After 96 of 100 calls,",
            ("held", "held", "held"),
        ),
        ([1.0] * 100, 5e-5, "Larger, finite numbers.", ("refuted", "refuted", "refuted")),
    ],
)
def test_a_product_that_feeds_itself_is_judged_by_its_values_and_its_time(
    prepare: Play, module: ModuleType, finite: Row, wrong_s: float, said: str, standings: tuple[str, ...]
) -> None:
    printed, found = explained(prepare, module.lesson, "feeds_itself", fed(module, finite, wrong_s, 1e-5))
    assert said in printed
    assert tuple(found.values()) == standings


def test_the_repaired_product_stays_finite(module: ModuleType) -> None:
    found = module.feeds_itself()
    assert found.finite[0] == 1
    assert found.finite[-1] == 0
    assert [wrong.stmt for wrong, _ in found.times[:1]] == ["x = x.mm(x)"]
    x = torch.rand(100, 100)
    for _ in range(100):
        y = x.mm(x)
    assert y.isfinite().all()


@pytest.mark.parametrize(
    ("cold_s", "warm_s", "said", "standings"),
    [
        (9e-6, [1e-6, 1e-6], "1.5× or more.", ("held", "held")),
        (1e-6, [1e-6, 1e-6], "0.67× to 1.5×.", ("refuted", "held")),
        (9e-6, [3e-6, 1e-6], "1.5× or more.", ("held", "refuted")),
    ],
)
def test_a_cold_start_is_seen_in_both_orders(
    prepare: Play, module: ModuleType, cold_s: float, warm_s: Row, said: str, standings: tuple[str, str]
) -> None:
    orders = module.Orders([[cold_s, 1e-6]] * 9, [[cold_s, 1e-6]] * 9, [warm_s] * 9)
    printed, found = explained(prepare, module.lesson, "only_a_cold_start", orders)
    assert said in printed
    assert tuple(found.values()) == standings


def test_an_order_without_a_cold_start_refutes_no_claim_about_both_orders(prepare: Play, module: ModuleType) -> None:
    orders = module.Orders([[9e-6, 1e-6]] * 9, [[1e-6, 1e-6]] * 9, [[1e-6, 1e-6]] * 9)
    _, found = explained(prepare, module.lesson, "only_a_cold_start", orders)
    assert found == {"first-loses": "inconclusive", "warm-equal": "held"}


def test_the_table_shows_the_names_in_both_orders(module: ModuleType) -> None:
    table = module.times_by_order(module.Orders([[8.0, 1.0]] * 3, [[6.0, 2.0]] * 3, [[1.0, 1.0]] * 3))
    assert [row[1:] for row in table.rows] == [(8.0, 1.0, 8.0), (2.0, 6.0, 2 / 6), (1.0, 1.0, 1.0)]
