"""A recorder notes the reads and writes of shared variables, with the locks that the thread holds."""

import pytest

from harness.threads.accesses import MAIN, Recorder


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
    assert [event[:3] for event in recorder.events[1:4]] == [
        (MAIN, "start", "other"),
        ("other", "write", "x"),
        (MAIN, "join", "other"),
    ]
    with pytest.raises(AttributeError, match="y"):
        shared.y  # noqa: B018 - the access must fail
    writes = [(event.thread, event.locks) for event in recorder.events if event.action == "write"]
    assert writes == [("other", ()), (MAIN, ("inner", "outer")), (MAIN, ("outer",)), (MAIN, ())]
