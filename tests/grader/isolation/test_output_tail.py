import os
import time

import pytest

from grader.isolation.output_tail import TAIL_BYTES, OutputTail


def test_what_was_printed_is_kept_though_whoever_reads_it_is_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    read = os.read

    def slowly(descriptor: int, most: int) -> bytes:
        part = read(descriptor, most)
        time.sleep(0.05)  # the pipe is empty now, and no output is stored yet
        return part

    monkeypatch.setattr(os, "read", slowly)
    printed = OutputTail(os.fdopen(reading, "rb", buffering=0))
    for number in range(5):
        os.write(writing, b"a line\n")
        assert printed.text() == "a line\n" * (number + 1)
    os.close(writing)
    printed.close()


def test_the_end_is_kept_of_more_than_there_is_room_for_and_nothing_of_what_is_forgotten() -> None:
    reading, writing = os.pipe()
    printed = OutputTail(os.fdopen(reading, "rb", buffering=0))
    os.write(writing, b"first" + b"." * (2 * TAIL_BYTES) + b"last")
    assert printed.text() == "." * (TAIL_BYTES - 4) + "last"
    printed.forget()
    assert printed.text() == ""
    os.write(writing, b"next")
    assert printed.text() == "next"
    os.close(writing)
    printed.close()
