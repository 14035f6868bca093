"""Each kind of small change of a function is made once."""

from grader.authoring.mutation import mutants


def changed(body: str) -> set[tuple[str, str]]:
    return {(each.was, each.now) for each in mutants(body, "f", "file.py")}


EXPRESSIONS = {
    "x < y": {"x <= y", "x >= y"},
    "x < y <= z": {"x <= y <= z", "x >= y <= z", "x < y < z", "x < y > z"},
    "x + y": {"x - y"},
    "x and y": {"x or y"},
    "-x": {"x"},
    "7": {"8", "6"},
    "0": {"1", "-1"},
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
    "float(x)": set(),
    "f'{x} and {y:.3f}'": set(),
    "f'{x + y} and'": {"f'{x - y} and'"},
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
    "for a in x:\n  y(a)\n z(x)\n return x": {
        "for a in x:": {"(dropped)", "(ends after its first round)", "(its first round ends with return x)"}
    },
    "x += y\n return x": {"x += y": {"x -= y", "(dropped)"}},
    "x = y\n return x": {"x = y": {"(dropped)"}},
    "a = y\n return a": {"a = y": set()},
    "if x:\n  raise ValueError('no', 1)\n return y": {"raise ValueError('no', 1)": {"(dropped)"}},
    "assert x < 2, 'no'\n return x": {"assert x < 2, 'no'": set()},
}


def test_a_statement_is_changed_in_each_way() -> None:
    for body, others in STATEMENTS.items():
        found = changed(f"def f(x, y, z):\n {body}")
        assert {was: {now for before, now in found if before == was} for was in others} == others, body
