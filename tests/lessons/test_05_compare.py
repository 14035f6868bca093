import importlib
import math

import pytest
from torch.utils.benchmark import Compare

NAME = "05_compare"


def test_a_figure_is_read_from_a_table_as_it_is_printed() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    text = str(Compare([module.timed(1, module.mul_sum, 1e-3), module.naps(1e-3)]))
    figures = module.figures_in(text)
    assert len(figures) == 2
    assert all(float(figure) > 0 for figure in figures)


@pytest.mark.parametrize(
    ("by_size", "sizes"),
    [
        ([[0.4], [0.5], [0.5], [0.9], [1.9]], (4096, 1_048_576)),
        ([[0.4, 1.5], [0.5, 0.5], [1.5, 1.6], [2.0, 0.9], [1.9, 1.9]], (64, 4096)),
        ([[0.9, 1.1]] * 5, (None, None)),
    ],
)
def test_only_what_every_turn_shows_brackets_the_crossing(
    by_size: list[list[float]], sizes: tuple[int | None, int | None]
) -> None:
    assert importlib.import_module(f"lessons.{NAME}").bracket(by_size) == sizes


def test_doubt_is_half_of_each_iqr() -> None:
    module = importlib.import_module(f"lessons.{NAME}")
    measured = module.timed(1, module.mul_sum, 1e-3)
    assert math.isclose(module.doubt(measured, measured), measured.iqr / measured.median)
