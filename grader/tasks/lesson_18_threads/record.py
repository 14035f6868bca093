"""Record the accesses of the task `races` again: `python -m grader.tasks.lesson_18_threads.record`.

The programs run with real threads. `Recorder` notes each event. For each program, `races` states its races: the
variable and the two threads. They follow from the program, and not from the order of a single run.
"""

import time
from collections.abc import Callable
from typing import Final

from grader.tasks import recordings
from harness.threads.accesses import Recorder

from .races import ACCESSES, Event, Race


def counters(recorder: Recorder) -> list[Race]:
    """Count in two threads: `hits` without a lock, `total` with a lock."""
    shared, lock = recorder.shared(hits=0, total=0, limit=3), recorder.lock("lock")

    def work() -> None:
        for _ in range(shared.limit):
            shared.hits = shared.hits + 1
            with lock:
                shared.total = shared.total + 1
            time.sleep(0.001)

    shared.limit = 4
    _run(recorder, first=work, second=work)
    _ = shared.hits + shared.total  # two reads of `main` after both threads have ended
    return [("hits", "first", "second")]


def money(recorder: Recorder) -> list[Race]:
    """Move money between two accounts, each with its own lock, and write a log with the lock of only one of them."""
    shared = recorder.shared(mine=100, yours=100, log="")
    one, other = recorder.lock("of mine"), recorder.lock("of yours")

    def give() -> None:
        for _ in range(3):
            with one:
                shared.mine = shared.mine - 10
                with other:
                    shared.yours = shared.yours + 10
                shared.log = shared.log + "give "
            time.sleep(0.001)

    def take() -> None:
        for _ in range(3):
            with other:
                shared.yours = shared.yours - 5
                shared.log = shared.log + "take "
            with one:
                shared.mine = shared.mine + 5
            time.sleep(0.001)

    _run(recorder, giver=give, taker=take)
    return [("log", "giver", "taker")]


def cache(recorder: Recorder) -> list[Race]:
    """Look into a cache without the lock, fill it with the lock, and read the statistics in `main` too early."""
    shared, lock = recorder.shared(cached=None, asked=0, name="cache"), recorder.lock("cache lock")

    def find() -> None:
        for _ in range(2):
            with lock:
                shared.asked = shared.asked + 1
            if shared.cached is None:
                with lock:
                    shared.cached = shared.name
            time.sleep(0.001)

    threads = [recorder.thread(name, find) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    with lock:
        _ = shared.cached
    _ = shared.asked  # `main` does not hold the lock, and the threads have not ended
    for thread in threads:
        thread.join()
    return [("cached", "left", "right"), ("asked", "left", "main"), ("asked", "main", "right")]


def pipeline(recorder: Recorder) -> list[Race]:
    """Load, then train in two threads, then save: each stage ends before the next begins."""
    shared = recorder.shared(rows=0, loss=1.0, steps=0, best=1.0)
    outer, inner = recorder.lock("outer"), recorder.lock("inner")

    def load() -> None:
        for _ in range(3):
            shared.rows = shared.rows + 10

    def train() -> None:
        for _ in range(3):
            with outer, inner:
                shared.loss = shared.loss / 2
            with inner, inner:
                shared.best = min(shared.best, shared.loss)
            shared.steps = shared.steps + shared.rows
            time.sleep(0.001)

    def save() -> None:
        shared.rows = shared.rows - shared.steps

    _run(recorder, load=load)
    _run(recorder, train_1=train, train_2=train)
    _run(recorder, save=save)
    return [("steps", "train_1", "train_2")]


PROGRAMS: Final = (counters, money, cache, pipeline)


def _run(recorder: Recorder, **targets: Callable[[], None]) -> None:
    threads = [recorder.thread(name, target) for name, target in targets.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def record(program: Callable[[Recorder], list[Race]]) -> tuple[list[Event], list[Race]]:
    """Run a program, and return its events and its races."""
    recorder = Recorder()
    races = program(recorder)
    return [(event.thread, event.action, event.name) for event in recorder.events], races


if __name__ == "__main__":
    recordings.write(ACCESSES, {program.__name__: record(program) for program in PROGRAMS})
