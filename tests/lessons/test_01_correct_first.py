import importlib
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from sessions import ROOT, Play, explained, taken

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
            assert module.three_checks(got, a, b).bound
        magnitude = (a.double() * b.double()).abs().sum(-1)
        beyond = (a.double() * b.double()).sum(-1) + 70 * torch.finfo(dtype).eps * magnitude
        assert not module.three_checks(beyond, a, b).bound


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_the_bound_of_the_lesson_is_above_the_bound_of_the_book(dtype: torch.dtype) -> None:
    """γₙ = n·u/(1 - n·u) with u = eps/2 includes the roundings of the products; the lesson allows (n + 1)·eps."""
    n, eps = 64, torch.finfo(dtype).eps
    u = eps / 2
    assert n * u <= 1 / 2
    assert n * u / (1 - n * u) <= n * eps < (n + 1) * eps


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_torch_adds_short_floats_in_float32_and_rounds_once(module: ModuleType, dtype: torch.dtype) -> None:
    a, b = torch.randn(2, 1000, 64).to(dtype)
    in_float32 = (a * b).float().sum(-1).to(dtype)
    assert torch.equal(module.mul_sum(a, b), in_float32)
    assert module.worst_error(module.one_by_one, a, b) > 2 * module.worst_error(module.mul_sum, a, b)


def test_one_by_one_rounds_after_each_addition(module: ModuleType) -> None:
    ones = torch.ones(1, 300, dtype=torch.bfloat16)
    assert module.one_by_one(ones, ones).item() == 256  # 256 + 1 rounds to 256 in bfloat16
    assert module.mul_sum(ones, ones).item() == 300


def test_the_roundings_before_a_cancellation_are_large_compared_with_the_sum(module: ModuleType) -> None:
    a, b = torch.rand(2, 200, 64)
    long_a, long_b = torch.cat([a, -a], -1), torch.cat([b, b * 1.0001], -1)
    oracle = (long_a.double() * long_b.double()).sum(-1)
    off = (module.mul_sum(long_a, long_b).double() - oracle).abs()
    assert (off / oracle.abs()).max() > 1e-5
    assert module.worst_error(module.mul_sum, long_a, long_b) < 1e-6


@pytest.mark.skipif("BLAS_INFO=mkl" not in torch.__config__.show(), reason="counts the calls of MKL")
@pytest.mark.parametrize(("n", "calls"), [(64, False), (399, False), (400, True), (512, True)])
def test_bmm_calls_the_matrix_library_for_rows_of_400_numbers_or_more(n: int, calls: bool) -> None:
    code = f"import torch; a, b = torch.rand(2, 64, {n}); torch.bmm(a[:, None], b[:, :, None])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"MKL_VERBOSE": "1"},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert ("GEMM" in done.stdout) == calls


def test_a_careful_look_names_what_is_wrong(module: ModuleType) -> None:
    a, b = torch.rand(2, 5, 8)
    assert module.look(module.mul_sum, a, b) == ("ok", True)
    assert module.look(lambda a, b: module.mul_sum(a, b).double(), a, b)[0] == "shape"
    assert module.look(lambda a, b: module.mul_sum(a, b)[:, None].expand(5, 5), a, b)[0] == "shape"
    assert module.look(lambda a, b: module.mul_sum(a, b) + 1, a, b) == ("wrong", False)
    assert module.look(module.in_place, a, b) == ("alters", True)


@pytest.mark.parametrize(("kinds", "letter"), [((), "a"), (("NaN",), "c"), (("strided",), "d"), (("alias",), None)])
def test_the_kind_of_input_with_rejected_answers_is_the_answer(
    module: ModuleType, kinds: tuple[str, ...], letter: str | None
) -> None:
    looks = {kind: module.Look("ok", kind not in kinds) for kind in ("usual", "no rows", "NaN", "strided", "alias")}
    assert module.rejecting_kind({"mul_sum": looks, "bmm": looks}) == letter


def test_only_nan_makes_allclose_reject_right_answers(module: ModuleType) -> None:
    assert module.rejecting_kind(module.unusual_inputs(fast=True)) == "c"


@pytest.mark.parametrize(("one_s", "full_s", "says"), [(2e-3, 1e-3, "took 0.500× as long"), (1e-3, 3e-3, "took 3×")])
def test_what_more_cores_did_is_said_as_it_came_out(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, one_s: float, full_s: float, says: str
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    one, full = [SimpleNamespace(median=one_s)] * 3, [SimpleNamespace(median=full_s)] * 3
    assert says in module.about_cores(one, full)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert "a single thread" in module.about_cores(one, full)


def test_equal_bits_on_another_machine_refute_the_claim_and_are_explained(module: ModuleType, prepare: Play) -> None:
    printed, standings = explained(prepare, module.lesson, "compare_two", module.Compared(1.0, 0.0, close=True))
    assert standings == {"bits-differ": "refuted", "yet-close": "held"}
    assert "In this run, all numbers are equal." in printed


@pytest.mark.parametrize(("ratio", "low", "high"), [(4.0, 3.0, 5.0), (0.25, 0.2, 1 / 3)])
def test_the_slower_side_takes_longer_whichever_side_it_is(
    module: ModuleType, ratio: float, low: float, high: float
) -> None:
    longer = module.longer_by(SimpleNamespace(ratio=ratio, low=low, high=high))
    assert (longer.middle, longer.low, longer.high) == pytest.approx((4, 3, 5))
