"""Work in forked processes: their reports arrive, and each process ends."""

import itertools
import os
import sys
import time
from contextlib import closing

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from grader.authoring import forked
from grader.authoring.forked import Ended, Tell

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")


def test_each_item_is_worked_on_in_a_process_of_its_own() -> None:
    here = os.getpid()

    def work(item: int, tell: Tell) -> None:
        tell(str(item * item))
        tell(str(os.getpid() != here))

    found = list(forked.each(range(5), work, at_once=2, wall_s=60))

    assert sorted(found, key=lambda each: each.item) == [Ended(n, (str(n * n), "True"), True) for n in range(5)]


def test_lines_arrive_as_they_were_said() -> None:
    def work(item: str, tell: Tell) -> None:
        tell(item)

    words = "two\nlines, 5 × 7 \\ and \r"
    assert [each.lines for each in forked.each([words], work, at_once=1, wall_s=60)] == [(words,)]


def test_what_a_child_said_before_it_failed_is_known_and_that_it_failed() -> None:
    def work(item: int, tell: Tell) -> None:
        tell("begun")
        raise ValueError(item)

    assert list(forked.each([7], work, at_once=1, wall_s=60)) == [Ended(7, ("begun",), False)]


def test_a_loop_that_never_leaves_c_ends_with_its_cpu_time() -> None:
    def work(_: int, tell: Tell) -> None:
        forked.end_after(0.1)
        tell("begun")
        sum(itertools.repeat(0))

    assert list(forked.each([1], work, at_once=1, wall_s=600)) == [Ended(1, ("begun",), False)]


def test_a_child_that_sleeps_is_killed_and_others_go_on() -> None:
    def work(item: int, tell: Tell) -> None:
        if item == 0:
            time.sleep(600)
        tell("done")

    found = list(forked.each([0, 1, 2], work, at_once=2, wall_s=1))

    assert {each.item: each.by_itself for each in found} == {0: False, 1: True, 2: True}


def test_nothing_is_left_running_when_nobody_reads_on() -> None:
    def work(item: int, tell: Tell) -> None:
        if item:
            time.sleep(600)
        tell("done")

    before = psutil.Process().children()

    with closing(forked.each(range(5), work, at_once=3, wall_s=600)) as ended:
        next(ended)

    assert psutil.Process().children() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports how much memory a process has")
def test_a_child_has_no_more_memory_than_it_may() -> None:
    def work(_: int, tell: Tell) -> None:
        forked.limit_memory(64 << 20)
        try:
            bytearray(1 << 30)
        except MemoryError:
            tell("refused")

    assert list(forked.each([1], work, at_once=1, wall_s=60)) == [Ended(1, ("refused",), True)]
