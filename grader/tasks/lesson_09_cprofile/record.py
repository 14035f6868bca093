"""Record the call trees for the task `own_time` again: `python -m grader.tasks.lesson_09_cprofile.record`.

Each program runs under `sys.setprofile`, which calls a function at every call and return of a Python function. All
calls of a function along the same path in the tree form one node.
"""

import ast
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from grader.tasks import recordings

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
    tree = ast.parse(source)
    return {"ast.unparse": lambda: ast.unparse(tree), **recordings.library_programs(source)}


def record() -> dict[str, list[Node]]:
    """Return the call tree of every program, by name."""
    found = {}
    for name, program in programs().items():
        program()  # so that imports and other work of a first call are not traced
        (called,) = list(traced(program).called.values())[:1]
        found[name] = list(called.nodes())[:MOST_NODES]
    return found


if __name__ == "__main__":
    recordings.write(TREES, record())
