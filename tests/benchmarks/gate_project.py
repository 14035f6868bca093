"""A small project with ten benchmarks in a git repository, and random changes of it whose true costs are known.

A change changes nothing that costs time: it adds a comment or an unused function, renames a local variable, swaps two
functions, or makes a docstring longer. Or it makes one benchmark slower: each benchmark passes a number of times
through a loop with equal work, and this number grows. `instructions` checks the true ratio by counting.
"""

import ast
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Final

SOURCES: Final = Path(__file__).with_name("small_project")
WORDS: Final = ("a long word to compare", "another word to compare")
BENCHMARKS: Final = {
    **dict.fromkeys(("counting", "ordering", "pipeline"), "values"),
    **dict.fromkeys(("report", "log_lines", "records", "parsing"), "texts"),
    **dict.fromkeys(("objects", "distance", "recursion"), "shapes"),
}
"""The function of each benchmark, with its module in the package `work`. A call takes 0.05 ms to 0.3 s."""

_PEDANTIC: Final = "distance"  # the benchmark that uses `benchmark.pedantic` and has arguments
_PASSES: Final = r"(def {}\(.*?repeat\(None, )(\d+)"
_TEXTS: Final = ("This is checked by the caller.", "See the notes of the last release.", "The order does not matter.")
_IDENTITY: Final = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A change of a module: its kind, and the new source. `slowed` is the benchmark that is slower, or ""."""

    kind: str
    module: str
    source: str
    slowed: str = ""

    def write(self, project: Path) -> None:
        (project / "work" / f"{self.module}.py").write_text(self.source, encoding="utf-8")


def call_of(name: str) -> str:
    """Return the source of a call of a benchmark's function."""
    return f"{BENCHMARKS[name]}.{name}({', '.join(map(repr, WORDS)) if name == _PEDANTIC else ''})"


def tests() -> str:
    """Return the source of the tests, which use the fixture of pytest-benchmark."""
    usual = "def test_{0}(benchmark):\n    assert benchmark({1}.{0}) > 0"
    pedantic = "def test_{0}(benchmark):\n    assert benchmark.pedantic({1}.{0}, {2}, rounds=20) > 0"
    each = ((pedantic if name == _PEDANTIC else usual).format(name, BENCHMARKS[name], WORDS) for name in BENCHMARKS)
    return "\n\n\n".join(("from work import shapes, texts, values", *each, ""))


def commit(project: Path) -> None:
    for arguments in (("add", "-A"), ("commit", "-q", "-m", "A version")):
        subprocess.run(["git", *_IDENTITY, *arguments], cwd=project, check=True)


def make(project: Path, files: Mapping[str, str]) -> Path:
    """Make the project with more files, as the only commit of the branch `main`, and return its folder."""
    copytree(SOURCES, project, ignore=lambda *_: ["__pycache__"])
    usual = {"pytest.ini": "[pytest]\npythonpath = .\n", ".gitignore": "__pycache__/\n.*\n"}
    for name, text in {**usual, **files}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", *_IDENTITY, "init", "-q"], cwd=project, check=True)
    commit(project)
    return project


def random_change(seed: object, slower: float) -> SourceChange:
    """Return a change that makes one random benchmark slower by `slower`, or a change of a random kind that does not
    change the cost if `slower` is 0.
    """
    rng = random.Random(str(seed))
    if slower:
        return slow_down(rng.choice(list(BENCHMARKS)), slower)
    kind, module = rng.choice(list(KINDS)), rng.choice(sorted(set(BENCHMARKS.values())))
    source = KINDS[kind](_source(module), rng)
    compile(source, module, "exec")
    return SourceChange(kind, module, source)


def slow_down(name: str, slower: float) -> SourceChange:
    def more(match: re.Match[str]) -> str:
        passes = int(match[2]) * (1 + slower)
        assert abs(passes - round(passes)) < 1e-6, f"{name} cannot be slower by exactly {slower}"
        return f"{match[1]}{round(passes)}"

    module = BENCHMARKS[name]
    source, count = re.subn(_PASSES.format(name), more, _source(module), count=1, flags=re.DOTALL)
    assert count == 1
    return SourceChange("slower", module, source, name)


def instructions(project: Path, name: str) -> int:
    """Return the instructions of a call, as Valgrind counts them: those of ten calls minus those of five, by five."""
    counts: list[int] = []
    for calls in (5, 10):
        code = f"from work import {BENCHMARKS[name]}\nfor _ in range({calls}): {call_of(name)}"
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*tool, sys.executable, "-S", "-c", code],
            cwd=project,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        counts += map(int, re.findall(r"Collected : (\d+)", done.stderr))
    return (counts[1] - counts[0]) // 5


def _source(module: str) -> str:
    return (SOURCES / "work" / f"{module}.py").read_text(encoding="utf-8")


def _functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _replaced(source: str, function: ast.FunctionDef, text: str) -> str:
    lines = source.splitlines(keepends=True)
    return "".join([*lines[: function.lineno - 1], text, *lines[function.end_lineno :]])


def _text(source: str, function: ast.FunctionDef) -> str:
    return "".join(source.splitlines(keepends=True)[function.lineno - 1 : function.end_lineno])


def _comment(source: str, rng: random.Random) -> str:
    statement = rng.choice([each for function in _functions(source) for each in function.body])
    lines = source.splitlines(keepends=True)
    lines.insert(statement.lineno - 1, f"{' ' * statement.col_offset}# {rng.choice(_TEXTS)}\n")
    return "".join(lines)


def _unused_function(source: str, rng: random.Random) -> str:
    at, other = rng.choice(_functions(source)), rng.choice(_functions(source))
    unused = _text(source, other).replace(f"def {other.name}(", f"def old_{other.name}(")
    return _replaced(source, at, f"{unused}\n\n{_text(source, at)}")


def _swapped_functions(source: str, rng: random.Random) -> str:
    first, second = sorted(rng.sample(_functions(source), 2), key=lambda function: function.lineno)
    return _replaced(_replaced(source, second, _text(source, first)), first, _text(source, second))


def _longer_docstring(source: str, rng: random.Random) -> str:
    function = rng.choice(_functions(source))
    head, _, rest = _text(source, function).partition('."""\n')
    more = " ".join(rng.choices(_TEXTS, k=3))
    return _replaced(source, function, f'{head}.\n\n    {more}\n    """\n{rest}')


def _renamed_variable(source: str, rng: random.Random) -> str:
    found = [
        (function, node.id)
        for function in _functions(source)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id != "_"
    ]
    function, old = rng.choice(found)
    lines, new = source.splitlines(keepends=True), f"{old}_{rng.choice(('found', 'here', 'now'))}"
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == old]
    for node in sorted(names, key=lambda name: (name.lineno, name.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + new + line[node.end_col_offset :]
    return "".join(lines)


KINDS: Final[dict[str, Callable[[str, random.Random], str]]] = {
    "a comment": _comment,
    "an unused function": _unused_function,
    "two swapped functions": _swapped_functions,
    "a longer docstring": _longer_docstring,
    "a renamed variable": _renamed_variable,
}
