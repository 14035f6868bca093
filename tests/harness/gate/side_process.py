"""Start a worker for a test, and exchange messages with it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.gate import worker
from harness.processes.launcher import KIT, Child

SLOW_TO_IMPORT = ("-p", "no:schemathesis", "-p", "no:hypothesispytest")
"""Options that leave out the plug-ins of these tests' own environment that take 1.5 s."""


class Side:
    """A worker, and what it answered when it had collected the tests. `before` begins its command."""

    def __init__(self, folder: Path, *arguments: str, before: Sequence[str] = ()) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment |= {"PYTHONPATH": str(KIT), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*before, sys.executable, "-P", "-m", worker.__name__, *SLOW_TO_IMPORT, *arguments]
        self.child = Child(command, environment, folder=folder)
        self.kind, self.collected = self.child.receive(60)

    def ask(self, kind: bytes, **body: object) -> tuple[bytes, dict[str, Any]]:
        self.child.send(kind, body)
        return self.child.receive(60)

    def start(self, test: str, following: str | None = None) -> dict[str, Any]:
        kind, answer = self.ask(worker.ITEM, item=test, next=following)
        assert kind == worker.DONE, answer
        return answer

    def block(self, calls: int) -> dict[str, Any]:
        kind, answer = self.ask(worker.BLOCK, calls=calls)
        assert kind == worker.DONE, answer
        return answer

    def end(self) -> dict[str, Any]:
        kind, answer = self.ask(worker.END)
        assert kind == worker.DONE, answer
        return answer

    def fail(self, kind: bytes = worker.ITEM, **body: object) -> dict[str, Any]:
        kind, answer = self.ask(kind, **body)
        assert kind == worker.FAILED, answer
        return answer
