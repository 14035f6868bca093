import importlib
import math
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
import torch
from sessions import Play, explained, taken

from harness.torch_benchmark.fuzz import Sample, UnaryOpSparseFuzzer, limited, take
from lessons.engine.lesson import Lesson
from lessons.engine.published import GRIDS, RECIPE_SHAPES

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
"""The ids of the claims that hold on each machine, because they do not depend on measured times."""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module(f"lessons.{NAME}")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def test_claims_about_draws_hold_on_each_machine(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = taken(tmp_path_factory, NAME)
    assert {id_: run.verdicts[id_] for id_ in CERTAIN} == dict.fromkeys(CERTAIN, "held")


def test_the_picture_has_a_description(tmp_path_factory: pytest.TempPathFactory) -> None:
    (picture,) = taken(tmp_path_factory, NAME).plots.iterdir()
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert "×" in (drawn.findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_each_step_has_a_question(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def turned(turns: dict[int, list[tuple[float, float]]]) -> dict[int, list[object]]:
    """Return the given pairs of seconds, by size, as `Turn` objects of the lesson."""
    turn = importlib.import_module(f"lessons.{NAME}").Turn
    return {n: [turn(*each) for each in rounds] for n, rounds in turns.items()}


def test_a_machine_on_which_transposing_costs_nothing_refutes_the_claims_about_it(
    prepare: Play, lesson: Lesson
) -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 2e-3)] * 3, 2048: [(2e-3, 2.1e-3)] * 3})
    printed, standings = explained(prepare, lesson, "the_input_that_hurts", turns)
    assert "Less than 2×. In the repetitions, the ratio of the two times was 1.05× to 1.05×." in printed
    assert "the time per number at size 2048 was less than 1.10× the time at size 2000" in printed
    assert standings == {"transposed-hurts": "refuted", "powers-hurt-most": "refuted"}


def test_turns_that_disagree_decide_no_claim_and_no_text(prepare: Play, lesson: Lesson) -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 8e-3), (2e-3, 12e-3)], 2048: [(2e-3, 4e-3), (2e-3, 3e-2)]})
    printed, standings = explained(prepare, lesson, "the_input_that_hurts", turns)
    assert set(standings.values()) == {"inconclusive"}
    assert "gives no clear answer" in printed
    assert "does not show clearly whether size 2000" in printed


@pytest.mark.parametrize(("slow", "words"), [(True, "128 × 128 numbers need 64 KiB"), (False, "No size was slow")])
def test_the_text_names_the_smallest_slow_size_if_there_is_one(
    prepare: Play, lesson: Lesson, module: ModuleType, slow: bool, words: str
) -> None:
    found = [module.Shrunk(n, [9.0 if slow and n >= 128 else 1.2] * 3) for n in (2048, 1024, 512, 256, 128, 64, 32)]
    printed, standings = explained(prepare, lesson, "smaller_and_still_slow", found)
    assert words in printed
    assert standings == {"small-is-not-slow": "held", "slow-stays-slow": "held" if slow else "inconclusive"}


def test_a_larger_size_that_is_faster_again_refutes_that_slow_stays_slow(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    found = [
        module.Shrunk(n, [1.5 if n == 512 else 9.0 if n >= 128 else 1.2] * 3)
        for n in (2048, 1024, 512, 256, 128, 64, 32)
    ]
    printed, standings = explained(prepare, lesson, "smaller_and_still_slow", found)
    assert standings["slow-stays-slow"] == "refuted"
    assert "1 exception" in printed


def test_a_contest_in_which_the_layout_does_not_matter_says_so(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    sample = Sample({"a": torch.zeros(4, 4), "b": torch.zeros(4, 4)}, {}, {})
    contest = [module.Timed(sample, [module.Times(1e-5, 2e-5 * (1 + n / 100), 2e-5)] * 3) for n in range(6)]
    printed, standings = explained(prepare, lesson, "a_contest", contest)
    assert standings == {"margin-moves": "refuted", "layout-moves": "refuted"}
    assert "Less than 2×." in printed
    assert "the memory layout made no large difference" in printed
    assert "The memory layout is also a part" not in printed


def test_the_recipe_s_times_on_a_drawn_input_differ_more_than_on_its_chosen_shapes(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    sample = Sample({"a": torch.zeros(4, 4), "b": torch.zeros(4, 4)}, {}, {})
    contest = [module.Timed(sample, [module.Times(1e-5, 2e-5, 2e-5)] * 3)] * 6
    printed, _ = explained(prepare, lesson, "a_contest", contest)
    assert "bmm took 20.5× as long as mul-sum on one drawn input" in printed
    assert (
        "On the 16 shapes that the recipe chooses, with one thread, the slower function took at most 6.47× as long"
        in printed
    )


def test_the_rows_of_the_recipe_in_the_grid_are_among_its_sixteen_shapes() -> None:
    chosen = [(f"recipe: {shape}", *times) for shape, *times in RECIPE_SHAPES]
    assert len(set(chosen)) == 16
    assert set(chosen) > {row for row in GRIDS if row[0].startswith("recipe")}


def test_the_sparse_fuzzer_draws_places_by_the_sum_of_the_sizes() -> None:
    """Step 3 of the lesson states this, and that a tensor that is not coalesced has two values per place."""
    seen = set()
    for sample in take(limited(UnaryOpSparseFuzzer(seed=2), max_elements=1 << 20), 20):
        x = sample.tensors["x"]
        drawn = math.ceil(sum(x.shape) * sample.parameters["density"])
        seen.add(x.is_coalesced())
        assert x._nnz() <= drawn if x.is_coalesced() else x._nnz() == 2 * drawn
    assert seen == {True, False}


def test_sizes_that_are_slow_in_some_turns_only_leave_the_smallest_slow_size_open(module: ModuleType) -> None:
    found = [module.Shrunk(n, [9.0, 9.0 if n >= 512 else 1.2 if n >= 128 else 1.1]) for n in (2048, 512, 128)]
    size = module.smallest_slow(found)
    assert (size.low, size.middle, size.high) == (128, 512, 512)
    assert math.isnan(module.smallest_slow([module.Shrunk(64, [1.0, 9.0])]).middle)


@pytest.mark.parametrize(
    ("repaired", "words"), [(True, "its check is reversed"), (False, "Your release of torch does not")]
)
def test_the_text_about_probabilities_depends_on_the_torch(module: ModuleType, repaired: bool, words: str) -> None:
    assert words in module.about_repair(repaired)
