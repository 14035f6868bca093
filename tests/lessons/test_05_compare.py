import importlib
import math
import os
import pickle
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from sessions import Play, explained
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.benchmark import Compare, Measurement, Timer
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.background_load import BackgroundLoad
from harness.paired.duel_result import Finding
from lessons.engine.interval import Interval
from lessons.engine.published import GRIDS
from lessons.engine.run import explain

NAME = "05_compare"


def test_a_figure_is_read_from_a_table_as_it_is_printed() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    text = str(Compare([module.timed(1, module.mul_sum, 1e-3), module.sleeps(2)]))
    figures = module.figures_in(text)
    assert len(figures) == 2
    assert all(float(figure) > 0 for figure in figures)


def test_each_sleep_is_a_sample_of_its_own() -> None:
    slept = importlib.import_module(f"lessons.{NAME}").sleeps(7)
    assert slept.number_per_run == 1
    assert len(slept.times) == 7


def fought(ratio: float, doubt: float) -> SimpleNamespace:
    finding = (
        Finding.UNDECIDED if ratio - doubt < 1 < ratio + doubt else Finding.FASTER if ratio > 1 else Finding.SLOWER
    )
    return SimpleNamespace(ratio=ratio, low=ratio - doubt, high=ratio + doubt, verdict=finding, margin=0.01)


@pytest.mark.parametrize(
    ("doubt", "quarter", "fourfold", "standings"),
    [
        (0.1, 0.5, 1.5, {"held"}),
        (0.1, 1.5, 0.5, {"refuted"}),
        (0.6, 0.5, 1.5, {"inconclusive"}),
    ],
)
def test_a_crossing_is_claimed_only_where_the_way_there_was_clear(
    prepare: Play, doubt: float, quarter: float, fourfold: float, standings: set[str]
) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    played = prepare(module.lesson)
    page = played.session._page(module.where)
    page.prediction = module.where.predict
    found = {8192: fought(0.5, doubt), 92_682: fought(1.5, doubt), 27_555: fought(0.9, 0.2)}
    steps = [module.Compared(numbers, duel) for numbers, duel in found.items()]
    explain(module.where, page, module.Search(steps, fought(quarter, 0.1), fought(fourfold, 0.1)))
    assert {str(claim.standing) for claim in page.claims} == standings
    printed = " ".join(played.out.getvalue().split())
    assert "the winner changes between 27 555 and 92 682 numbers" in printed
    assert "would measure up to 44 sizes" in printed


def test_the_search_with_a_constant_factor_measures_the_stated_number_of_sizes() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    sizes = [module.LEAST]
    while sizes[-1] * module.NEAR <= module.MOST:
        sizes.append(sizes[-1] * module.NEAR)
    assert len(sizes) == 44


def test_a_winner_that_never_changes_has_no_crossing(prepare: Play) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    search = module.Search([module.Compared(8192, fought(0.5, 0.1))], fought(0.5, 0.1), fought(0.5, 0.1))
    printed, standings = explained(prepare, module.lesson, "where", search)
    assert "This run gives no clear answer" in printed
    assert "mul_sum had the smaller time, so the winner never changes" in printed
    assert set(standings.values()) == {"inconclusive"}


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a second core")
def test_nothing_is_said_of_several_threads_where_other_programs_use_their_cores(prepare: Play) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    played = prepare(module.lesson)
    page = played.session._page(module.sizes_and_threads)
    page.prediction = module.sizes_and_threads.predict
    measured = module.sizes_and_threads(fast=True)
    explain(module.sizes_and_threads, page, measured._replace(others=BackgroundLoad(0.5)))
    standings = {claim.id: str(claim.standing) for claim in page.claims}
    assert standings["threads-move-margin"] == "inconclusive"
    assert page.prediction_result is not None
    assert page.prediction_result.truth is None


@pytest.mark.parametrize(("shift", "change"), [(math.log(2), 2), (-math.log(2), 2), (0.0, 1)])
def test_the_ratio_changes_by_the_same_factor_in_both_directions(shift: float, change: float) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    found = module.change_of_ratio(Interval.plus_minus(shift, math.log(1.25)))
    assert found.middle == pytest.approx(change)
    assert (found.low, found.high) == pytest.approx((change / 1.25, change * 1.25))


def test_measurements_that_differ_only_in_globals_become_one_cell() -> None:
    """Step 2 of the lesson lists all fields that must be equal. The `globals` are not among them."""
    several = [Timer("f()", globals={"f": f}, description="same").timeit(1) for f in (list, dict)]
    assert len(Measurement.merge(several)) == 1
    apart = [Timer("f()", globals={"f": f}, description=f.__name__).timeit(1) for f in (list, dict)]
    assert len(Measurement.merge(apart)) == 2
    assert set(TaskSpec.__dataclass_fields__) == {
        *("stmt", "setup", "global_setup", "label", "sub_label", "description", "env", "num_threads")
    }


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that records the name of each operation that torch calls."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> object:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def operations(function: Callable[..., object]) -> list[str]:
    a, b = torch.rand(2, 1, 64)
    called = Operations()
    with called:
        function(a, b)
    return called.names


def test_mul_sum_calls_two_operations_and_bmm_one_and_four_views() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    assert operations(module.mul_sum) == ["mul", "sum"]
    assert sorted(operations(module.bmm)) == ["bmm", "select", "select", "unsqueeze", "unsqueeze"]


