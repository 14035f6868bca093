"""Tests of promises that hold in a container without namespaces. `test_without_namespaces` runs them there."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from trees import SAFE, ask, errors_of_denied_calls, opened, until

from grader.errors import WorkerFault
from grader.isolation import bubblewrap, proc, sandbox, tree_users, without_namespaces
from grader.isolation.seccomp import NO_NAMESPACES, TREE, WORKER
from grader.limits import Limits
from grader.paths import GRADER, KIT
from grader.records import Status
from grader.session import Session
from grader.trials.worker_client import WorkerClient
from harness.processes import process_env

LIMITS = Limits(load_s=20, call_s=10, memory_bytes=300 << 20)

TRIED = """
import ctypes, os, resource, signal, socket, sys, tempfile
libc = ctypes.CDLL(None, use_errno=True)
def refused(attempt):
    "The number of the error that an attempt ends with; 0 when it succeeds."
    try: attempt()
    except OSError as error: return error.errno
    return 0
"""


@pytest.fixture(autouse=True, scope="session")
def _other_layers_hold() -> None:
    assert sandbox.problem() is None
    assert not sandbox.has_namespaces()


def answer(expression: str, setup: str = "", session: Session = SAFE) -> Any:
    with opened(LIMITS, session, tensors=False) as one:
        return ask(one, f"{TRIED}\n{setup}\ndef f(x): return {expression}")


def folders_of(uid: int) -> list[Path]:
    return list(without_namespaces._place().glob(f"fairclock-tree-{uid}-*"))


def owner(one: WorkerClient) -> int:
    uid = one._server._process.owner
    assert uid is not None
    return uid


def processes_of(uid: int) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess):
            if process.uids().real == uid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def ended(uid: int) -> bool:
    """Return whether all processes of a tree end soon, and its folder is removed."""
    return until(lambda: not processes_of(uid) and not folders_of(uid))


def test_of_proc_it_sees_itself_and_the_machine_alone() -> None:
    denied = [f"/proc/{pid}/{name}" for pid in (1, os.getpid()) for name in ("cmdline", "status", "environ", "stat")]
    own = ["/proc/self/statm", "/proc/self/status", "/proc/thread-self/stat", "/proc/cpuinfo", "/proc/meminfo"]
    tries = f"[*(lambda path=path: open(path) for path in {denied}), lambda: os.listdir('/proc'), "
    tries += "lambda: open('/proc/self/mem', 'r+b'), lambda: open('/proc/self/clear_refs', 'w')]"
    assert set(answer(f"[refused(one) for one in {tries}]")) == {errno.EACCES}
    assert set(answer(f"[refused(lambda: open(path)) for path in {own}]")) == {0}


def test_it_reads_the_system_and_python_and_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "seed"
    secret.write_text("1234")
    for folder in (tmp_path, *tmp_path.parents[:-1]):
        if folder.owner() == "root":
            folder.chmod(folder.stat().st_mode | 0o055)  # only Landlock can refuse this access
    paths = [secret, tmp_path, Path("/"), Path("/tmp"), Path("/etc"), Path("/etc/passwd"), Path("/sys")]  # noqa: S108
    paths += [KIT, GRADER / "task.py", KIT / "solutions" / "04_autorange.py", KIT / "tests", Path("/dev/shm")]  # noqa: S108
    paths += [Path("/proc/self/root/etc")]
    paths = [path for path in paths if path.exists()]
    read = "open(path).read() if os.path.isfile(path) else os.listdir(path)"
    found = answer(f"[refused(lambda: {read}) for path in {[str(path) for path in paths]}]")
    assert dict(zip(paths, found, strict=True)) == dict.fromkeys(paths, errno.EACCES)


def test_of_this_kit_and_the_environment_it_sees_only_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_TOKEN", "a secret of the instructor's")
    setup = "kit = os.path.dirname(os.environ['HOME']) + '/kit'"
    inside = "[os.path.relpath(os.path.join(at, name), kit) for at, _, names in os.walk(kit) for name in names]"
    assert set(answer(inside, setup)) == {*bubblewrap.KIT_FILES, "ruleset.json"}
    seen = answer("dict(os.environ)")
    own = {name: seen.pop(name) for name in ("HOME", "TMPDIR")}
    assert own["HOME"] == own["TMPDIR"]
    expected = {**process_env.ENVIRONMENT, "PYTHONPATH": str(Path(own["HOME"]).parent / "kit")}
    assert seen == {name: value for name, value in expected.items() if name not in own}


def test_it_can_write_to_its_own_folder_alone() -> None:
    folders = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/etc", "/usr", sys.prefix, sys.base_prefix]  # noqa: S108
    made = "refused(lambda: os.close(os.open(folder + '/mark', os.O_CREAT | os.O_WRONLY)))"
    found = answer(f"[{made} for folder in [*{folders}, os.path.dirname(os.environ['HOME']), os.environ['HOME']]]")
    assert all(found[:-1]), dict(zip(folders, found, strict=False))
    assert found[-1] == 0
    assert answer("[tempfile.gettempdir() == os.environ['HOME'], os.stat(os.environ['HOME']).st_mode & 0o777]") == [
        True,
        0o700,
    ]


def test_each_tree_is_a_user_of_its_own_and_trees_cannot_reach_each_other() -> None:
    with opened(LIMITS, SAFE, tensors=False) as one, opened(LIMITS, SAFE, tensors=False) as other:
        assert owner(one) != owner(other)
        ask(one, "open(__import__('os').environ['HOME'] + '/mark', 'w').write('x')\ndef f(x): return 0")
        foreign = str(folders_of(owner(one))[0] / "tmp")
        tries = f"[lambda: os.listdir({foreign!r}), lambda: open({foreign + '/mark'!r})]"
        tries += f" + [lambda pid=pid: os.kill(pid, 9) for pid in ({one._forked.pid}, {os.getpid()}, os.getppid())]"
        found = ask(other, f"{TRIED}\ndef f(x): return [os.getresuid(), *(refused(one) for one in {tries})]")
        assert found[0] == [owner(other)] * 3
        assert set(found[1:]) <= {errno.EACCES, errno.EPERM, errno.ESRCH}
        assert ask(one, "def f(x): return 1") == 1


def test_every_denied_call_ends_with_the_error_of_its_rule() -> None:
    ended, expected = errors_of_denied_calls(SAFE, (*TREE, *NO_NAMESPACES, *WORKER))
    assert ended == expected


LEAVE = """
import os, time
def f(how):
    if os.fork() == 0:
        if how == "daemon":
            os.setsid()
            if os.fork(): os._exit(0)
        time.sleep(60)
    time.sleep(0.2)
    return 1
