"""Record why `torch.compile` compiles functions again, from the messages that torch logs about it.

Torch logs these messages if the artifact `recompiles` is enabled, for example with `TORCH_LOGS=recompiles`. A message
names the function. For each graph that torch compiled before, it also states the guard that failed.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from harness.compilers.inductor import torchscript_warnings_hidden

_HEAD: Final = re.compile(r"Recompiling function (\S+) in ")
_FAILURE: Final = re.compile(r"^\s*- \d+/(\d+): (.*)", re.MULTILINE)
_COMMENT: Final = re.compile(r"\s+# .*")
_LIMIT: Final = re.compile(r"hit config\.\w+ \(\d+\)")

_LOGGERS: Final = ("torch._dynamo.guards.__recompiles", "torch._dynamo.convert_frame")
"""The loggers of the messages about recompilations, and of the warning that a function has too many graphs."""


@dataclass(frozen=True, slots=True)
class Recompilation:
    """A recompilation: the name of the function, and why the newest graph did not fit the call.

    `reasons` contains the failed guard of each earlier graph, by the number of the graph. `reason` is that of the graph
    with the highest number.
    """

    function: str
    reasons: dict[int, str]

    @property
    def reason(self) -> str:
        """The failed guard of the newest graph, or "" if torch logged none."""
        return self.reasons[max(self.reasons)] if self.reasons else ""


class WatchedRecompilations(logging.Handler):
    """The recompilations during a `with` block, in order, and torch's warnings that a function has too many graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.recompilations: list[Recompilation] = []
        self.limits: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message that describes a recompilation, or that names a limit."""
        message = record.getMessage()
        if found := parsed(message):
            self.recompilations.append(found)
        elif limit := _LIMIT.search(message):
            self.limits.append(limit[0])


def parsed(message: str) -> Recompilation | None:
    """Return the recompilation that a message of torch describes, or None for other messages."""
    head = _HEAD.search(message)
    if head is None:
        return None
    failures = {int(number): _COMMENT.sub("", reason).strip() for number, reason in _FAILURE.findall(message)}
    return Recompilation(head[1], failures)


@contextmanager
def watch_recompilations() -> Iterator[WatchedRecompilations]:
    """Record the recompilations during a `with` block. Their messages and warnings are not printed."""
    with torchscript_warnings_hidden():
        import torch._dynamo  # noqa: PLC0415 - takes seconds

    state = torch._logging._internal.log_state  # noqa: SLF001
    was_enabled = "recompiles" in state.artifact_names
    state.artifact_names.add("recompiles")
    watched = WatchedRecompilations()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(each.level, each.propagate, each.handlers) for each in loggers]
    for each in loggers:
        each.propagate, each.handlers = False, [watched]
        each.setLevel(logging.DEBUG if each is loggers[0] else logging.WARNING)
    try:
        yield watched
    finally:
        for each, (level, propagate, handlers) in zip(loggers, before, strict=True):
            each.propagate, each.handlers = propagate, handlers
            each.setLevel(level)
        if not was_enabled:
            state.artifact_names.discard("recompiles")
