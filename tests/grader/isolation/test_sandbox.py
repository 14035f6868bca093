"""Which parts of the machine a submission can see, and that none of its files and processes remain afterwards."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from trees import BARE, SAFE, ask, opened, until

from grader.errors import WorkerFault
from grader.inside import template_main
from grader.isolation import bubblewrap, tree_users
from grader.isolation.pool import Pool
from grader.limits import Limits
from grader.session import Session
from grader.trials.worker_client import WorkerClient
from harness.processes import process_env

pytestmark = pytest.mark.usefixtures("each_start")
LIMITS = Limits(load_s=20, call_s=5, memory_bytes=300 << 20)

OWN = ["/tmp", "/dev/shm"]  # noqa: S108 - as they are called inside

LEAVE = """
import os, threading, time
def f(how):
    def fork(): os.fork() or time.sleep(60)
    if how == "child": fork()
    if how == "thread": threading.Thread(target=fork).start()
    if how == "orphan" and os.fork() == 0:
        os.setsid()
        fork()
        os._exit(0)
    if how == "orphan": os.wait()
    time.sleep(0.1)
    return 1
"""


def answer(expression: str, session: Session = SAFE, setup: str = "") -> Any:
    with opened(LIMITS, session, tensors=False) as one:
        return ask(one, f"{setup}\ndef f(x): return {expression}")


def tree(one: WorkerClient) -> list[psutil.Process]:
    top = psutil.Process(one._server._pids[0])
    return [top, *top.children(recursive=True)]


LOOK = """
import glob, os
def writes(folder):
    try: open(folder + "/mark", "w").close()
    except OSError as error: return error.strerror
"""
"""A function for submissions. It returns why a folder cannot be written to, or None."""


@pytest.mark.anywhere
@pytest.mark.sandbox
def test_it_sees_what_it_needs_and_writes_to_temporary_folders_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_TOKEN", "a secret of the instructor's")
    private = bubblewrap.private_folders()
    with opened(LIMITS, SAFE, tensors=False) as one:

        def seen(expression: str, argument: object = None) -> Any:
            return ask(one, f"{LOOK}\ndef f(x): return {expression}", argument)

        assert seen("[n for n in os.listdir('/proc') if n.isdigit()]") == ["1", "2", "3"]
        assert seen("[path for path in x if os.path.exists(path)]", [*map(str, private)]) == []
        kit = "[os.path.relpath(one, '/kit') for one in glob.glob('/kit/**/*.*', recursive=True)]"
        assert sorted(seen(kit)) == sorted(bubblewrap.KIT_FILES)
        environment = {**process_env.ENVIRONMENT, "PYTHONPATH": bubblewrap.KIT_INSIDE, "PWD": "/"}
        assert seen("dict(os.environ)") == environment
        room = f"[os.statvfs(d).f_blocks * os.statvfs(d).f_frsize for d in {OWN}]"
        assert seen(room) == [template_main.TMP_BYTES, template_main.SHM_BYTES]
        folders = ["/", "/etc", "/usr", "/kit", "/dev", sys.prefix, sys.base_prefix, *OWN]
        assert seen("[d for d in x if not writes(d)]", folders) == OWN
    assert not Path(OWN[0], "mark").exists()


@pytest.mark.anywhere
@pytest.mark.sandbox
@pytest.mark.parametrize("new", OWN)
def test_only_python_in_a_temporary_folder_is_seen(new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir=new, prefix="a b'é") as folder:
        real, python, solutions = tmp_path / "real", Path(folder, "above", "python"), Path(folder, "above", "solutions")
        for each in (real / "lib", real / "out", solutions):
            each.mkdir(parents=True)
            (each / "file").write_text("content")
        python.symlink_to(real)
        shown = [*bubblewrap.prefixes(), python]
        monkeypatch.setattr(bubblewrap, "prefixes", lambda: shown)
        with Pool(hidden=(real / "out",)) as pool:
            places = list(map(str, [new, folder, python.parent, python, python / "lib", python / "out"]))
            seen = answer(f"[sorted(os.listdir(d)) for d in {places}]", Session("a secret", pool), LOOK)
            tops = {one.relative_to(new).parts[0] for one in shown if one.is_relative_to(new)}
            assert tops == {*seen[0]} & {one.name for one in Path(new).iterdir()}
            assert seen[1:] == [["above"], ["python"], ["lib", "out"], ["file"], []]
            written = answer(f"list(map(writes, {places[3:]}))", Session("a secret", pool), LOOK)
            assert written == ["Read-only file system"] * 3


STATUS = "import os\nstatus = dict(line.split(':\\t') for line in open('/proc/self/status') if ':\\t' in line)"


@pytest.mark.sandbox
def test_each_tree_is_a_user_of_its_own_without_capabilities() -> None:
    sets, spare, seen = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), tree_users.spare_ids() or (), set()
    for _ in range(2):
        with opened(LIMITS, SAFE, tensors=False) as one:
            asked = f"[os.getuid(), *(int(status[name], 16) for name in {sets})]"
            uid, *capabilities = ask(one, f"{STATUS}\ndef f(x): return {asked}")
            of_tree = {process.uids() for process in tree(one)[-2:]}
        assert uid == int(bubblewrap.NOBODY) or uid in spare
        assert not any(capabilities)
        if tree_users.is_root() and not tree_users.trouble():
            (uids,) = of_tree
            assert all(one in spare for one in (uids.real, uids.effective, uids.saved))
            assert uids not in seen
            seen.add(uids)


OPEN = """
import fcntl, os
mapped = {line.split()[5] for line in open("/proc/self/maps") if "r-xp" in line and "/" in line}
def own_code(n):
    "Return whether the file is a library of this process, open for reading. libffi keeps its own file open."
    name = os.readlink(f"/proc/self/fd/{n}")
    return name in mapped and fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
