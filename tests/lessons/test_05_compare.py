import math
import pickle
from types import SimpleNamespace

import pytest
from sessions import MadeUp
from torch.utils.benchmark import Compare, Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.machine.background_load import BackgroundLoad
from harness.paired.duel_result import Finding
from lessons.engine.interval import Interval

LESSON = MadeUp("05_compare")


def measured(sub_label: str, name: str, threads: int, seconds: float) -> Measurement:
    """Return a measurement of one sample."""
    return Measurement(1, [seconds], TaskSpec("f", "pass", sub_label=sub_label, description=name, num_threads=threads))


def fought(ratio: float, doubt: float) -> SimpleNamespace:
    finding = (
        Finding.UNDECIDED if ratio - doubt < 1 < ratio + doubt else Finding.FASTER if ratio > 1 else Finding.SLOWER
    )
    return SimpleNamespace(ratio=ratio, low=ratio - doubt, high=ratio + doubt, verdict=finding, margin=0.01)


def test_figures_are_read_from_a_table_as_they_are_printed() -> None:
    slept = LESSON.sleeps(2)
    assert (slept.number_per_run, len(slept.times)) == (1, 2)
    figures = LESSON.figures_in(str(Compare([LESSON.timed(1, LESSON.mul_sum, 1e-3), slept])))
    assert len(figures) == 2
    assert all(float(figure) > 0 for figure in figures)
    for median_s, printed in ((2e-6, "2"), (2.34567e-3, "2.346")):
        table = Compare([Measurement(1, [median_s] * 30, TaskSpec("f", "pass", description="d"))])
        table.trim_significant_figures()
        assert LESSON.figures_in(str(table)) == [printed]


@pytest.mark.parametrize(
    ("doubt", "quarter", "fourfold", "standing"),
    [(0.1, 0.5, 1.5, "held"), (0.1, 1.5, 0.5, "refuted"), (0.6, 0.5, 1.5, "inconclusive")],
)
def test_a_crossing_is_claimed_only_where_the_way_there_was_clear(
    doubt: float, quarter: float, fourfold: float, standing: str
) -> None:
    found = {8192: fought(0.5, doubt), 92_682: fought(1.5, doubt), 27_555: fought(0.9, 0.2)}
    steps = [LESSON.Compared(numbers, duel) for numbers, duel in found.items()]
    search = LESSON.Search(steps, fought(quarter, 0.1), fought(fourfold, 0.1))
    words = "the winner changes between 27 555 and 92 682 numbers"
    LESSON.check("where", search, standing, words, "would measure up to 44 sizes")


def test_the_search_with_a_constant_factor_measures_the_stated_number_of_sizes() -> None:
    sizes = [LESSON.LEAST]
    while sizes[-1] * LESSON.NEAR <= LESSON.MOST:
        sizes.append(sizes[-1] * LESSON.NEAR)
    assert len(sizes) == 44


def test_a_winner_that_never_changes_has_no_crossing() -> None:
    search = LESSON.Search([LESSON.Compared(8192, fought(0.5, 0.1))], fought(0.5, 0.1), fought(0.5, 0.1))
    words = "mul_sum had the smaller time, so the winner never changes"
    LESSON.check("where", search, "inconclusive", "This run gives no clear answer", words)


def test_nothing_is_said_of_several_threads_where_other_programs_use_their_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    result = LESSON.sizes_and_threads(fast=True)._replace(others=BackgroundLoad(0.5))
    LESSON.check("sizes_and_threads", result, {"threads-move-margin": "inconclusive"}, "no clear answer")


def test_the_ratio_changes_by_the_same_factor_in_both_directions() -> None:
    for shift, change in ((math.log(2), 2), (-math.log(2), 2), (0.0, 1)):
        found = LESSON.change_of_ratio(Interval.plus_minus(shift, math.log(1.25)))
        assert found.middle == pytest.approx(change)
        assert (found.low, found.high) == pytest.approx((change / 1.25, change * 1.25))


def test_wins_are_counted_as_the_table_shows_them() -> None:
    times = {"mul_sum": (1.0, 9.0, 9.0), "bmm": (2.0, 2.0, 10.0)}
    assert LESSON.bmm_wins([measured("1 numbers", name, 1, each) for name, some in times.items() for each in some]) == 1


def test_doubt_is_half_of_each_iqr() -> None:
    one = Measurement(1, [1.0, 2.0, 3.0, 4.0], TaskSpec("f", "pass"))
    assert math.isclose(LESSON.doubt(one, one), one.iqr / one.median)


def test_rows_are_compared_at_equal_numbers_of_numbers() -> None:
    """`bmm` wins at 5 shapes with one thread, and at 3 with four."""
    names = [f"{rows} x {length}" for rows in (1, 64, 1024, 16_384) for length in (1, 16, 64, 256)]
    cells = []
    for threads, wins in ((1, 5), (4, 3)):
        for at, name in enumerate(names):
            cells.append(measured(name, "mul_sum", threads, 2e-6))
            cells.append(measured(name, "bmm", threads, 1e-6 if at < wins else 3e-6))
    counted = "at 5 of 16 shapes with 1 thread, and at 3 of 16 shapes with 4 threads."
    for many_s, long_s, said, standing in (
        (4e-5, 1e-5, "1.5× or more. In the median round, bmm took 40 µs", "held"),
        (1e-5, 1e-5, "0.67× to 1.5×.", "refuted"),
        (1e-5, 4e-5, "Less than 0.67×.", "refuted"),
    ):
        found = LESSON.Shapes(cells, [LESSON.Pair(many_s, long_s)] * 9)
        LESSON.check("sixteen_shapes", found, {"rows-cost": standing, "row-per-shape": "held"}, said, counted)


def test_a_pickled_table_keeps_each_setting_and_a_lost_setting_refutes_the_claim() -> None:
    for change in ("trim_significant_figures", "highlight_warnings", "colorize"):
        plain, table = (Compare([LESSON.timed(1, LESSON.mul_sum, 1e-3), LESSON.sleeps(9)]) for _ in range(2))
        getattr(table, change)()
        loaded = pickle.loads(pickle.dumps(table))  # noqa: S301 - made in this test
        assert str(loaded) == str(table) != str(plain)
    looks = LESSON.dressed(fast=True)
    LESSON.check("dressed", looks._replace(unpickled=looks.plain), {"pickled-same": "refuted"})


def test_the_mistake_shows_in_the_last_row() -> None:
    def five(*seconds: float) -> list[Measurement]:
        sizes = (1, 64, 4096, 65_536, 1_048_576)
        return [measured(f"{n} numbers", "mul_sum", 1, time) for n, time in zip(sizes, seconds, strict=True)] * 2

    right = five(2e-6, 2e-6, 3e-6, 9e-6, 1e-4)
    held, refuted = ({"rows-alike": each, "repaired-grows": "held"} for each in ("held", "refuted"))
    words = "Less than 2×. Without the mistake, this quotient is 50×."
    LESSON.check("with_a_mistake", five(2e-6, 2e-6, 2e-6, 2e-6, 2e-6), held, words, five_sizes=right)
    LESSON.check("with_a_mistake", five(2e-6, 2e-6, 2e-6, 2e-6, 4e-5), refuted, "10× or more.", five_sizes=right)
