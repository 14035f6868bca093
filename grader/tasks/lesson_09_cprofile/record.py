"""Record the call trees for the task `own_time` again: `python -m grader.tasks.lesson_09_cprofile.record`.

Each program runs under `sys.setprofile`, which calls a function at every call and return of a Python function. All
calls of a function along the same path in the tree form one node.
"""

import ast
import copy
import json
import platform
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

from .own_time import FOLDER, TREES, Node

MOST_NODES: Final = 320
"""At most this number of nodes of a call tree is recorded: the first ones."""


@dataclass(slots=True)
class Place:
    """A node of a call tree: a function that was called along one path."""

    name: str
    calls: int = 0
    own_ns: int = 0
    called: dict[str, "Place"] = field(default_factory=dict)

    def nodes(self, depth: int = 0) -> Iterator[Node]:
        """Yield a row for this node and for each node below it in the call tree.

        A caller comes before the functions that it calls.
        """
        yield depth, self.name, self.calls, max(1, round(self.own_ns / 1000))
        for place in self.called.values():
            yield from place.nodes(depth + 1)


def traced(program: Callable[[], object]) -> Place:
    """Run a program and return the root of its call tree."""
    root = Place("<root>", 1)
    open_places, marked_ns = [root], time.perf_counter_ns()

    def on_event(frame: FrameType, event: str, _: object) -> None:
        nonlocal marked_ns
        now_ns = time.perf_counter_ns()
        open_places[-1].own_ns += now_ns - marked_ns
        if event == "call":
            name = f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"
            place = open_places[-1].called.setdefault(name, Place(name))
            place.calls += 1
            open_places.append(place)
        elif event == "return" and len(open_places) > 1:
            open_places.pop()
        marked_ns = time.perf_counter_ns()

    sys.setprofile(on_event)
    try:
        program()
    finally:
        sys.setprofile(None)
    return root


def programs() -> dict[str, Callable[[], object]]:
    """Return small functions, by name, that call recursive code of the standard library."""
    source = (FOLDER / "own_time.py").read_text(encoding="utf-8")
    nested = {str(i): [{"a": (i, [j])} for j in range(4)] for i in range(10)}
    tree = ast.parse(source)
    pattern = r"(?:(a|b(c|d)*)+e?|[f-h]{2,3}(?=i))*|(?P<name>x(y|z(w|v)))(?(name)p|q)"

    def compiled() -> None:
        re.purge()  # otherwise the compiled pattern would come from the cache
        re.compile(pattern)

    return {
        "ast.unparse": lambda: ast.unparse(tree),
        "copy.deepcopy": lambda: copy.deepcopy(nested),
        "re.compile": compiled,
        "textwrap.fill": lambda: textwrap.fill(source, 60),
    }


def record() -> dict[str, list[Node]]:
    """Return the call tree of every program, by name."""
    found = {}
    for name, program in programs().items():
        program()  # so that imports and other work of a first call are not traced
        (called,) = list(traced(program).called.values())[:1]
        found[name] = list(called.nodes())[:MOST_NODES]
    return found


def as_text(found: dict[str, list[Node]]) -> str:
    """Return the recording as JSON, one node per line, with the version of Python that made it."""
    made = f"Python {platform.python_version()}; {platform.machine()}; {datetime.now(UTC):%Y-%m-%d}"
    trees = [
        f'"{name}": [\n' + ",\n".join(f" {json.dumps(node)}" for node in nodes) + "\n]" for name, nodes in found.items()
    ]
    return f'{{"made by": {json.dumps(made)}, "trees": {{\n' + ",\n".join(trees) + "\n}}\n"


if __name__ == "__main__":
    TREES.write_text(as_text(record()), encoding="utf-8")
    sys.stdout.write(f"{TREES}\n")
