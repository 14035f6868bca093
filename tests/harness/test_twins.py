import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import twins
from harness.clocks import process_cpu

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs the affinity of Linux")

WITH_THREADS = """
import os, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    if line == "leave\\n":
        os.sched_setaffinity(0, set(range(os.cpu_count())))
    if line == "work\\n":
        sum(range(200_000))
    print("done", flush=True)
"""


@contextmanager
def twin() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WITH_THREADS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
        yield one
        one.kill()


def tell(one: subprocess.Popen[str], what: str) -> None:
    assert one.stdin is not None
    assert one.stdout is not None
    one.stdin.write(what + "\n")
    one.stdin.flush()
    assert one.stdout.readline() == "done\n"


def core() -> int:
    return min(os.sched_getaffinity(0))


@pytest.mark.skipif(not twins.fixed_layout(), reason="needs setarch")
def test_twins_have_the_same_memory_layout() -> None:
    command = twins.command([sys.executable, "-c", "print(id(object()), id(len), hash('a'))"])
    layouts = {subprocess.run(command, env=twins.ENVIRONMENT, capture_output=True, check=True).stdout for _ in range(3)}
    assert len(layouts) == 1


def test_without_setarch_the_command_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "fixed_layout", lambda: False)
    assert twins.command(["python", "-c", ""]) == ["python", "-c", ""]


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("exit 0", ""),
        ("echo 'setarch: failed to set personality to x86_64: Operation not permitted' >&2; exit 1", "not permitted"),
        ("exit 3", "setarch ends with status 3"),
        (None, "setarch is missing"),
    ],
)
def test_whether_the_layout_can_be_fixed_is_found_by_trying(
    script: str | None, trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        (tmp_path / "setarch").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "setarch").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(twins, "layout_trouble", twins.layout_trouble.__wrapped__)
    assert trouble in twins.layout_trouble()
    assert twins.fixed_layout() == (not trouble)
    assert (twins.command(["python"]) == ["python"]) == bool(trouble)


@linux
def test_pinning_takes_every_thread_along() -> None:
    with twin() as one:
        twins.pin(one.pid, core())
        threads = [int(name) for name in os.listdir(f"/proc/{one.pid}/task")]  # noqa: PTH208 - names are wanted
        assert len(threads) == 2
        assert [os.sched_getaffinity(thread) for thread in threads] == [{core()}] * 2
        assert twins.stays(one.pid, core())


@linux
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_one_who_leaves_the_core_is_noticed() -> None:
    with twin() as one:
        twins.pin(one.pid, core())
        tell(one, "leave")
        assert not twins.stays(one.pid, core())
        assert twins.stays(one.pid, None)


@linux
def test_pinning_one_that_is_gone_says_so() -> None:
    with twin() as one:
        pass
    with pytest.raises(ProcessLookupError):
        twins.pin(one.pid, core())


def test_no_core_pins_nothing() -> None:
    twins.pin(2**22 + 1, None)
    with twins.pinned(None):
        pass


@linux
def test_a_thread_is_pinned_for_a_while_and_alone() -> None:
    before = os.sched_getaffinity(0)
    main = threading.main_thread().native_id
    assert main is not None
    seen: list[set[int]] = []

    def other() -> None:
        with twins.pinned(core()):
            seen.extend([os.sched_getaffinity(0), os.sched_getaffinity(main)])
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [{core()}, before, before]


@linux
@pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")
def test_on_a_shared_core_work_is_on_the_clock_as_soon_as_it_is_done() -> None:
    """Off it, a clock read right after the work may be up to a tick late."""
    with twin() as one, twins.pinned(core()):
        twins.pin(one.pid, core())
        clock = process_cpu(one.pid)
        at_rest = clock()
        assert clock() == at_rest
        tell(one, "work")
        worked = clock()
        assert worked > at_rest
        assert clock() == worked
