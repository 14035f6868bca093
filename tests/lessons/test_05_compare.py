import importlib
import math
import os
from types import SimpleNamespace

import pytest
from sessions import Play
from torch.utils.benchmark import Compare, Measurement
from torch.utils.benchmark.utils.common import TaskSpec

from harness.findings import Finding
from harness.others import Others

NAME = "05_compare"


def test_a_figure_is_read_from_a_table_as_it_is_printed() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    text = str(Compare([module.timed(1, module.mul_sum, 1e-3), module.naps(2)]))
    figures = module.figures_in(text)
    assert len(figures) == 2
    assert all(float(figure) > 0 for figure in figures)


def test_each_nap_is_a_sample_of_its_own() -> None:
    napped = importlib.import_module(f"lessons.{NAME}").naps(7)
    assert napped.number_per_run == 1
    assert len(napped.times) == 7


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
    found = [(8192, fought(0.5, doubt)), (92_682, fought(1.5, doubt)), (27_555, fought(0.9, 0.2))]
    module.where.explanation(page, (found, [fought(quarter, 0.1), fought(fourfold, 0.1)]))
    assert {str(claim.standing) for claim in page.claims} == standings
    assert "It changes between 27 555 and 92 682" in " ".join(played.out.getvalue().split())


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a second core")
def test_nothing_is_said_of_several_threads_where_other_programs_use_their_cores(prepare: Play) -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    played = prepare(module.lesson)
    page = played.session._page(module.sizes_and_threads)
    page.prediction = module.sizes_and_threads.predict
    cells, gains, _ = module.sizes_and_threads(fast=True)
    module.sizes_and_threads.explanation(page, (cells, gains, Others(0.5)))
    standings = {claim.id: str(claim.standing) for claim in page.claims}
    assert standings["threads-move-margin"] == "inconclusive"
    assert page.prophecy is not None
    assert page.prophecy.truth is None


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
