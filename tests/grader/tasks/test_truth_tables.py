"""All tasks: each known submission gets the verdict in its file name, in one draw, without processes and clocks.

`lint` grades the same files as hand-ins in other draws, and measures their costs (`authoring/test_lint.py`).
"""

import math
import re
import shutil
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import Any

import numpy as np
import pytest
import torch
from playing import Game, find_task, is_right, play

from grader import catalogue, overlays, paths
from grader.authoring import mistakes
from grader.authoring.lint import tier_named
from grader.kinds.simulated import gain
from grader.seeds import generator, independent
from grader.task import Inputs, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam, ValueExam
from grader.trials.correctness import Answer, judge
from grader.trials.tensor_supply import TensorSupply

MEAN_OFF, SCENARIO_OFF = 0.02, 0.25
"""The largest relative error of `plain_cost`, over an exam and in one scenario. It is smaller than a step of tiers."""

NONSENSE: tuple[Any, ...] = (math.nan, "rows", [[]], [3], [["x", 1]] * 2000, {"x": "y"}, -3, 10**400)
"""Answers that are wrong in each scenario, and that a careless judgement could fail on."""

MALFORMED: tuple[tuple[Any, ...], ...] = ((1, 2, 3, 4), ({"no": "such thing"},), (-1,), (math.nan,), ([[]],), (None,))
"""Arguments that no simulated function takes."""

STRETCH = 64
"""The number of equal bytes that two inputs never have by chance."""


LONG = ("agrees", "at_peak", "crossover", "is_slower", "polynomial", "smallest_slow_case")
"""Tasks whose known submissions take seconds."""


def tasks() -> list[Task]:
    return list(catalogue.all_tasks())


def scenarios(task: Task, seed: int = 0) -> tuple[Scenario, ...]:
    assert not isinstance(task.exam, TensorExam)
    return tuple(task.exam.scenarios(np.random.default_rng(seed)))


def costs_surprise(task: Task, stem: str, game: Game) -> Iterator[str]:
    """Yield a sentence for each cost in simulated scenarios that is not as planned."""
    if game.tier != tier_named(task, stem):
        yield f"{stem} reaches tier {game.tier}"
    if stem == paths.solution(task.lesson).stem and game.gain < task.least_gain * task.tiers[-1].ratio:
        yield f"the solution gains only {game.gain}"
    if stem == "baseline" and game.gain != pytest.approx(1, rel=MEAN_OFF):
        yield f"the baseline has a ratio of {game.gain}"
    if stem == "baseline":
        ratios = {scenario.title: gain(scenario) for scenario in game.scenarios}
        yield from (f"{ratios}" for ratio in ratios.values() if ratio != pytest.approx(1, rel=SCENARIO_OFF))


def surprises(task: Task) -> Iterator[str]:
    stub = paths.stub(task.lesson).read_text(encoding="utf-8")
    if not task.exam.in_c and is_right(task, stub):
        yield "the stub is right"
    yield from mistakes.problems(task)
    for path in [*sorted(task.known.glob("*.py")), paths.solution(task.lesson)]:
        source, wrong = overlays.whole(path), path.stem.startswith("wrong_")
        if wrong or not task.simulated:
            if is_right(task, source) == wrong:
                yield f"{path.stem} is {'right' if wrong else 'wrong'}"
            continue
        game = play(task, source, seed=0)
        if not game.kept:
            yield f"{path.stem} is wrong: {[mismatch for mismatch in game.mismatches if mismatch][:2]}"
        elif task.tiers:
            yield from costs_surprise(task, path.stem, game)


@pytest.mark.filterwarnings("ignore:std", "ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize(
    "task", [pytest.param(one, id=one.full_name, marks=pytest.mark.long if one.name in LONG else ()) for one in tasks()]
)
def test_each_known_submission_is_as_its_file_name_states(task: Task) -> None:
    if task.exam.in_c and not shutil.which("cc"):
        pytest.skip("cc is missing: install it with `apt-get install gcc`")
    assert list(surprises(task)) == []


def test_a_mistake_in_rounding_is_recognised_on_a_processor_with_other_rounding_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inverse = torch.fft.irfft
    monkeypatch.setattr(torch.fft, "irfft", lambda *given: inverse(*given) * (1 - 1e-14))
    assert list(mistakes.problems(find_task("05_compare", "convolve"))) == []


def test_the_same_seed_draws_the_same_scenarios_and_another_seed_draws_others() -> None:
    for task in tasks():
        if not isinstance(task.exam, TensorExam):
            first, again, other = (
                re.sub(r"0x\w+", "", repr([vars(one) for one in scenarios(task, seed)[::4]])) for seed in (1, 1, 2)
            )
            assert first == again != other, task.full_name


def test_any_answer_is_judged_and_nonsense_is_wrong() -> None:
    for task in tasks():
        if not isinstance(task.exam, TensorExam):
            for scenario in {one.title: one for one in scenarios(task)}.values():
                accepted = [answer for answer in NONSENSE if scenario.judge(answer) is None]
                assert accepted == [], (task.full_name, scenario.title)


