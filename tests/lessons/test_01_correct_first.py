import importlib
from types import ModuleType, SimpleNamespace

import pytest
import torch
from sessions import Play, taken

from lessons.engine.lesson import Lesson

NAME = "01_correct_first"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module(f"lessons.{NAME}")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def test_what_arithmetic_decides_held_in_a_fast_run(lesson: Lesson, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = taken(tmp_path_factory, NAME)
    by_the_clock = {id_ for step in lesson.steps[-2:] for id_ in step.claims}
    of_the_library = {"bits-differ"}
    assert {run.verdicts[id_] for id_ in set(run.verdicts) - by_the_clock - of_the_library} == {"held"}
    assert "refuted" not in {run.verdicts[id_] for id_ in ("wrong-is-fastest", "implementation", "algorithm")}
    assert list(run.plots.iterdir())


def test_the_code_that_is_given_takes_one_look(lesson: Lesson) -> None:
    assert all(len(step.given_code.splitlines()) <= 28 for step in lesson.steps)


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def test_the_bound_accepts_any_order_of_the_sum_and_nothing_beyond_rounding(module: ModuleType) -> None:
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        a, b = torch.randn(2, 50, 63).to(dtype)
        for order in (torch.arange(63), torch.randperm(63), torch.arange(63).flip(0)):
            got = module.mul_sum(a[:, order], b[:, order])
            assert module.three_judges(got, a, b)[2]
        magnitude = (a.double() * b.double()).abs().sum(-1)
        beyond = (a.double() * b.double()).sum(-1) + 70 * torch.finfo(dtype).eps * magnitude
        assert not module.three_judges(beyond, a, b)[2]


def test_a_careful_look_names_what_is_wrong(module: ModuleType) -> None:
    a, b = torch.rand(2, 5, 8)
    assert module.look(module.mul_sum, a, b) == ("ok", True)
    assert module.look(lambda a, b: module.mul_sum(a, b).double(), a, b)[0] == "shape"
    assert module.look(lambda a, b: module.mul_sum(a, b)[:, None].expand(5, 5), a, b)[0] == "shape"
    assert module.look(lambda a, b: module.mul_sum(a, b) + 1, a, b) == ("wrong", False)
    assert module.look(module.in_place, a, b) == ("spoils", True)


@pytest.mark.parametrize(("one_s", "full_s", "says"), [(2e-3, 1e-3, "2× as fast as one"), (1e-3, 3e-3, "took 3×")])
def test_what_more_cores_did_is_said_as_it_came_out(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, one_s: float, full_s: float, says: str
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    pairs = [(SimpleNamespace(median=one_s), SimpleNamespace(median=full_s))] * 3
    assert says in module.about_cores(pairs)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert "a single core" in module.about_cores(pairs)


def test_equal_bits_on_another_machine_refute_the_claim_and_are_explained(module: ModuleType, prepare: Play) -> None:
    played = prepare(module.lesson)
    step = module.compare_two
    page = played.session._page(step)
    page.prediction = step.predict
    module.explain_two(page, (1.0, 0.0, True))
    assert [str(claim.standing) for claim in page.claims] == ["refuted", "held"]
    assert "both add in the same order" in " ".join(played.out.getvalue().split())
