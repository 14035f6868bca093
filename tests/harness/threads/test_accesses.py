"""A recorder notes the reads and writes of shared variables, with the locks that the thread holds."""

import pytest

from harness.threads.accesses import MAIN, Recorder, ThreadEvent


def test_reads_and_writes_are_noted_in_order() -> None:
    recorder = Recorder()
    shared = recorder.shared(hits=3)
    shared.hits = shared.hits + 1
    assert recorder.events == [ThreadEvent(MAIN, "read", "hits", ()), ThreadEvent(MAIN, "write", "hits", ())]
    assert shared.hits == 4
    with pytest.raises(AttributeError, match="other"):
        shared.other  # noqa: B018 - the access must fail


def test_an_access_has_the_locks_that_its_own_thread_holds() -> None:
    recorder = Recorder()
    shared, outer, inner = recorder.shared(x=0), recorder.lock("outer"), recorder.lock("inner")

    def work() -> None:
        shared.x = 1

    with outer:
        thread = recorder.thread("other", work)
        thread.start()
        thread.join()
        with inner, inner:
            shared.x = 2
        shared.x = 3
    shared.x = 4
    writes = [(event.thread, event.locks) for event in recorder.events if event.action == "write"]
    assert writes == [("other", ()), (MAIN, ("inner", "outer")), (MAIN, ("outer",)), (MAIN, ())]


def test_starts_and_joins_are_noted_around_the_accesses_of_a_thread() -> None:
    recorder = Recorder()
    shared = recorder.shared(x=0)
    thread = recorder.thread("other", lambda: shared.x)
    thread.start()
    thread.join()
    assert [(event.thread, event.action, event.name) for event in recorder.events] == [
        (MAIN, "start", "other"),
        ("other", "read", "x"),
        (MAIN, "join", "other"),
    ]


def test_a_recorded_lock_keeps_other_threads_out() -> None:
    recorder = Recorder()
    shared, lock = recorder.shared(x=0), recorder.lock("lock")

    def work() -> None:
        for _ in range(200):
            with lock:
                shared.x = shared.x + 1

    threads = [recorder.thread(str(number), work) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.x == 600
