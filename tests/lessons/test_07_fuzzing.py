import importlib
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
import torch
from sessions import Play, explained, taken

from harness.fuzz import Sample
from lessons.engine.lesson import Lesson

NAME = "07_fuzzing"
CERTAIN = {
    "uniform-is-large",
    "log-is-even",
    "custom-is-kept",
    "within-bounds",
    "alias-or-one",
    "one-dimension-is-spared",
    "steps-spoil-it",
    "seed-repeats",
    "parameters-lie",
    "layout-is-hidden",
    "density-lies",
    "all-five-draw",
}
"""What is drawn from seeds and not timed: it holds on every machine."""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module(f"lessons.{NAME}")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def test_what_is_drawn_and_not_timed_holds_on_every_machine(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = taken(tmp_path_factory, NAME)
    assert {id_: run.verdicts[id_] for id_ in CERTAIN} == dict.fromkeys(CERTAIN, "held")


def test_every_picture_has_words_for_those_who_cannot_see_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    (picture,) = taken(tmp_path_factory, NAME).plots.iterdir()
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert "×" in (drawn.findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def test_a_machine_that_does_not_mind_transposing_is_told_why_that_can_be(prepare: Play, lesson: Lesson) -> None:
    turns = {512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 2e-3)] * 3, 2048: [(2e-3, 2.1e-3)] * 3}
    printed, standings = explained(prepare, lesson, "the_input_that_hurts", turns)
    assert "About as long. 1.05×" in printed
    assert "Here that cannot be seen" in printed
    assert standings == {"transposed-hurts": "refuted", "powers-hurt-most": "refuted"}


def test_turns_that_do_not_agree_leave_it_open(prepare: Play, lesson: Lesson) -> None:
    turns = {512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 8e-3), (2e-3, 12e-3)], 2048: [(2e-3, 4e-3), (2e-3, 30e-3)]}
    _, standings = explained(prepare, lesson, "the_input_that_hurts", turns)
    assert set(standings.values()) == {"inconclusive"}


@pytest.mark.parametrize(("slow", "words"), [(True, "128 × 128 numbers are 64.0 KiB"), (False, "do not mind")])
def test_the_size_at_which_it_becomes_slow_is_told_if_there_is_one(
    prepare: Play, lesson: Lesson, slow: bool, words: str
) -> None:
    found = [(n, [9.0 if slow and n >= 128 else 1.2] * 3) for n in (2048, 1024, 512, 256, 128, 64, 32)]
    printed, standings = explained(prepare, lesson, "smaller_and_still_slow", found)
    assert words.replace("64.0", "64") in printed
    assert standings == {"small-is-not-slow": "held", "slow-stays-slow": "held" if slow else "inconclusive"}


def test_a_larger_size_that_is_faster_again_refutes_that_slow_stays_slow(prepare: Play, lesson: Lesson) -> None:
    found = [(n, [1.5 if n == 512 else 9.0 if n >= 128 else 1.2] * 3) for n in (2048, 1024, 512, 256, 128, 64, 32)]
    printed, standings = explained(prepare, lesson, "smaller_and_still_slow", found)
    assert standings["slow-stays-slow"] == "refuted"
    assert "1 larger size" in printed


def test_a_contest_that_the_layout_does_not_move_says_so(prepare: Play, lesson: Lesson) -> None:
    sample = Sample({"a": torch.zeros(4, 4), "b": torch.zeros(4, 4)}, {}, {})
    contest = [(sample, [(1e-5, 2e-5 * (1 + n / 100), 2e-5)] * 3) for n in range(6)]
    printed, standings = explained(prepare, lesson, "a_contest", contest)
    assert standings == {"margin-moves": "refuted", "layout-moves": "refuted"}
    assert "Hardly: less than 2 times." in printed
    assert "And the layout is part of the input" not in printed