@pytest.mark.parametrize(("source", "changes"), [("recipe", 1), ("re-run", 2)])
def test_the_winner_changes_in_the_published_grids_as_the_lesson_states(source: str, changes: int) -> None:
    wins = [bmm_s < sum_s for size, sum_s, bmm_s in GRIDS if size.startswith(source)]
    assert not wins[0]
    assert sum(one != other for one, other in pairwise(wins)) == changes


def test_wins_are_counted_as_the_table_shows_them() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    times = {("1 numbers", "mul_sum"): (1.0, 9.0, 9.0), ("1 numbers", "bmm"): (2.0, 2.0, 10.0)}
    results = [
        Measurement(1, [seconds], TaskSpec("f", "pass", sub_label=size, description=name))
        for (size, name), turns in times.items()
        for seconds in turns
    ]
    assert module.bmm_wins(results) == 1


def test_doubt_is_half_of_each_iqr() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    measured = module.timed(1, module.mul_sum, 1e-3)
    assert math.isclose(module.doubt(measured, measured), measured.iqr / measured.median)


def measured(sub_label: str, name: str, threads: int, seconds: float) -> Measurement:
    """Return a measurement of one sample."""
    return Measurement(1, [seconds], TaskSpec("f", "pass", sub_label=sub_label, description=name, num_threads=threads))


def shapes(module: Any, many_s: float, long_s: float) -> object:
    """Return a result of the step with sixteen shapes. `bmm` wins at 5 shapes with one thread, and at 3 with four."""
    names = [f"{rows} x {length}" for rows in (1, 64, 1024, 16_384) for length in (1, 16, 64, 256)]
    cells = []
    for threads, wins in ((1, 5), (4, 3)):
        for at, name in enumerate(names):
            cells.append(measured(name, "mul_sum", threads, 2e-6))
            cells.append(measured(name, "bmm", threads, 1e-6 if at < wins else 3e-6))
    return module.Shapes(cells, [module.Pair(many_s, long_s)] * 9)


@pytest.mark.parametrize(
    ("many_s", "long_s", "said", "standing"),
    [
        (4e-5, 1e-5, "1.5× or more. In the median round, bmm took 40 µs", "held"),
        (1e-5, 1e-5, "0.67× to 1.5×.", "refuted"),
        (1e-5, 4e-5, "less than 0.67×.", "refuted"),
    ],
)
def test_rows_are_compared_at_equal_numbers_of_numbers(
    prepare: Play, many_s: float, long_s: float, said: str, standing: str
) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    printed, standings = explained(prepare, module.lesson, "sixteen_shapes", shapes(module, many_s, long_s))
    assert said.casefold() in printed.casefold()
    assert "at 5 of 16 shapes with 1 thread, and at 3 of 16 shapes with 4 threads." in printed
    assert standings == {"rows-cost": standing, "row-per-shape": "held"}


@pytest.mark.parametrize("change", ["trim_significant_figures", "highlight_warnings", "colorize"])
def test_a_pickled_table_keeps_each_setting(change: str) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    plain, table = (Compare([module.timed(1, module.mul_sum, 1e-3), module.sleeps(9)]) for _ in range(2))
    getattr(table, change)()
    loaded = pickle.loads(pickle.dumps(table))  # noqa: S301 - made in this test
    assert str(loaded) == str(table) != str(plain)


@pytest.mark.parametrize(("median_s", "printed"), [(2e-6, "2"), (2.34567e-3, "2.346")])
def test_a_short_time_is_trimmed_to_fewer_digits_even_if_all_samples_are_equal(median_s: float, printed: str) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    table = Compare([Measurement(1, [median_s] * 30, TaskSpec("f", "pass", description="d"))])
    table.trim_significant_figures()
    assert module.figures_in(str(table)) == [printed]


def test_a_table_that_loses_its_settings_refutes_the_claim(prepare: Play) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    looks = module.dressed(fast=True)
    _, standings = explained(prepare, module.lesson, "dressed", looks._replace(unpickled=looks.plain))
    assert standings["pickled-same"] == "refuted"


def five(seconds: list[float]) -> list[Measurement]:
    """Return two repetitions of measurements of `mul_sum` at the five sizes."""
    sizes = (1, 64, 4096, 65_536, 1_048_576)
    one = [measured(f"{n} numbers", "mul_sum", 1, time) for n, time in zip(sizes, seconds, strict=True)]
    return one * 2


@pytest.mark.parametrize(
    ("last_s", "said", "standing"),
    [(2e-6, "Less than 2×. Without the mistake, this quotient is 50×.", "held"), (4e-5, "10× or more.", "refuted")],
)
def test_the_mistake_shows_in_the_last_row(prepare: Play, last_s: float, said: str, standing: str) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    played = prepare(module.lesson)
    page = played.session._page(module.with_a_mistake)
    page.results["five_sizes"], page.prediction = five([2e-6, 2e-6, 3e-6, 9e-6, 1e-4]), module.with_a_mistake.predict
    explain(module.with_a_mistake, page, five([2e-6, 2e-6, 2e-6, 2e-6, last_s]))
    assert said in " ".join(played.out.getvalue().split())
    assert {claim.id: str(claim.standing) for claim in page.claims} == {
        "rows-alike": standing,
        "repaired-grows": "held",
    }


def test_with_the_wrong_name_in_both_places_the_table_has_one_row() -> None:
    """The lesson recommends this, because the mistake is then easy to see."""
    tensors = {"a": torch.rand(64)}
    results = [Timer("a.sum()", globals=tensors, sub_label=f"{len(tensors['a'])} numbers").timeit(1) for _ in range(5)]
    assert len(Measurement.merge(results)) == 1
