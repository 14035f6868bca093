"""Record which thread reads and writes a variable, and which locks it holds, while a program really runs."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, Self

MAIN = "main"  # the name of the thread that made the recorder


class ThreadEvent(NamedTuple):
    """A thread, what it did, and the name of the variable, the lock or the other thread.

    `action` is "read", "write", "acquire", "release", "start" or "join". `locks` are the locks that the thread held.
    """

    thread: str
    action: str
    name: str
    locks: tuple[str, ...]


class Recorder:
    """Records the events of threads in the order of time, which shows a race even if the run lost nothing."""

    def __init__(self) -> None:
        self.events: list[ThreadEvent] = []
        self._guard = threading.Lock()
        self._held = defaultdict[int, list[str]](list)
        self._maker = threading.get_ident()

    def note(self, action: str, name: str) -> None:
        """Add an event of the thread that calls."""
        with self._guard:
            thread = MAIN if threading.get_ident() == self._maker else threading.current_thread().name
            self.events.append(ThreadEvent(thread, action, name, tuple(sorted(set(self.held)))))

    @property
    def held(self) -> list[str]:
        """The names of the locks that the calling thread holds. A lock that it acquired twice is in the list twice."""
        return self._held[threading.get_ident()]

    def shared(self, **values: object) -> "Shared":
        """Return an object with these attributes. The recorder notes each read and each write of an attribute."""
        return Shared(self, values)

    def lock(self, name: str) -> "RecordedLock":
        """Return a lock that a thread may acquire several times, and whose use the recorder notes."""
        return RecordedLock(self, name)

    def thread(self, name: str, target: Callable[[], object]) -> "RecordedThread":
        """Return a thread with a name, which is not yet started. The recorder notes its start and its join."""
        return RecordedThread(self, name, target)


class Shared:
    """An object whose attributes are shared variables. The recorder notes each access of an attribute."""

    def __init__(self, recorder: Recorder, values: dict[str, object]) -> None:
        object.__setattr__(self, "_recorder", recorder)
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        if name not in self._values:
            raise AttributeError(name)
        self._recorder.note("read", name)
        return self._values[name]

    def __setattr__(self, name: str, value: object) -> None:
        self._recorder.note("write", name)
        self._values[name] = value


class RecordedLock:
    """A lock whose use is recorded."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder, self.name = recorder, name
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        self._recorder.held.append(self.name)
        self._recorder.note("acquire", self.name)
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.held.remove(self.name)
        self._recorder.note("release", self.name)
        self._lock.release()


class RecordedThread(threading.Thread):
    """A thread whose start and join are recorded."""

    def __init__(self, recorder: Recorder, name: str, target: Callable[[], object]) -> None:
        super().__init__(name=name, target=target)
        self._recorder = recorder

    def start(self) -> None:
        """Start the thread."""
        self._recorder.note("start", self.name)
        super().start()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the thread."""
        super().join(timeout)
        self._recorder.note("join", self.name)