def test_a_malformed_call_of_a_simulated_function_is_refused() -> None:
    for task in tasks():
        if isinstance(task.exam, SimulatedExam):
            for scenario in {one.title: one for one in scenarios(task)}.values():
                functions = [each for each in scenario.arguments if isinstance(each, SimulatedFunction)]
                for function, arguments in product(functions, MALFORMED):
                    with pytest.raises(ValueError, match=r"^(?!.*(invalid literal|unpack))"):
                        scenario.call(function.name, arguments)


def test_the_shapes_of_timed_values_are_drawn_anew() -> None:
    """Otherwise a submission could take results that depend only on the shape from a cache."""
    for task in tasks():
        if isinstance(task.exam, ValueExam):
            drawn = [task.exam.timed(np.random.default_rng(seed)) for seed in range(3)]
            shapes = [shape([scenario.arguments for scenario in each]) for each in drawn]
            assert len(set(shapes)) == len(shapes), task.full_name


def shape(value: object) -> str:
    """Return the structure of a value, without numbers. Texts with the same last word get the same number."""
    places: dict[object, int] = {}

    def of(one: object) -> str:
        if isinstance(one, dict):
            return f"{{{','.join(map(of, one.values()))}}}"
        if isinstance(one, list | tuple):
            return f"[{','.join(map(of, one))}]"
        return str(places.setdefault(one.rpartition(" ")[2], len(places))) if isinstance(one, str) else "#"

    return of(value)


def test_timed_inputs_of_one_size_have_equal_strides_and_share_no_bytes() -> None:
    for task in tasks():
        for timed in (task.exam.timed, *task.exam.also_timed) if isinstance(task.exam, TensorExam) else ():
            drawn = list(islice(timed(independent(generator("a seed"))), 3))
            assert len({tuple((each.shape, each.strides, each.dtype) for each in inputs) for inputs in drawn}) == 1
            for one, other in permutations([array.tobytes("A") for inputs in drawn for array in inputs], 2):
                stretches = (one[at : at + STRETCH] for at in range(0, len(one) - STRETCH + 1, max(1, len(one) // 16)))
                assert not any(stretch in other for stretch in stretches), task.full_name


FINITE = {"scores", "without_echo"}
"""Tasks whose cases are empty, strided, and of two dtypes."""
NOT_FINITE = {"batched_dot", "larger_squared", "nearest", "tone_curve", "polynomial"}
"""The same, and some numbers are NaN."""


def exam(task: Task) -> TensorExam:
    assert isinstance(task.exam, TensorExam)
    return task.exam


def cases(task: Task) -> list[Inputs]:
    return list(exam(task).cases(generator("a seed")))


@pytest.mark.long
@pytest.mark.parametrize(
    "task", [pytest.param(one, id=one.full_name) for one in tasks() if one.name in FINITE | NOT_FINITE]
)
def test_a_large_input_rounded_to_16_bits_gives_a_wrong_answer_in_a_timed_call(task: Task) -> None:
    timed = TensorSupply(exam(task), generator("a seed")).draw(1)[0]
    for place, large in enumerate(timed.inputs):
        if large.size == max(each.size for each in timed.inputs):
            rounded = torch.from_numpy(np.ascontiguousarray(large)).bfloat16().to(torch.float64).numpy()
            answer = timed.exam.oracle(*timed.inputs[:place], rounded, *timed.inputs[place + 1 :]).astype(timed.dtype)
            assert judge(timed.expected, Answer(answer, "Tensor", inputs_unchanged=True))


def test_cases_are_empty_strided_not_finite_and_of_each_dtype() -> None:
    for task in catalogue.all_tasks():
        if task.name in FINITE | NOT_FINITE:
            arrays = [array for case in cases(task) for array in case]
            assert any(array.size == 0 for array in arrays), task.full_name
            assert any(not array.flags.c_contiguous for array in arrays), task.full_name
            assert task.name in FINITE or any(np.isnan(array).any() for array in arrays), task.full_name
            assert {"float32", "float64"} <= {str(array.dtype) for array in arrays}, task.full_name


def test_the_oracle_of_a_checksum_returns_the_published_one() -> None:
    published = exam(find_task("14_extensions", "checksum")).oracle(np.frombuffer(b"123456789", np.uint8))
    assert bytes(published.astype(np.uint8)) == 0xCBF43926.to_bytes(4, "little")


def test_the_plain_functions_in_the_stubs_are_right() -> None:
    for lesson, name, plain in (
        ("05_compare", "convolve", "by_shifting"),
        ("05_compare", "convolve", "by_fft"),
        ("09_cprofile", "scores", "plain"),
        ("11_torch_profiler", "without_echo", "plain"),
    ):
        stub = paths.stub(lesson).read_text(encoding="utf-8")
        assert is_right(find_task(lesson, name), f"{stub}\n{name} = {plain}\n"), (name, plain)
