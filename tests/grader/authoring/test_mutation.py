"""`lint --mutants`: each kind of change is made once, and weak tasks are found by the mutants that they accept."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from commanding import grader
from small_tasks import BY_ROWS, negation, search

from grader.authoring import mutants as judging
from grader.authoring.mutants import Tally, tally
from grader.authoring.mutation import Mutant, mutants
from grader.commands import author
from grader.errors import UsageError
from grader.task import Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam
from grader.tasks.plain import PlainScenario
from grader.values import Value


def made(source: str, name: str = "f") -> list[Mutant]:
    return list(mutants(source, name, "file.py"))


def changed(body: str) -> set[tuple[str, str]]:
    """Return the changed text of each mutant, except for mutants that return earlier answers."""
    return {(each.was, each.now) for each in made(body) if "_answers" not in each.source}


EXPRESSIONS = {
    "x < y": {"x <= y", "x >= y"},
    "x in y": {"x not in y"},
    "x < y <= z": {"x <= y <= z", "x >= y <= z", "x < y < z", "x < y > z"},
    "x + y": {"x - y"},
    "x / y": {"x * y", "x // y"},
    "x // y": {"x / y"},
    "x and y": {"x or y"},
    "-x": {"x"},
    "7": {"8", "6"},
    "0": {"1", "-1"},
    "0.0": {"1.0"},
    "True": {"False"},
    "'text'": {"''"},
    "None": set(),
    "x if y else z": {"x", "z"},
    "min(x)": {"max(x)"},
    "sorted(x, key=y)": {"sorted(x)", "list(x)"},
    "x.sum(dim=y)": {"x.sum()"},
    "[a for a in x if a]": {"[a for a in x]"},
    "x[y:z]": {"x[:z]", "x[y:]"},
    "x.double()": {"x.float()"},
    "x.to('float32')": {"x.to('float64')"},
    "float(x)": set(),
    "f'{x} and {y:.3f}'": set(),
    "f'{x + y} and'": {"f'{x - y} and'"},
    "lambda a: a < x": {"lambda a: a <= x", "lambda a: a >= x"},
}


def test_an_expression_is_changed_in_each_way() -> None:
    for text, others in EXPRESSIONS.items():
        found = changed(f"def f(x, y, z):\n    return {text}")
        assert {now.removeprefix("return ") for _, now in found} == others, text


STATEMENTS: dict[str, dict[str, set[str]]] = {
    "if x:\n  return y\n return z": {"if x:": {"if True:", "if False:"}, "return y": {"(dropped)"}},
    "while x:\n  x = y\n return x": {"while x:": {"while False:", "(ends after its first round)"}},
    "for a in x:\n  y.append(a)\n return y": {"for a in x:": {"(dropped)", "(ends after its first round)"}},
    "for a in x:\n  if a:\n   continue\n  y(a)": {"continue": {"break"}},
    "for a in x:\n  if a:\n   break\n  y(a)": {"break": {"(dropped)"}},
    "for a in x:\n  y(a)\n z(x)\n return x": {
        "for a in x:": {"(dropped)", "(ends after its first round)", "(its first round ends with return x)"}
    },
    "x += y\n return x": {"x += y": {"x -= y", "(dropped)"}},
    "y(x)\n return x": {"y(x)": {"(dropped)"}, "return x": set()},
    "x = y\n return x": {"x = y": {"(dropped)"}},
    "a = y\n return a": {"a = y": set()},
    "if x:\n  raise ValueError('no', 1)\n return y": {"raise ValueError('no', 1)": {"(dropped)"}},
    "assert x < 2, 'no'\n return x": {"assert x < 2, 'no'": set()},
}


def test_a_statement_is_changed_in_each_way() -> None:
    for body, others in STATEMENTS.items():
        found = changed(f"def f(x, y, z):\n {body}")
        assert {was: {now for before, now in found if before == was} for was in others} == others, body


def test_docstrings_annotations_decorators_and_imports_stay() -> None:
    source = '''
"""About 1."""
import torch
from a import b

@decorated("float64", level=2)
def f(x: "int" = 3) -> "float64":
    """Return 1 + 1."""
    y: list[2] = x
    return y
'''
    assert changed(source) == {
        ("def f(x: 'int'=3) -> 'float64':", "def f(x: 'int'=4) -> 'float64':"),
        ("def f(x: 'int'=3) -> 'float64':", "def f(x: 'int'=2) -> 'float64':"),
    }


def test_what_the_function_uses_is_changed_and_what_it_does_not_use_is_not() -> None:
    source = (
        "LIMIT = 5\nOTHER = 7\ndef helper(x):\n return x < LIMIT\n"
        "def f(x):\n return helper(x)\ndef g(x):\n return x + 1"
    )
    assert changed(source) == {
        ("LIMIT = 5", "LIMIT = 6"),
        ("LIMIT = 5", "LIMIT = 4"),
        ("return x < LIMIT", "return x <= LIMIT"),
        ("return x < LIMIT", "return x >= LIMIT"),
    }


def test_a_mutant_may_return_its_first_answer_for_ever_or_one_for_each_length() -> None:
    storing = [each for each in made("def f(x):\n    return list(x)\n") if "_answers" in each.source]
    answers = []
    for each in storing:
        names: dict[str, object] = {}
        exec(each.source, names)  # noqa: S102 - the mutant is made here
        f = names["f"]
        assert callable(f)
        answers.append([f([1]), f([2, 3]), f([4])])
    assert answers == [[[1], [1], [1]], [[1], [2, 3], [1]]]


PASSED = "def passed(points):\n    return points >= 5\n"
COUNTED = "def passed(points):\n    n = 0\n    while n < points:\n        n += 1\n    return n >= 5\n"


@dataclass
class Points(PlainScenario):
    """An exam that gives 10 points and is passed with 5."""

    points: int
    function: str = "passed"
    title: str = "some points"
    cost: float = 1.0
    plain_cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (self.points,)

    def judge(self, answer: Value) -> Mismatch | None:
        right = self.points >= 5
        return None if answer is right else Mismatch(str(right), str(answer))


def one(rng: np.random.Generator) -> Sequence[Scenario]:
    return [Points(int(rng.integers(0, 10)))]


def every(_: np.random.Generator) -> Sequence[Scenario]:
    return [Points(points) for points in range(11)]


def task(scenarios: Callable[[np.random.Generator], Sequence[Scenario]]) -> Task:
    return replace(search(Path()), name="passed", exam=SimulatedExam(scenarios), tiers=())


def found(task: Task, source: str) -> Tally:
    return tally(task, {"right.py": source})


def test_a_task_of_one_case_has_holes_and_each_is_shown_with_a_case_that_finds_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judging, "right_answers", lambda _: {"right.py": PASSED})
    for scenarios, code in ((one, 1), (every, 0)):
        monkeypatch.setattr(judging, "tasks", lambda _, scenarios=scenarios: [task(scenarios)])
        assert author.lint_exercises(changed="passed") == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("✓ 00_small.passed: 6 mutants, 0 equivalent, 6 rejected")
    done = found(task(one), PASSED)
    hole, case = done.survivors[0]
    assert (hole.file, hole.line, hole.was) == ("right.py", 2, "return points >= 5")
    assert re.fullmatch(r"some points, passed\(\d\): expected (True, got False|False, got True)", case)
    lines = list(done.lines())
    assert lines[0].startswith(f"✗ 00_small.passed: {done.tried} mutants, ")
    assert lines[0].endswith(f"{100 * done.share:.1f} % of those that change an answer")
    at = lines.index(f"    now  {hole.now}")
    assert lines[at - 2 : at + 2] == [
        "  right.py:2",
        "    was  return points >= 5",
        f"    now  {hole.now}",
        f"    a case that shows the change: {case}",
    ]


def test_mutants_that_never_end_are_ended_and_count_as_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "ADDED_S", 0.1)
    done = found(task(every), COUNTED)
    assert done.survivors == ()
    assert done.rejected >= 10


@dataclass
class Rarely(Points):
    """A scenario that sometimes gives a false answer, so that right code is wrong."""

    lies: bool = False

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (SimulatedFunction("ask"),)

    def call(self, name: str, _: Sequence[Value]) -> Value:
        del name
        return self.points - 10 * self.lies


def asking(luck: float) -> Task:
    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        lies = bool(rng.random() < luck)
        return [Rarely(points, lies=lies) for points in range(11)]

    return task(scenarios)


def test_a_draw_in_which_right_code_is_wrong_says_nothing_of_its_mutants() -> None:
    done = found(asking(luck=0.3), "def passed(ask):\n    points = ask()\n    unused = 3\n    return points >= 5\n")
    assert done.survivors == ()
    assert done.equivalent >= 2


def test_a_measuring_mutant_that_is_wrong_in_several_draws_survives() -> None:
    def scenarios(rng: np.random.Generator) -> Sequence[Scenario]:
        return [Rarely(int(rng.integers(3, 7)))]

    done = found(task(scenarios), "def passed(ask):\n    return ask() >= 5\n")
    assert [each.now for each, _ in done.survivors] == ["return ask() >= 4"]


def test_a_right_answer_that_is_wrong_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"right\.py is wrong without any change: some points, passed\(5\)"):
        found(task(every), "def passed(points):\n    return points > 5\n")


def one_row(rng: np.random.Generator) -> list[Inputs]:
    return [(rng.standard_normal((1, 6)).astype(np.float32),)]


def timed_row(rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield one_row(rng)[0]


def test_of_tensors_variations_of_the_cases_show_what_these_do_not() -> None:
    plain = negation(Path())
    assert isinstance(plain.exam, TensorExam)
    weak = replace(plain, exam=replace(plain.exam, cases=one_row, timed=timed_row))
    cases = {each.now: case for each, case in found(weak, BY_ROWS).survivors}
    assert "transposed: x of shape (6, 1), float32" in cases["(ends after its first round)"]
    assert not [now for now in cases if now in {each.now for each, _ in found(plain, BY_ROWS).survivors}]


def test_a_mutant_that_changes_its_inputs_is_rejected() -> None:
    source = "def negate(x):\n    x = x.clone()\n    x.neg_()\n    return x\n"
    done = found(negation(Path()), source)
    assert done.survivors == ()
    assert done.equivalent == 0


def test_a_usage_error_says_why() -> None:
    for target, said in (
        ("nonsense", "There is no exercise or task 'nonsense'"),
        ("checksum", "is solved in C, but --mutants changes only Python"),
    ):
        with pytest.raises(UsageError, match=said):
            judging.tasks(target)
    for options in ({"lessons": ["05"]}, {"record": True}):
        with pytest.raises(UsageError, match="--mutants TARGET cannot be combined with lessons"):
            author.lint_exercises(changed="04", **options)


@pytest.mark.long
def test_an_exercise_of_the_kit_rejects_its_mutants() -> None:
    ended = grader("lint", "--mutants", "15.expand")
    assert ended.code == 0, ended.out
    assert ended.out.startswith("✓ 15_instruction_suite.expand: ")
