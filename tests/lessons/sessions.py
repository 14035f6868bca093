"""A session of a lesson, made for a test: what it printed, saved and kept can be looked at."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from lessons.engine.record import LessonRecord
from lessons.engine.run import Session


@dataclass
class Played:
    """A session with everything it printed, saved and kept."""

    session: Session
    out: io.StringIO
    saved: dict[str, str] = field(default_factory=dict)
    kept: list[LessonRecord] = field(default_factory=list)


Play = Callable[..., Played]
"""Makes a session ready to run."""
