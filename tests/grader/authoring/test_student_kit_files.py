"""The student kit: stubs are made from solutions, and code in the kit that earns points is found."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_tasks import AT_ONCE, BY_ROWS, Question, negation, search

from grader import catalogue, kinds, paths
from grader.authoring import kit_functions, kit_leaks, known_cases
from grader.authoring.stubs import stub_of
from grader.errors import GraderFault, UsageError
from grader.hand_ins import originals
from grader.kinds import simulated
from grader.student_kit import release
from grader.task import Scenario, SimulatedExam, Task
from grader.values import Value


@dataclass
class Doubling(Question):
    """A scenario with a number to double. It computes the right answer, or, as a planted leak, stores it."""

    number: int = 0

    @property
    def worked_out(self) -> int:
        return 2 * self.number

    def method(self) -> int:
        return self.number + self.number

    @property
    def known(self) -> Value:
        return self.answer


def read(text: str) -> int:
    return int(text.removeprefix("number "))


def read_first(texts: list[str]) -> int:
    return read(texts[0])


def doubling(folder: Path, *, as_text: bool = False) -> Task:
    """Return a task without tiers that doubles numbers, which the student gets as numbers or as a text in a list."""

    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        given: dict[int, Value] = {n: [f"number {n}"] if as_text else n for n in rng.integers(1, 1000, 5).tolist()}
        return [Doubling("double", (one,), 2 * number, number=number) for number, one in given.items()]

    return replace(search(folder), exam=SimulatedExam(scenarios), tiers=())


def earning(task: Task) -> list[str]:
    """Return the names of the code in the kit that earns points in a task."""
    draw = kinds.examiner(task, "a draw")
    return sorted(name for name, solver in kit_leaks.candidates(task) if kit_leaks.earned(draw, solver))


def test_kit_code_that_answers_is_a_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def double(number: int) -> int:
        return 2 * number

    worked_out = ["Doubling.method", "Doubling.worked_out"]
    numbers, as_text = doubling(tmp_path), doubling(tmp_path / "text", as_text=True)
    kit = ModuleType(double.__module__)
    monkeypatch.setattr(kit_functions, "modules", lambda *_: [kit])
    assert earning(numbers) == worked_out
    assert earning(as_text) == []
    vars(kit)["read_first"] = read_first
    assert earning(as_text) == worked_out, "a parser and a scenario answer together"

    def twice(number: str) -> str:
        return 2 * number

    vars(kit).update(double=double, twice=twice)
    assert f"{kit.__name__}.double" in earning(numbers)
    assert f"{kit.__name__}.twice" not in earning(numbers), "its annotation does not take a number"


def test_a_baseline_made_slower_by_a_loop_is_a_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit_functions, "modules", lambda *_: [])
    slow = "import time\n" + AT_ONCE.replace(
        "return -x",
        "out = -x\n    end = time.thread_time() + 0.002\n    while time.thread_time() < end: pass\n    return out",
    )
    assert any("without its loop" in name for name in earning(negation(tmp_path, baseline=slow)))
    assert earning(negation(tmp_path / "honest", baseline=BY_ROWS)) == []


def test_a_kit_has_only_run_baselines_and_no_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = {path for path in release.kit_files() if path.name.startswith("baseline")}
    assert shipped == {path for task in catalogue.all_tasks() for path in task.baselines}
    monkeypatch.setattr(kit_leaks, "leaks", lambda lesson, **_how: (f"an answer lies in {lesson}",))
    with pytest.raises(GraderFault, match="an answer lies in 04_autorange"):
        release.release(tmp_path / "kit", ["04_autorange"], notebooks=False)
    assert list(tmp_path.iterdir()) == []


def tables(answer: Callable[[int, str], Value]) -> SimulatedExam:
    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        names = [f"name{n}" for n in rng.integers(10**9, size=3)]
        return [Question("pick", ([["x"], [name]],), answer(number, name)) for number, name in enumerate(names)]

    return SimulatedExam(scenarios)


def test_an_exam_that_can_be_passed_without_a_look_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blind: dict[str, Callable[[int, str], Value]] = {
        "it returns True": lambda _, __: True,
        "it returns argument 1": lambda _, name: [["x"], [name]],
        "it returns argument 1, backwards": lambda _, name: [[name], ["x"]],
        "right answers to other inputs, in order": lambda number, _: number,
        "": lambda _, name: name[::-1],
    }
    monkeypatch.setattr(simulated.SimulatedExaminer, "solver", lambda *_: lambda scenario: scenario.answer)
    for number, (said, answer) in enumerate(blind.items()):
        task = replace(search(tmp_path / str(number)), exam=tables(answer), tiers=())
        monkeypatch.setattr(paths, "solution", lambda _, known=task.known: known / "baseline.py")
        found = list(kit_leaks.right_blind_answers(task))
        assert any(sentence.endswith(said) for sentence in found) if said else not found, found


def largest(folder: Path, monkeypatch: pytest.MonkeyPatch, pool: NDArray[np.int64] | None = None) -> Task:
    """Return a task that asks for the name with the largest number: new numbers, or a row of a pool times a factor."""

    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        found = []
        for names in rng.permutation(100).reshape(4, 25).tolist():
            numbers = rng.permutation(10**4)[:25] if pool is None else rng.choice(pool) * rng.integers(1, 99)
            rows: list[Value] = [[f"n{name}", number] for name, number in zip(names, numbers.tolist(), strict=True)]
            found.append(Question("largest", (rows,), ""))
        return found

    task = replace(search(folder), exam=SimulatedExam(scenarios), tiers=())
    (folder / "solution.py").write_text("def largest(rows): return max(rows, key=lambda row: row[1])[0]")
    monkeypatch.setattr(paths, "solution", lambda _: folder / "solution.py")
    return task


def test_cases_from_a_pool_and_cases_in_a_file_of_the_kit_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = largest(tmp_path / "new", monkeypatch)
    assert list(known_cases.repeated(new)) == []
    pool = np.random.default_rng(3).permutation(10**4)[:75].reshape(3, 25)
    (found,) = known_cases.repeated(largest(tmp_path / "pool", monkeypatch, pool))
    assert found.startswith("only 0 of the 4 test cases of a draw are new")
    other: Any = kinds.examiner(new, "a draw").given[0].arguments[0]
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "honest.json").write_text(json.dumps({"rows": [[name] * 3 for name, _ in other]}))
    assert list(known_cases.in_files([new], kit)) == []
    other = [[f"function_{name}", number] for name, number in other]  # the names differ in each draw
    for name, text in (("data.json", json.dumps({"recorded": [other]})), ("data.py", f"KNOWN = ({other}, 3)\n")):
        (kit / name).write_text(text)
        assert list(known_cases.in_files([new], kit)) == [f"{name} contains a test case of {new.full_name}"]
        (kit / name).unlink()


def test_what_stands_outside_the_marks_is_kept_and_what_is_between_is_not() -> None:
    solution = "import math\n# BEGIN SOLUTION\nSECRET = 3\n# END SOLUTION\nprint(math.pi)\n"
    assert stub_of(solution) == "import math\nprint(math.pi)\n"
    double = "def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION\n"
    assert stub_of(double) == 'def double(x):\n    raise NotImplementedError("Write double.")\n'
    lines = double.replace("    return", "    # STUB: for x in xs:\n    # STUB:     print(x)\n    return")
    assert stub_of(lines) == "def double(x):\n    for x in xs:\n        print(x)\n"


def test_marks_that_do_not_fit_are_one_clear_sentence() -> None:
    for solution, message in (
        ("# BEGIN SOLUTION\n", "line 1 never ends"),
        ("x = 1\n# END SOLUTION\n", "Line 2 is '# END SOLUTION', but the mark before it must be '# BEGIN SOLUTION'"),
        ("if True:\n# BEGIN SOLUTION\n    x = 1\n# END SOLUTION\n", "would not be valid Python"),
    ):
        with pytest.raises(UsageError, match=message):
            stub_of(solution)


def test_the_committed_stub_is_the_one_generated_from_the_solution() -> None:
    for lesson in catalogue.load().lessons:
        solution = paths.solution(lesson).read_text(encoding="utf-8")
        stub = stub_of(solution)
        assert paths.stub(lesson).read_text(encoding="utf-8") == stub, lesson
        assert originals.listed(lesson) == originals.code_digest(stub), f"{lesson}: run `python -m grader stubs`"


def test_the_computation_of_right_answers_does_not_use_up_the_time_of_a_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = kit_leaks.drawn(next(task for task in catalogue.all_tasks() if task.name == "scores"), "a draw")
    monkeypatch.setattr(kit_leaks, "LONGEST_S", 0.1)
    assert kit_leaks.mistake_in_time(draw, lambda inputs: inputs[0]) != "it never ends"
