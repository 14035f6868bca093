"""System calls from inside the sandbox: which a submission or a confined program may make, and which are refused."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from trees import BARE, SAFE, ask, errors_of_denied_calls, opened

from grader.errors import WorkerFault
from grader.isolation import sandbox, seccomp
from grader.isolation.process_tree import MAX_KEPT_BYTES
from grader.isolation.seccomp import TREE, WORKER
from grader.limits import Limits
from grader.session import Session
from grader.trials import faults

LIMITS = Limits(load_s=60, call_s=60, memory_bytes=3 << 30)
EACH_START = pytest.mark.usefixtures("each_start")
BOTH = pytest.mark.parametrize(
    "session", [BARE, pytest.param(SAFE, marks=pytest.mark.sandbox)], ids=["bare", "sandbox"]
)


@pytest.fixture(autouse=True)
def _filters() -> None:
    if reason := seccomp.problem():
        pytest.skip(str(reason))


def answer(source: str, session: Session = SAFE) -> Any:
    """Return the result of `f(x)` of this source in a worker."""
    with opened(LIMITS, session, tensors=False) as one:
        return ask(one, source)


@EACH_START
@pytest.mark.sandbox
def test_every_denied_call_ends_with_the_error_of_its_rule() -> None:
    ended, expected = errors_of_denied_calls(SAFE, (*TREE, *WORKER))
    assert ended == expected
    assert len(ended) > 60


STARTS = (
    "os.fork()",
    "subprocess.run(['true'])",
    "os.posix_spawn('/usr/bin/true', ['true'], {})",
    "os.execv('/usr/bin/true', ['true'])",
    "multiprocessing.get_context('fork').Process(target=print).start()",
    "multiprocessing.get_context('spawn').Process(target=print).start()",
    "list(concurrent.futures.ProcessPoolExecutor(1).map(abs, [1]))",
    "pty.fork()",
)


@EACH_START
@BOTH
def test_whoever_starts_a_process_is_told_that_this_is_not_allowed(session: Session) -> None:
    starts = ", ".join(f"lambda: {start}" for start in STARTS)
    with opened(LIMITS, session, tensors=False) as one:
        imports = "import concurrent.futures, multiprocessing, os, pty, subprocess"
        one.load(f"{imports}\ndef f(number): return [{starts}][number]()")
        for number, start in enumerate(STARTS):
            with pytest.raises(WorkerFault) as caught, faults.blame_submission("f"):
                one.values("f", [{"value": number}], lambda _name, _arguments: None, 1)
            assert "Operation not supported" in caught.value.rationale, start
            assert caught.value.help.startswith("Starting processes is not allowed here"), start
    source = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def f(x): return [libc.fork(), libc.vfork(), libc.clone(0, 0, 17, 0), libc.daemon(0, 0), os.system("touch /tmp/mark")]
"""
    *direct, system = answer(source, session)
    assert direct == [-1, -1, -1, -1]
    assert system != 0


def run(
    program: str, given: bytes = b"", *, sandboxed: bool = False, timeout_s: float = 60.0
) -> tuple[int | None, bytes]:
    """Run a Python text once, to its end."""
    argv = [sys.executable, "-S", "-c", f"import os, sys\n{program}"]
    return sandbox.run(argv, given, Limits(memory_bytes=512 << 20), timeout_s, sandboxed=sandboxed)


@pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=pytest.mark.sandbox), False])
def test_a_confined_program_only_computes(sandboxed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "kept")
    program = "print(sys.stdin.read()[::-1], sorted(os.environ), flush=True)\nsys.exit('said')"
    status, printed = run(program, b"given", sandboxed=sandboxed)
    assert status == 1
    assert re.fullmatch(rb"nevig \[.*PYTHONHASHSEED.*\]\nsaid\n", printed)
    assert not re.search(rb"A_SECRET|PYTHONPATH", printed)
    path = "/tmp/file" if sandboxed else str(tmp_path / "file")  # noqa: S108 - the sandbox's own
    status, printed = run(f"os.write(os.open({path!r}, os.O_WRONLY | os.O_CREAT), b'kept')", sandboxed=sandboxed)
    assert status
    assert b"File too large" in printed
    if sandboxed:
        assert b"BlockingIOError" in run("os.fork(); os.fork(); os.fork()", sandboxed=True)[1]
        return
    assert run("print('on', flush=True)\nwhile True: pass", timeout_s=1.0) == (None, b"on\n")
    status, printed = run("for _ in range(20): os.write(1, bytes(1 << 20))")
    assert (status, len(printed)) == (0, MAX_KEPT_BYTES)
