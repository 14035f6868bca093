"""Which process tree a pool gives to a caller. The trees are fakes that start no process."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from grader.errors import MachineError, WorkerFault
from grader.isolation import pool as pools
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.records import Status


class FakeTree:
    """A fake process tree that records the calls of its methods."""

    started: list["FakeTree"]
    remarks = ()

    def __init__(
        self, *, tensors: bool, sandboxed: bool, hidden: Sequence[Path], template: "FakeTemplate | None" = None
    ) -> None:
        self.tensors, self.closed, self.output_tail = tensors, False, ""
        self.forked, self._starts = template is not None, template is None or template.works
        del sandboxed, hidden
        FakeTree.started.append(self)

    def wait_until_ready(self) -> None:
        if not self._starts:
            self.close()
            raise MachineError("it does not start")

    def start_task(self) -> None:
        self.output_tail = ""

    def close(self) -> None:
        self.closed = True


class FakeTemplate:
    """A fake template process that records whether it was ended."""

    started: list["FakeTemplate"]
    works = True

    def __init__(self, *, sandboxed: bool, hidden: Sequence[Path]) -> None:
        self.ended = self.closed = False
        del sandboxed, hidden
        FakeTemplate.started.append(self)

    def ends_within(self, _timeout_s: float) -> bool:
        return self.ended

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    FakeTree.started, FakeTemplate.started = [], []
    monkeypatch.setattr(pools, "ForkServer", FakeTree)
    monkeypatch.setattr(pools, "TemplateProcess", FakeTemplate)
    monkeypatch.setattr(sandbox, "can_use_template", lambda *, sandboxed: sandboxed)
    with Pool() as one:
        yield one
    assert all(tree.closed for tree in FakeTree.started)
    assert all(template.closed for template in FakeTemplate.started)


def test_the_tasks_of_one_hand_in_share_a_tree_with_torch_if_any_needs_it(pool: Pool) -> None:
    with pool.one_hand_in(tensors=True) as trees:
        assert FakeTree.started == []
        with trees.fresh(tensors=False) as one:
            FakeTree.started[0].output_tail = "by the first"
        with trees.fresh(tensors=True) as other:
            assert one is other
            assert other.output_tail == ""
    assert [tree.tensors for tree in FakeTree.started] == [True]
    assert FakeTree.started[0].closed
    with pool.fresh(tensors=True) as other:
        assert one is not other


def test_a_tree_serves_on_after_a_wrong_function_and_not_after_a_fault_of_its_process(pool: Pool) -> None:
    def first_task(status: Status) -> None:
        with trees.fresh(tensors=False):
            FakeTree.started[-1].output_tail = "last words"
            raise WorkerFault(status, "it went wrong")

    for status in set(Status) - {Status.PASSED, Status.UNDECIDED}:
        before = len(FakeTree.started)
        with pool.one_hand_in(tensors=False) as trees:
            with pytest.raises(WorkerFault) as caught:
                first_task(status)
            assert caught.value.printed == "last words"
            with trees.fresh(tensors=False):
                serves_on = status in {Status.REFUSED, Status.RAISED, Status.WRONG}
                assert len(FakeTree.started) - before == (1 if serves_on else 2), status


def test_all_trees_with_torch_are_forked_from_one_process_and_the_others_are_not(pool: Pool) -> None:
    for tensors in (True, False, True):
        with pool.fresh(tensors=tensors) as tree:
            assert tree.forked == tensors
    assert len(FakeTemplate.started) == 1
    FakeTemplate.started[0].ended = True
    with pool.fresh(tensors=True):
        assert len(FakeTemplate.started) == 2, "a template process that has ended is replaced"


def test_where_no_tree_can_be_forked_each_tree_imports_torch(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTemplate, "works", False)
    for _ in range(4):
        with pool.fresh(tensors=True) as tree:
            assert not tree.forked
    assert [tree.forked for tree in FakeTree.started] == [True, False] * pools.MOST_FAILURES + [False, False]