numbers = [int(n) for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.exists(f"/proc/self/fd/{n}")]
files = {os.fstat(n).st_ino: os.readlink(f"/proc/self/fd/{n}") for n in numbers if not own_code(n)}
"""


def test_only_three_open_files_are_inherited_from_the_supervisor() -> None:
    with Path(__file__).open(encoding="utf-8"), opened(LIMITS, BARE, tensors=False):
        kinds = sorted(name.split(":")[0] for name in answer("list(files.values())", BARE, OPEN))
    assert kinds == ["/memfd", "/memfd", "socket"]


@pytest.mark.parametrize("how", ["child", "thread", "orphan"])
@pytest.mark.sandbox
@pytest.mark.usefixtures("processes_allowed")
def test_helpers_are_seen_however_they_were_started_and_none_survives(how: str) -> None:
    with opened(LIMITS, SAFE, tensors=False) as one:
        ask(one, "def f(x): return 1")
        one._server.pin(None)
        one.check_no_helpers()
        assert ask(one, LEAVE, how) == 1
        running = tree(one)
        assert len(running) == len(one._server._pids) + 2
        with pytest.raises(WorkerFault, match="processes of its own"):
            one.check_no_helpers()
    assert until(lambda: not any(map(_runs, running)))


@pytest.mark.parametrize("end", ["os._exit(0)", "time.sleep(60)"])
@pytest.mark.usefixtures("processes_allowed")
def test_without_a_sandbox_no_child_survives_however_its_parent_ended(end: str) -> None:
    with opened(Limits(load_s=20, call_s=0.1), BARE, tensors=False) as one:
        one.load(f"import os, time\ndef f(x):\n  os.fork() or time.sleep(60)\n  {end}")
        sessions = {os.getsid(process.pid) for process in tree(one)}
        with pytest.raises(WorkerFault):
            one.values("f", [{"value": 1}], lambda _name, _arguments: None, 1)
    assert until(lambda: not any(_is_of(process, sessions) and _runs(process) for process in psutil.process_iter()))


def _is_of(process: psutil.Process, sessions: set[int]) -> bool:
    try:
        return os.getsid(process.pid) in sessions
    except ProcessLookupError:
        return False


def _runs(process: psutil.Process) -> bool:
    """Return whether a process runs. An ended process may exist as long as its parent does not reap it."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