"""


@pytest.mark.parametrize("how", ["child", "daemon"])
@pytest.mark.usefixtures("processes_allowed")
def test_helpers_are_seen_and_neither_they_nor_files_survive(how: str) -> None:
    with opened(LIMITS, SAFE, tensors=False) as one:
        ask(one, "def f(x): return 1")
        one._server.pin(None)
        one.check_no_helpers()
        assert ask(one, LEAVE, how) == 1
        with pytest.raises(WorkerFault, match="processes of its own"):
            one.check_no_helpers()
        uid = owner(one)
        assert len(processes_of(uid)) == 3
        assert folders_of(uid)
    assert ended(uid)


def test_a_folder_nested_deeper_than_paths_reach_is_removed() -> None:
    nested = "for _ in range(1100): os.mkdir('deep'), os.chdir('deep')"  # Python may recurse 1,000 times
    deep = f"import os\nos.chdir(os.environ['HOME'])\n{nested}\nos.chmod('.', 0)\n"
    with opened(LIMITS, SAFE, tensors=False) as one:
        uid = owner(one)
        with pytest.raises(WorkerFault, match="folders that cannot be listed"):
            ask(one, f"{deep}\ndef f(x):\n  while True: pass")
    assert folders_of(uid) == []


WAITING = """
import sys, time
from grader.isolation.forkserver import ForkServer
from grader.trials.worker_client import WorkerClient
from grader.limits import Limits
one = WorkerClient(ForkServer(tensors=False, sandboxed=True), Limits())
one.load("")
print(one._server._process.owner, one._server._process.popen.pid, flush=True)
time.sleep(60)
"""


def test_a_killed_supervisor_takes_its_trees_and_their_folders_along() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], cwd=KIT, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        uid, _ = map(int, one.stdout.readline().split())
        assert processes_of(uid)
        one.kill()
    assert ended(uid)


def test_what_a_killed_first_process_leaves_is_ended_all_the_same() -> None:
    with opened(LIMITS, SAFE, tensors=False) as one:
        ask(one, "def f(x): return 1")
        uid = owner(one)
        os.kill(one._server._pids[0], signal.SIGKILL)
        assert processes_of(uid)
    assert ended(uid)


WRITES = """
import os
def f(x):
    for number in range(64):
        with open(os.environ["HOME"] + "/file", "wb") as file:
            os.unlink(file.name)
            file.write(bytes(1 << 20))
    while True: pass
"""


def test_what_is_written_to_disk_is_bounded_though_no_name_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    if not without_namespaces.probe_result().counts_disk:
        pytest.skip("all temporary files lie in memory here")
    monkeypatch.setattr(proc, "DISK_BYTES", 32 << 20)
    with opened(LIMITS, SAFE, tensors=False) as one, pytest.raises(WorkerFault, match="GiB to disk") as caught:
        ask(one, WRITES)
    assert caught.value.status is Status.CRASHED
    monkeypatch.setattr(proc, "DISK_BYTES", 256 << 20)
    with opened(LIMITS, SAFE, tensors=False) as one:
        assert ask(one, WRITES.replace("while True: pass", "return 1")) == 1


def test_whoever_looks_into_a_tree_is_root_again_afterwards_and_other_threads_were_all_the_time() -> None:
    with ThreadPoolExecutor(1) as other:
        assert other.submit(os.geteuid).result() == 0  # this starts the other thread
        with tree_users.acting_as(tree_users.new_id()):
            assert os.geteuid() in (tree_users.spare_ids() or ())
            assert other.submit(os.geteuid).result() == 0
    assert (os.getresuid(), os.getresgid()) == ((0, 0, 0), (0, 0, 0))
