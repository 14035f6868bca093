"""Grids on a fake clock with known costs of each cell, so that every figure is exact, and the output of timeit."""

import math
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from harness.errors import UsageError
from harness.torch_benchmark import timeit_text
from harness.torch_benchmark.grid import Grid, GridCell, grid


class Machine:
    """A fake clock that moves with work and a little with each reading; it records every call of a function."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.calls: list[str] = []
        self.threads: set[int] = set()

    def clock(self) -> float:
        self.now_s += 1e-9
        return self.now_s

    def worker(self, name: str, start_s: float, each_s: float) -> Callable[[int], None]:
        def work(size: int) -> None:
            self.now_s += start_s + each_s * size
            self.calls.append(name)
            self.threads.add(torch.get_num_threads())

        return work


def measured(sizes: tuple[int, ...] = (1, 10, 100), threads: tuple[int, ...] = (1,), turns: int = 3) -> Grid:
    machine = Machine()
    functions = {"light": machine.worker("light", 1e-3, 1e-3), "heavy": machine.worker("heavy", 20e-3, 2e-4)}
    return grid(
        functions, lambda size: (size,), sizes, threads=threads, label="work", turns=turns, timer=machine.clock, seed=1
    )


def test_every_cell_is_measured_with_its_own_function_size_and_threads() -> None:
    found = measured(threads=(1, 2))
    assert (found.names, found.sizes, found.threads) == (("light", "heavy"), (1, 10, 100), (1, 2))
    assert len(found.cells) == 12
    assert math.isclose(found.median_s("light", 10, 2), 11e-3, rel_tol=1e-3)
    assert math.isclose(found.median_s("heavy", 100), 40e-3, rel_tol=1e-3)
    assert len(found.cells[GridCell("heavy", 10, 1)].times) >= 3  # the samples of all turns
    with pytest.raises(UsageError, match="no cell for 'light' at 7 on 1 threads; it has light, heavy at 1, 10, 100"):
        found.median_s("light", 7)
    assert [found.fastest(size) for size in found.sizes] == ["light", "light", "heavy"]
    assert [ratio > 1 for ratio in found.ratios("heavy", "light")] == [True, True, False]


def test_the_turns_of_the_functions_are_interleaved_and_each_cell_runs_on_its_number_of_threads() -> None:
    machine, before = Machine(), torch.get_num_threads()
    functions = {name: machine.worker(name, 1e-3, 0.0) for name in "ab"}
    grid(functions, lambda n: (n,), (1, 2, 3), threads=(1, 2), turns=4, min_run_time=0.02, timer=machine.clock, seed=3)
    assert (machine.threads, torch.get_num_threads()) == ({1, 2}, before)
    half = len(machine.calls) // 2
    for part in (machine.calls[:half], machine.calls[half:]):
        assert 0.2 < part.count("a") / len(part) < 0.8


def test_torchs_table_has_one_row_per_size_and_one_column_per_function() -> None:
    text = str(measured(threads=(1, 2)).compare())
    assert "work" in text
    header, *rows = [line for line in text.splitlines() if "|" in line]
    assert [cell.strip() for cell in header.split("|")] == ["", "light", "heavy"]
    assert [row.split("|")[0].strip() for row in rows] == ["1", "10", "100"] * 2
    assert "1 threads" in text
    assert "2 threads" in text


def test_plot_and_svg_show_a_curve_for_each_function_and_number_of_threads() -> None:
    one, two = measured(), measured(threads=(1, 2))
    assert one.plot().splitlines()[-1].split()[:4] == ["●", "light", "○", "heavy"]
    assert "heavy, 2 threads" in two.plot()
    assert "work: time of a call against the size" in two.svg()
    assert "light, 1 thread: 2.00 ms at 1" in two.svg()


def test_an_empty_grid_is_refused_before_anything_runs_and_an_exception_of_a_function_passes_through() -> None:
    def never(_size: int) -> tuple[object, ...]:
        raise AssertionError

    for name, wrong in [
        ("functions", {}),
        ("sizes", ()),
        ("sizes", (1, 1)),
        ("sizes", (0, 1)),
        ("threads", ()),
        ("threads", (0,)),
        ("turns", 0),
        ("min_run_time", 0.0),
        ("min_run_time", math.nan),
    ]:
        arguments: dict[str, object] = {"functions": {"f": never}, "inputs": never, "sizes": (1,), name: wrong}
        with pytest.raises(UsageError):
            grid(**arguments)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        grid({"f": lambda n: 1 / (n - 1)}, lambda n: (n,), (1,))


def test_times_are_read_in_every_unit() -> None:
    printed = "raw times: 1.5 sec, 20 msec, 300 usec, 4e+03 nsec\n\n200 loops, best of 4: 20 nsec per loop\n"
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert loops == 200
    assert figure_s == pytest.approx(20e-9)
    assert raw_s == pytest.approx([1.5, 0.02, 300e-6, 4e-6])


def test_colour_codes_of_newer_pythons_and_a_warning_of_timeit_are_ignored() -> None:
    printed = (
        "raw times: \x1b[36m2 msec\x1b[0m, 9 msec\n\n"
        "\x1b[1;32m10 loops\x1b[0m, best of 2: \x1b[1;36m200 usec\x1b[0m per loop\n"
        ":0: UserWarning: The test results are likely unreliable. The worst time (900 usec) was more than four "
        "times slower than the best time (200 usec).\n"
    )
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert loops == 10
    assert figure_s == pytest.approx(200e-6)
    assert raw_s == pytest.approx([2e-3, 9e-3])


def test_the_output_of_this_python_is_read() -> None:
    command = [sys.executable, "-m", "timeit", "-v", "-n", "1", "-r", "3", "pass"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    loops, figure_s, raw_s = timeit_text.read(printed)
    assert (loops, len(raw_s)) == (1, 3)
    assert figure_s == pytest.approx(min(raw_s), rel=0.01)
    with pytest.raises(UsageError, match="not the output of python -m timeit -v"):
        timeit_text.read("5 loops, best of 5: 3 nsec per loop\n")
