"""Find test cases whose answers a student could know before the grading: from other draws, or from a file of the kit.

A student can draw test cases with the code of the kit, and keep them with their right answers in a table. Such a table
must not answer new test cases, also if it ignores names, or the sizes of numbers: names are compared by the order of
their first occurrence, and so are numbers, or by their ranks. Tasks that measure are left out, because their inputs
show nothing.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Final

from grader import kinds, paths
from grader.kinds import simulated
from grader.kinds.examiner import Examiner
from grader.task import Task, TensorExam, ValueExam
from harness import syntax

DRAWS: Final = 20
"""The number of draws that `lint` compares with each other."""

MOST_REPEATED: Final = 1 / 3
"""At most this share of the rows of a draw may also be in other draws."""

DISTINCTIVE: Final = 100
"""A row is compared if it has two numbers of at least this size. Smaller numbers are often equal by chance."""

LEAST_WORDS: Final = 20
"""Values with fewer words than this are not searched for in files. Short ones are often equal by chance."""

Keyed = tuple[Hashable, Hashable]
"""A test case without its names, or a row of it, and its right answer."""

WORD: Final = re.compile(r"\w+")


def repeated(task: Task) -> Iterator[str]:
    """Yield a sentence if a table of other draws would have the answers of all test cases, or most of their rows."""
    draws = [[*_cases(task, "draw 0")]]
    if not draws[0]:
        return
    draws += [[*_cases(task, f"draw {number}")] for number in range(1, DRAWS)]
    forgiven = getattr(task.exam, "forgiven", 0)
    ways: tuple[Callable[[Any, Any], Keyed], ...] = (_keyed, partial(_keyed, exact=False), _ranked)
    least = min(min(map(len, _only_once([[keyed(*case) for case in draw] for draw in draws]))) for keyed in ways)
    if least <= forgiven:
        yield f"only {least} of the {len(draws[0])} test cases of a draw are new: other draws have the others"
    rows: list[list[Keyed]] = [
        [(row, None) for row in {*chain.from_iterable(_rows(case) for case, _ in draw)}] for draw in draws
    ]
    shares = sorted(1 - len(new) / len(draw) for draw, new in zip(rows, _only_once(rows), strict=True) if draw)
    if shares and shares[len(shares) // 2] > MOST_REPEATED:
        yield f"{shares[len(shares) // 2]:.0%} of the rows of its test cases are also in other draws"


def in_files(tasks: Iterable[Task], folder: Path) -> Iterator[str]:
    """Yield a sentence for each file below `folder` that contains a test case of a task."""
    held = defaultdict[Hashable, set[Path]](set)
    for path in sorted(folder.rglob("*")):
        for value in _values(path):
            for shape in _searched(value):
                held[shape].add(path.relative_to(folder))
    for task in (task for task in tasks if not isinstance(task.exam, TensorExam)):
        shapes = [shape for case, _ in _cases(task, "a draw", answers=False) for shape in _searched(case)]
        found = {path for shape in shapes for path in held.get(shape, ())}
        yield from (f"{path} contains a test case of {task.full_name}" for path in sorted(found))


def _cases(task: Task, seed: str, *, answers: bool = True) -> Iterator[tuple[Any, Any]]:
    draw: Examiner[Any] = kinds.examiner(task, seed, timed=int(isinstance(task.exam, ValueExam)))
    if task.exam.in_c or draw.measures:
        return
    solver = draw.solver(paths.solution(task.lesson).read_text(encoding="utf-8")) if answers else None
    for given in draw.given:
        if isinstance(given, tuple):
            yield [blake2b(repr(array.dtype).encode() + array.tobytes()).digest() for array in given], None
        else:
            yield simulated.arguments_here(given), simulated.as_plain(solver(given)) if solver else None


def _only_once(draws: list[list[Keyed]]) -> Iterator[list[Keyed]]:
    """Yield the items (key, answer) of each draw that cannot be known from the others: key is new, or ambiguous."""
    known = defaultdict[Hashable, dict[Hashable, set[int]]](lambda: defaultdict(set))
    for number, draw in enumerate(draws):
        for key, answer in draw:
            known[key][answer].add(number)
    for number, draw in enumerate(draws):
        yield [item for item in draw if {a for a, by in known[item[0]].items() if by != {number}} != {item[1]}]


def _keyed(case: Any, answer: Any, exact: bool = True) -> Keyed:
    names: dict[Any, int] = {}
    return _shape(case, names, exact), _relative(answer, names)


def _ranked(case: Any, answer: Any) -> Keyed:
    def changed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: changed(one) for key, one in value.items()}
        return [*map(changed, value)] if isinstance(value, list | tuple) else ranks.get(value, value)

    ranks = {number: rank for rank, number in enumerate(sorted({*_numbers(case)}))}
    return _keyed(changed(case), changed(answer))


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, list | tuple | Mapping):
        yield from chain.from_iterable(map(_numbers, value.values() if isinstance(value, Mapping) else value))
    elif type(value) in {int, float}:
        yield value


def _shape(value: Any, names: dict[Any, int], exact: bool) -> Hashable:
    def place(word: Any) -> int:
        return names.setdefault(word, len(names))

    if isinstance(value, str):
        return WORD.sub(lambda word: word[0] if exact and word[0].isdigit() else f"<{place(word[0])}>", value)
    if isinstance(value, Mapping):
        return tuple((key, _shape(one, names, exact)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(_shape(one, names, exact) for one in value)
    return value if exact or type(value) not in {int, float} else place(value)


def _relative(answer: Any, names: Mapping[Any, int]) -> Hashable:
    if isinstance(answer, str):
        return WORD.sub(lambda word: f"<{names.get(word[0], word[0])}>", answer)
    if isinstance(answer, Mapping):
        return tuple((_relative(key, names), _relative(one, names)) for key, one in answer.items())
    if isinstance(answer, list | tuple):
        return tuple(_relative(one, names) for one in answer)
    return ("input", names[answer]) if type(answer) in {int, float} and answer in names else answer


def _rows(value: Any) -> Iterator[tuple[float, ...]]:
    numbers = [float(word) for word in WORD.findall(value) if word.isdecimal()] if isinstance(value, str) else []
    if isinstance(value, list | tuple):
        numbers = [float(one) for one in value if type(one) in {int, float}]
        yield from chain.from_iterable(map(_rows, value))
    large = tuple(number for number in numbers if abs(number) >= DISTINCTIVE)
    if len(large) > 1:
        yield large


def _values(path: Path) -> Iterator[Any]:
    with suppress(ValueError, SyntaxError):
        if path.suffix in {".json", ".ipynb"}:
            yield json.loads(path.read_bytes())
        elif path.suffix == ".jsonl":
            yield from map(json.loads, path.read_bytes().splitlines())
        elif path.suffix == ".py":
            yield from _literals(syntax.parse(path.read_text(encoding="utf-8")))


def _literals(node: ast.AST) -> Iterator[Any]:
    """Yield the value of each list, tuple and dict that consists of constants, without those inside of another one."""
    if isinstance(node, ast.List | ast.Tuple | ast.Dict):
        with suppress(ValueError):
            yield ast.literal_eval(node)
            return
    for child in ast.iter_child_nodes(node):
        yield from _literals(child)


def _searched(value: Any) -> Iterator[Hashable]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _searched(one)
        if len(words := [*_words(value)]) >= LEAST_WORDS:
            names: dict[Any, int] = {}
            yield _shape(value, names, True)
            order = tuple(names[word] for word in words if word in names)
            if len({*order}) < len(order):  # every text of different words has the same order
                yield order


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (word for word in WORD.findall(value) if not word.isdigit())
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_words, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_words, value))
