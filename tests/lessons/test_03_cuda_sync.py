import importlib
import threading
from types import ModuleType

import pytest
import torch
from sessions import Play, taken

from lessons.engine.lesson import Lesson

NAME = "03_cuda_sync"
Turns = list[tuple[float, float]]


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


@pytest.mark.skipif(torch.cuda.is_available(), reason="shows what a machine without a GPU is told")
def test_the_first_line_under_the_title_says_that_the_stream_is_simulated(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    printed = taken(tmp_path_factory, NAME).out.split("\n")
    title = next(number for number, line in enumerate(printed) if "Lesson 03" in line)
    assert printed[title + 1].strip().startswith("Simulated: torch finds no CUDA here")


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


def explained(module: ModuleType, prepare: Play, step: str, result: object) -> tuple[str, set[str]]:
    """Explain a planted result; return what was printed and how the claims fared."""
    played = prepare(module.lesson)
    asked = getattr(module, step)
    page = played.session._page(asked)
    page.prediction = asked.predict
    asked.explanation(page, result)
    return " ".join(played.out.getvalue().split()), {str(claim.standing) for claim in page.claims}


@pytest.mark.parametrize(
    ("step", "result", "standing", "says"),
    [
        ("launch_and_wait", [(1e-4, 4e-2)] * 7, "held", "It is the price of a launch"),
        ("launch_and_wait", [(3e-2, 4e-2)] * 7, "refuted", "launches took a good part of the time"),
        ("own_clock", [(4.1e-2, 4e-2)] * 7, "held", "They agree"),
        ("own_clock", [(6e-2, 4e-2)] * 7, "refuted", "a launch that came late"),
        ("first_bmm", [5e-3] + [5e-5] * 9, "held", "One call that is not like the others"),
        ("first_bmm", [5e-5] * 10, "refuted", "Not so in this process"),
        ("cold_and_warm", [(1e-5, 9e-5)] * 9, "held", "where the numbers come from"),
        ("cold_and_warm", [(1e-5, 1e-5)] * 9, "refuted", "no clear difference"),
    ],
)
def test_what_came_out_is_what_is_explained(
    module: ModuleType, prepare: Play, step: str, result: list[object], standing: str, says: str
) -> None:
    printed, standings = explained(module, prepare, step, result)
    assert standings == {standing}
    assert says in printed


def test_turns_that_disagree_settle_nothing(module: ModuleType, prepare: Play) -> None:
    turns: Turns = [(4e-2, 4e-2), (9e-2, 4e-2), (4e-2, 4e-2)]
    assert explained(module, prepare, "own_clock", turns)[1] == {"inconclusive"}
