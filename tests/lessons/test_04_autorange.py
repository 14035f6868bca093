import importlib
import math
import os
from pathlib import Path
from random import Random
from statistics import mean

import pytest
from sessions import Play, explained
from torch.utils.benchmark import Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.background_load import BackgroundLoad
from lessons.engine.command import run_command
from lessons.engine.lesson import Lesson
from lessons.engine.run import explain

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.04_autorange").lesson
    assert isinstance(whole, Lesson)
    return whole


def burners() -> list[str]:
    """Return the command lines of all running processes that the lesson started as neighbours."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_text(errors="replace")
        except OSError:
            continue  # the process ended
        if "time() % 0.1" in line:
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fats"], "No such option: --fats"),
        (["--json", "/nowhere/claims.json"], "/nowhere/claims.json cannot be written"),
        (["--json", "."], ". cannot be written"),
        (["--notebook", "/nowhere/lesson.ipynb"], "/nowhere/lesson.ipynb cannot be written"),
        (["--plots", os.devnull], "cannot be written"),
        (["surplus"], "surplus"),
    ],
)
def test_a_wrong_command_line_is_reported_in_one_line(
    lesson: Lesson, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(lesson, arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert sentence in err


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see other processes")
def test_neighbours_are_ended_when_the_measurement_fails() -> None:
    module = importlib.import_module("lessons.04_autorange")
    with pytest.raises(ZeroDivisionError), module.neighbours(lifetime_s=5):
        raise ZeroDivisionError
    assert burners() == []


@pytest.mark.parametrize(
    ("further", "option"),
    [([0.1, 0.3], "the mean"), ([-0.1, -0.3], "the median"), ([0.01, -0.01], "both"), ([0.1, -0.1], None)],
)
def test_the_rounds_decide_together_which_figure_moved(further: list[float], option: str | None) -> None:
    """`further` is the increase of the mean minus the increase of the median, in each round."""
    module = importlib.import_module("lessons.04_autorange")
    moves = [module.Moves(mean=0.5 + each, median=0.5) for each in further]
    judged = module.beside_neighbours.predict.judge(None, module.moved_more(moves, noise=0.1))
    assert judged.truth is None if option is None else judged.truth.startswith(option)


@pytest.mark.parametrize(
    ("mean_after", "standings"),
    [
        (2.0, {"neighbour-is-felt": "held", "median-moves-less": "held"}),
        (0.5, {"neighbour-is-felt": "refuted", "median-moves-less": "inconclusive"}),
    ],
)
def test_neighbours_without_an_effect_do_not_slow_any_block(
    prepare: Play, lesson: Lesson, mean_after: float, standings: dict[str, str]
) -> None:
    module = importlib.import_module("lessons.04_autorange")
    spec = TaskSpec(stmt="pass", setup="pass")
    quiet = Measurement(1, [1.0] * 9, spec)
    loud = Measurement(1, [0.5 * mean_after] * 6 + [2.0 * mean_after] * 3, spec)
    printed, found = explained(
        prepare, lesson, "beside_neighbours", [module.Round(quiet, loud, BackgroundLoad(0.0))] * 3
    )
    assert found == standings
    assert ("slow some blocks more than others" in printed) == (standings["neighbour-is-felt"] == "held")


@pytest.mark.parametrize(("slow", "said"), [(0, "The slowest call was the first call."), (6, "call number 7.")])
def test_a_slow_first_call_is_not_blamed_on_other_work(prepare: Play, lesson: Lesson, slow: int, said: str) -> None:
    module = importlib.import_module("lessons.04_autorange")
    calls_s = [1e-5] * 9
    calls_s[slow] = 1e-3
    printed, _ = explained(prepare, lesson, "one_call", module.SingleCalls(calls_s, [1e-7] * 9))
    assert said in printed
    assert ("did other work" in printed) == (slow > 0)


def test_neighbours_that_were_not_noticed_show_nothing_unless_both_figures_stayed_together() -> None:
    module = importlib.import_module("lessons.04_autorange")
    apart, together = ([module.Moves(mean=0.05, median=median)] * 2 for median in (0.0, 0.04))
    assert math.isinf(module.moved_more(apart, noise=0.1).highest)
    assert module.moved_more(together, noise=0.1).highest < 0.02


def test_the_distance_that_chance_explains_is_that_of_medians_from_one_distribution() -> None:
    """The medians of samples from one distribution have, on average, the range that `by_chance` returns."""
    module = importlib.import_module("lessons.04_autorange")
    draws, spec = Random(5), TaskSpec(stmt="pass", setup="pass")
    shares = []
    for _ in range(400):
        answers = [Measurement(1, [draws.gauss(1, 0.02) for _ in range(30)], spec) for _ in range(5)]
        shares.append(module.apart(answers) / module.by_chance(answers).mean)
    assert mean(shares) == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize("apart", [1.0, 1.001])
def test_two_medians_that_are_close_refute_nothing(apart: float) -> None:
    module = importlib.import_module("lessons.04_autorange")
    spec = TaskSpec(stmt="pass", setup="pass")
    answers = [Measurement(1, [middle + 0.01 * step for step in range(-4, 5)], spec) for middle in (1.0, apart)]
    times = module.wandered(answers)
    assert times.middle < 0.1
    assert times.highest >= 2


def test_without_steady_measurements_nothing_is_known() -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert math.isnan(module.wandered([]).middle)


def blocks_of(seconds: float, number: int) -> Measurement:
    """Return a measurement of `number` equal blocks."""
    return Measurement(1, [seconds] * number, TaskSpec(stmt="pass", setup="pass"))


def test_a_measurement_that_ran_out_of_time_did_not_become_steady() -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert module.became_steady([blocks_of(0.06, 3)]) == []
    assert len(module.became_steady([blocks_of(0.06, 4)])) == 1


@pytest.mark.parametrize(("block_s", "known"), [(0.005, True), (0.06, False)])
def test_long_blocks_do_not_show_how_long_a_steady_measurement_takes(block_s: float, known: bool) -> None:
    module = importlib.import_module("lessons.04_autorange")
    part = module.part_spent([blocks_of(block_s, 4)] * 3, whole_s=0.217)
    assert math.isnan(part.middle) != known


def test_measurements_of_one_block_have_no_spread_to_compare_with() -> None:
    module = importlib.import_module("lessons.04_autorange")
    spec = TaskSpec(stmt="pass", setup="pass")
    answers = [Measurement(1, [seconds], spec) for seconds in (1.0, 1.5, 2.0)]
    assert math.isnan(module.wandered(answers).middle)
    assert math.isnan(module.by_chance(answers).mean)


def test_one_measurement_shows_no_distance() -> None:
    module = importlib.import_module("lessons.04_autorange")
    one = Measurement(1, [1.0, 2.0, 3.0], TaskSpec(stmt="pass", setup="pass"))
    assert math.isnan(module.by_chance([one]).mean)
    assert math.isnan(module.apart([]))


def test_medians_that_no_steady_measurement_explains_are_not_called_alike(prepare: Play, lesson: Lesson) -> None:
    """On a busy machine, the medians differed by 66 %, and almost all measurements were unsteady."""
    module = importlib.import_module("lessons.04_autorange")
    answers = module.Answers([blocks_of(each, 3) for each in (1.0, 1.2, 1.66)], [blocks_of(1.0, 3)] * 3)
    blocks = module.Blocks(blocks_of(1.0, 1), blocks_of(1.0, 10), blocks_of(1.0, 2), 10.0, [1e-6])
    played = prepare(lesson)
    page = played.session._page(module.until_steady)
    page.results["many_blocks"], page.prediction = blocks, module.until_steady.predict
    explain(module.until_steady, page, answers)
    printed = " ".join(played.out.getvalue().split())
    assert "0 of the 3 measurements of mul_sum became steady in time" in printed
    assert "does not show whether the speed of the machine changed" in printed
    assert "chance can explain how much the medians differ" not in printed


def test_torchs_text_is_printed_without_the_address_of_the_object(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.04_autorange")
    assert module.torch_text(blocks_of(1.5e-6, 5)).splitlines() == [
        "pass",
        "  Median: 1.50 us",
        "  IQR:    0.00 us (1.50 to 1.50)",
        "  5 measurements, 1 runs per measurement, 1 thread",
    ]
    found = module.Blocks(blocks_of(1e-6, 1), blocks_of(1.5e-6, 5), blocks_of(1.0, 2), 10.0, [1e-9])
    played = prepare(lesson)
    page = played.session._page(module.many_blocks)
    page.results["one_long_run"], page.prediction = [module.Run(1, 1.0), module.Run(2, 2.0)], module.many_blocks.predict
    explain(module.many_blocks, page, found)
    assert "Median: 1.50 us" in played.out.getvalue()


@pytest.mark.parametrize(
    ("usual_s", "said", "standing"), [(1e-6, "5× or more.", "held"), (1.1e-5, "Less than 1.5×.", "refuted")]
)
def test_the_median_of_one_run_is_compared_with_the_median_of_single_calls(
    prepare: Play, lesson: Lesson, usual_s: float, said: str, standing: str
) -> None:
    module = importlib.import_module("lessons.04_autorange")
    found = module.Medians("Median: 11 us", blocks_of(usual_s, 1000), blocks_of(1.1e-5, 1), blocks_of(1.1e-5, 50))
    printed, standings = explained(prepare, lesson, "called_median", found)
    assert said in printed
    assert "Median: 11 us" in printed
    assert standings == {"median-is-a-mean": standing, "torch-omits-median": "held", "blocks-are-means": standing}


def test_one_of_ten_calls_is_slow_in_each_way_of_measuring() -> None:
    """Each run and each block contains slow calls. A single measurement makes three calls, so it meets slow calls."""
    module = importlib.import_module("lessons.04_autorange")
    work = module.uneven()
    assert [next(work) for _ in range(20)] == [*[4950] * 9, 1_249_975_000] * 2
    found = module.called_median(fast=True)
    assert found.blocks.number_per_run >= 10
    assert 50 <= sum(seconds > 5 * found.single.median for seconds in found.single.times) <= 500


def test_noise_divides_and_multiplies_a_large_ratio() -> None:
    """With a noise of 200 %, a ratio of 42 is still above 3."""
    found = importlib.import_module("lessons.04_autorange").with_factor(42.0, 2.0)
    assert (found.lowest, found.middle, found.highest) == pytest.approx((14, 42, 126))


def test_one_block_as_long_as_the_measurement_refutes_nothing_about_the_spread(prepare: Play, lesson: Lesson) -> None:
    """On a machine whose clock looked slow for a moment, torch chose one block of 10 000 calls for 0.2 s."""
    module = importlib.import_module("lessons.04_autorange")
    one = Measurement(10_000, [0.254], TaskSpec(stmt="pass", setup="pass"))
    played = prepare(lesson)
    page = played.session._page(module.many_blocks)
    page.results["one_long_run"] = [module.Run(5000, 0.172), module.Run(10_000, 0.236)]
    page.prediction = module.many_blocks.predict
    explain(module.many_blocks, page, module.Blocks(blocks_of(1.0, 1), one, one, 0.541, [1e-7]))
    found = {claim.id: str(claim.standing) for claim in page.claims}
    assert (found["blocks-have-spread"], found["blocks-waste-less"]) == ("inconclusive", "inconclusive")
    printed = " ".join(played.out.getvalue().split())
    assert "1 block of 10 000 calls" in printed
    assert "This measurement has only 1 block" in printed
    assert "Less than 1 %." not in printed
    assert "torch prints no warning for this IQR" not in printed


def test_rounds_of_one_block_do_not_show_that_mean_and_median_stay_together(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.04_autorange")
    rounds = [module.Round(blocks_of(1.0, 1), blocks_of(2.0, 1), BackgroundLoad(0.0))] * 3
    printed, found = explained(prepare, lesson, "beside_neighbours", rounds)
    assert found == {"neighbour-is-felt": "held", "median-moves-less": "inconclusive"}
    assert "Both, at most 2 percentage points apart." not in printed


def test_a_slow_statement_in_blocks_of_ten_calls_refutes_nothing(prepare: Play, lesson: Lesson) -> None:
    module = importlib.import_module("lessons.04_autorange")
    ten = Measurement(10, [0.4], TaskSpec(stmt="pass", setup="pass"))
    _, found = explained(prepare, lesson, "one_slow_statement", module.Slow(blocks_of(0.04, 1), ten))
    assert found["longer-cures"] == "inconclusive"
