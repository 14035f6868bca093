"""Mutants of a source text: each kind of change is made exactly once, and nothing else is changed."""

import ast

import pytest

from grader.authoring.mutation import Mutant, mutants


def changed(body: str, *, name: str = "f") -> set[tuple[str, str]]:
    """Return the changed text of each mutant, except for mutants that return earlier answers."""
    return {(each.was, each.now) for each in made(body, name) if "_remembering" not in each.source}


def made(source: str, name: str = "f") -> list[Mutant]:
    return list(mutants(source, name, "file.py"))


def expression(text: str) -> set[str]:
    """Return the replacements of an expression in the mutants of a function that returns it."""
    return {now.removeprefix("return ") for _, now in changed(f"def f(x, y, z):\n    return {text}")}


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("x < y", {"x <= y", "x >= y"}),
        ("x <= y", {"x < y", "x > y"}),
        ("x > y", {"x >= y", "x <= y"}),
        ("x >= y", {"x > y", "x < y"}),
        ("x == y", {"x != y"}),
        ("x is y", {"x is not y"}),
        ("x in y", {"x not in y"}),
        ("x < y <= z", {"x <= y <= z", "x >= y <= z", "x < y < z", "x < y > z"}),
        ("x + y", {"x - y"}),
        ("x * y", {"x / y"}),
        ("x / y", {"x * y", "x // y"}),
        ("x // y", {"x / y"}),
        ("x % y", {"x // y"}),
        ("x ** y", {"x * y"}),
        ("x << y", {"x >> y"}),
        ("x & y", {"x | y"}),
        ("x ^ y", {"x & y"}),
        ("x and y", {"x or y"}),
        ("-x", {"x"}),
        ("not x", {"x"}),
        ("~x", {"x"}),
        ("7", {"8", "6"}),
        ("0", {"1", "-1"}),
        ("0.5", {"1.0", "0.25"}),
        ("0.0", {"1.0"}),
        ("True", {"False"}),
        ("'text'", {"''"}),
        ("b'text'", {"b''"}),
        ("None", set()),
        ("''", set()),
        ("x if y else z", {"x", "z"}),
        ("min(x)", {"max(x)"}),
        ("x.amax(y)", {"x.amin(y)"}),
        ("any(x)", {"all(x)"}),
        ("sorted(x, key=y)", {"sorted(x)", "list(x)"}),
        ("x.sum(dim=y)", {"x.sum()"}),
        ("[a for a in x if a]", {"[a for a in x]"}),
        ("{a: a for a in x if a if y}", {"{a: a for a in x if y}", "{a: a for a in x if a}"}),
        ("x[y:z]", {"x[:z]", "x[y:]"}),
        ("x.double()", {"x.float()"}),
        ("torch.float64", {"torch.float32"}),
        ("torch.int64", {"torch.int32"}),
        ("x.to('float32')", {"x.to('float64')"}),
        ("float(x)", set()),
        ("f'{x} and {y:.3f}'", set()),
        ("f'{x + y} and'", {"f'{x - y} and'"}),
        ("lambda a: a < x", {"lambda a: a <= x", "lambda a: a >= x"}),
    ],
)
def test_an_expression_is_changed_in_each_way(text: str, others: set[str]) -> None:
    assert expression(text) == others


@pytest.mark.parametrize(
    ("body", "others"),
    [
        ("if x:\n  return y\n return z", {"if x:": {"if True:", "if False:"}, "return y": {"(dropped)"}}),
        ("while x:\n  x = y\n return x", {"while x:": {"while False:", "(ends after its first round)"}}),
        ("for a in x:\n  y.append(a)\n return y", {"for a in x:": {"(dropped)", "(ends after its first round)"}}),
        ("for a in x:\n  if a:\n   continue\n  y(a)", {"continue": {"break"}}),
        ("for a in x:\n  if a:\n   break\n  y(a)", {"break": {"(dropped)"}}),
        (
            "for a in x:\n  y(a)\n z(x)\n return x",
            {"for a in x:": {"(dropped)", "(ends after its first round)", "(its first round ends with return x)"}},
        ),
        ("x += y\n return x", {"x += y": {"x -= y", "(dropped)"}}),
        ("y(x)\n return x", {"y(x)": {"(dropped)"}, "return x": set()}),
        ("x = y\n return x", {"x = y": {"(dropped)"}}),
        ("a = y\n return a", {"a = y": set()}),
        ("if x:\n  raise ValueError('no', 1)\n return y", {"raise ValueError('no', 1)": {"(dropped)"}}),
        ("assert x < 2, 'no'\n return x", {"assert x < 2, 'no'": set()}),
    ],
)
def test_a_statement_is_changed_in_each_way(body: str, others: dict[str, set[str]]) -> None:
    found = changed(f"def f(x, y, z):\n {body}")
    assert {was: {now for before, now in found if before == was} for was in others} == others


def test_patterns_and_bodies_of_a_match_are_changed() -> None:
    source = "def f(x):\n match x:\n  case '+':\n   return x + 1\n  case _ if x < 1:\n   return x"
    assert changed(source) >= {
        ("case '+':", "case '':"),
        ("return x + 1", "return x - 1"),
        ("case _ if x < 1:", "case _ if x <= 1:"),
    }


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


def test_methods_of_a_class_that_is_used_are_changed() -> None:
    source = (
        "class Box:\n size: int = 0\n def grow(self):\n  self.size += 1\n"
        "def f():\n box = Box()\n box.grow()\n return box.size"
    )
    assert {("self.size += 1", "self.size -= 1"), ("box.grow()", "(dropped)")} <= changed(source)


def test_each_mutant_differs_in_one_place_and_compiles_and_comes_once() -> None:
    source = "def f(x):\n total = 0\n for a in x:\n  if a > 1 and a != 5:\n   total += a\n return total\n"
    plain, found = ast.unparse(ast.parse(source)), made(source)
    assert len({each.source for each in found}) == len(found)
    for each in found:
        compile(each.source, "mutant.py", "exec")
        assert each.source != plain
        assert each.file == "file.py"
        assert each.was != each.now


def test_a_mutant_names_the_line_of_its_change() -> None:
    source = "# a comment\n\ndef f(x):\n    # another\n    return (x +\n            1)\n"
    assert {(each.line, each.now) for each in made(source)} >= {(5, "return x - 1"), (6, "return x + 2")}


def test_a_long_line_is_cut_down_to_what_differs() -> None:
    source = f"def f(x):\n    return x.{'a' * 200} < x.{'b' * 200}\n"
    (one, *_) = (each for each in made(source) if "<=" in each.now)
    assert one.was.startswith("…")
    assert " < " in one.was
    assert " <= " in one.now
    assert len(one.now) < 100


def test_a_mutant_may_return_its_first_answer_for_ever_or_one_for_each_length() -> None:
    remembering = [each for each in made("def f(x):\n    return list(x)\n") if "_remembering" in each.source]
    answers = []
    for each in remembering:
        names: dict[str, object] = {}
        exec(each.source, names)  # noqa: S102 - the mutant is made here
        f = names["f"]
        assert callable(f)
        answers.append([f([1]), f([2, 3]), f([4])])
    assert answers == [[[1], [1], [1]], [[1], [2, 3], [1]]]


def test_a_function_that_the_source_lacks_has_no_mutants() -> None:
    assert made("def g(x):\n    return x + 1\n") == []


def test_what_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        made("def f(:")
