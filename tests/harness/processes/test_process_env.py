import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.machine.clocks import process_cpu
from harness.processes import process_env
from harness.processes.launcher import KIT, Child

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs the affinity of Linux")

WITH_THREADS = """
import os, threading
from harness.processes.channel import stdio_channel
threading.Thread(target=threading.Event().wait, daemon=True).start()
channel = stdio_channel()
while True:
    kind, _ = channel.receive()
    if kind == b"l":
        os.sched_setaffinity(0, set(range(os.cpu_count())))
    if kind == b"w":
        sum(range(200_000))
    channel.send(b"d")
"""


@contextmanager
def paired_process() -> Iterator[Child]:
    with Child([sys.executable, "-c", WITH_THREADS], {**os.environ, "PYTHONPATH": str(KIT)}) as one:
        tell(one, b"n")
        yield one


def tell(one: Child, what: bytes) -> None:
    one.send(what)
    assert one.receive() == (b"d", {})


def core() -> int:
    return min(os.sched_getaffinity(0))


@pytest.mark.skipif(bool(process_env.why_layout_varies()), reason="needs setarch")
def test_paired_processes_have_the_same_memory_layout() -> None:
    command = process_env.command([sys.executable, "-c", "print(id(object()), id(len), hash('a'))"])
    layouts = {
        subprocess.run(command, env=process_env.ENVIRONMENT, capture_output=True, check=True).stdout for _ in range(3)
    }
    assert len(layouts) == 1


def test_setarch_is_tried_and_without_a_fixed_layout_the_command_runs_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(process_env, "why_layout_varies", process_env.why_layout_varies.__wrapped__)
    assert process_env.why_layout_varies() == "setarch is missing"
    for script, trouble in [
        ("exit 0", ""),
        ("echo 'setarch: Operation not permitted' >&2; exit 1", "setarch: Operation not permitted"),
        ("exit 3", "setarch ends with status 3"),
    ]:
        (tmp_path / "setarch").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "setarch").chmod(0o755)
        assert process_env.why_layout_varies() == trouble
        assert (process_env.command(["python"]) == ["python"]) == bool(trouble)


@linux
def test_pinning_binds_every_thread_until_the_process_leaves_its_core() -> None:
    with paired_process() as one:
        process_env.pin(one.pid, core())
        assert [os.sched_getaffinity(thread) for thread in process_env.threads(one.pid)] == [{core()}] * 2
        assert process_env.is_pinned(one.pid, core())
        tell(one, b"l")
        assert process_env.is_pinned(one.pid, core()) == (os.cpu_count() == 1)
    with pytest.raises(ProcessLookupError):
        process_env.pin(one.pid, core())
    process_env.pin(one.pid, None)
    assert process_env.is_pinned(one.pid, None)


@linux
def test_only_the_calling_thread_is_pinned_until_the_block_ends() -> None:
    before = os.sched_getaffinity(0)
    main = threading.main_thread().native_id
    assert main is not None
    seen: list[set[int]] = []

    def other() -> None:
        with process_env.pinned(core()):
            seen.extend([os.sched_getaffinity(0), os.sched_getaffinity(main)])
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [{core()}, before, before]


@linux
@pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")
def test_on_a_shared_core_the_clock_shows_work_as_soon_as_it_is_done() -> None:
    """A process on another core may see CPU time that is up to one timer tick old."""
    with paired_process() as one, process_env.pinned(core()):
        process_env.pin(one.pid, core())
        clock = process_cpu(one.pid)
        at_rest = clock()
        assert clock() == at_rest
        tell(one, b"w")
        worked = clock()
        assert worked > at_rest
        assert clock() == worked
