import importlib
import threading
import time
from types import ModuleType

import pytest
import torch
from sessions import Play, explained, taken

from harness.machine.devices import SimulatedStream
from lessons.engine.lesson import Lesson
from lessons.engine.published import ON_GPUS

NAME = "03_cuda_sync"
Times = tuple[float, float]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module(f"lessons.{NAME}")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def test_a_fast_run_refutes_no_claim(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = taken(tmp_path_factory, NAME)
    assert "refuted" not in run.verdicts.values(), run.verdicts
    assert run.verdicts["plain-clock-is-fooled"] == "held"
    assert list(run.plots.iterdir())


@pytest.mark.skipif(torch.cuda.is_available(), reason="tests the text for machines without a GPU")
def test_the_first_line_under_the_title_says_that_the_stream_is_simulated(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    printed = taken(tmp_path_factory, NAME).out.split("\n")
    title = next(number for number, line in enumerate(printed) if "Lesson 03" in line)
    assert printed[title + 1].strip().startswith("Simulated: torch finds no CUDA on this machine")


def test_the_code_that_is_given_takes_one_look(lesson: Lesson) -> None:
    assert all(len(step.given_code.splitlines()) <= 28 for step in lesson.steps)


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def test_no_stream_outlives_its_step(lesson: Lesson) -> None:
    before = threading.active_count()
    for step in lesson.steps:
        step(fast=True)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("step", "kind", "turns", "standing", "says"),
    [
        ("launch_and_wait", "Launched", [(1e-4, 4e-2)] * 7, "held", "does not depend on how long the work takes"),
        ("launch_and_wait", "Launched", [(3e-2, 4e-2)] * 7, "refuted", "launches took a large part of the time"),
        ("own_clock", "Clocks", [(4.1e-2, 4e-2)] * 7, "held", "The first launch and the end of the wait are short"),
        ("own_clock", "Clocks", [(6e-2, 4e-2)] * 7, "refuted", "the two clocks differ"),
        ("cold_and_warm", "Repeated", [(1e-5, 9e-5)] * 9, "held", "The two calls differ in the place of their numbers"),
        (
            "cold_and_warm",
            "Repeated",
            [(1e-5, 1e-5)] * 9,
            "refuted",
            "the difference between warm and cold calls is small",
        ),
        ("own_clock", "Clocks", [(4e-2, 4e-2), (9e-2, 4e-2), (4e-2, 4e-2)], "inconclusive", "differ too much to show"),
    ],
)
def test_what_came_out_is_what_is_explained(
    module: ModuleType, prepare: Play, step: str, kind: str, turns: list[Times], standing: str, says: str
) -> None:
    result = [getattr(module, kind)(*turn) for turn in turns]
    printed, standings = explained(prepare, module.lesson, step, result)
    assert set(standings.values()) == {standing}
    assert says in printed


@pytest.mark.parametrize(
    ("calls_s", "standing", "says"),
    [
        ([5e-3] + [5e-5] * 9, "held", "includes this slow first call"),
        ([5e-5] * 10, "refuted", "the first call was not slow"),
    ],
)
def test_a_slow_first_call_is_explained_only_where_it_was_slow(
    module: ModuleType, prepare: Play, calls_s: list[float], standing: str, says: str
) -> None:
    printed, standings = explained(prepare, module.lesson, "first_bmm", calls_s)
    assert set(standings.values()) == {standing}
    assert says in printed


def test_events_include_the_time_in_which_the_device_waits_for_a_launch() -> None:
    with SimulatedStream() as stream:
        first = stream.record()
        time.sleep(0.02)
        last = stream.record()
        stream.synchronize()
    assert last.seconds_since(first) >= 0.015


def test_the_first_bmm_has_rows_for_which_a_cpu_uses_a_matrix_library(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of lesson 01 shows that a CPU does so only for rows of 400 numbers or more."""
    lengths = set()
    plain = module.bmm

    def recorded(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        lengths.add(a.shape[-1])
        result = plain(a, b)
        assert isinstance(result, torch.Tensor)
        return result

    monkeypatch.setattr(module, "bmm", recorded)
    module.first_bmm(fast=True)
    assert min(lengths) >= 400


def test_the_published_tables_name_their_own_source(module: ModuleType, prepare: Play) -> None:
    """The recipe has rows of 1024 numbers, and the first `bmm` takes 124 times as long as the second."""
    printed, _ = explained(prepare, module.lesson, "how_often", module.Waits([1e-6] * 9, [2e-4] * 9, [1e-4] * 9))
    before, recipe, rerun = printed.split("Published: ")
    assert "10000×" not in before
    assert recipe.startswith("PyTorch's benchmark recipe")
    assert rerun.startswith("a reader's re-run")
    assert (recipe.count("10000×1024"), recipe.count("10000×64")) == (3, 0)
    assert (rerun.count("10000×1024"), rerun.count("10000×64")) == (0, 4)
    assert ON_GPUS[0][2] / ON_GPUS[1][2] == pytest.approx(124, abs=0.5)


@pytest.mark.parametrize(("on_a_gpu", "says"), [(True, "waits for this GPU"), (False, "does not wait for our stream")])
def test_the_default_clock_waits_for_a_gpu_only(module: ModuleType, on_a_gpu: bool, says: str) -> None:
    assert says in module.about_default_clock(on_a_gpu=on_a_gpu)
