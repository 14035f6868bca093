"""The results of `doctor` for each part of a machine, with a fix for each fault."""

import json
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from grader.diagnosis import doctor, machine
from grader.diagnosis.doctor import failure_reason
from grader.diagnosis.machine import HealthCheck
from grader.isolation import sandbox_problems
from harness import extensions
from harness.machine import lanes, programs
from harness.processes import process_env
from harness.storage import disk_cache, user_files

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the fix is another system")


def lacks(check: HealthCheck, found: str, fix: str) -> None:
    assert not check.works
    assert found in check.found
    assert fix in check.fix


def plant(folder: Path, name: str, said: str, status: int) -> None:
    """Write a program that prints a text on standard error and ends with an exit status."""
    (folder / name).write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {status}\n")
    (folder / name).chmod(0o755)


def test_torch_that_cannot_be_imported_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Traceback …\nOSError: libcusparseLt.so.0: cannot open shared object file\n"
    for status, message, found in ((0, "DeprecationWarning", ""), (1, said, "libcusparseLt.so.0: cannot open")):
        monkeypatch.setattr(doctor, "ran", lambda *_, status=status, message=message, **__: (status, message))
        check = doctor.torch()
        assert (check.works, found in check.found, check.needed) == (not found, True, True)
    assert "--force-reinstall 'torch>=2.9'" in check.fix
    assert failure_reason(3, "") == "exit status 3"
    assert failure_reason(-11, "") == "ended by SIGSEGV"
    assert "this CPU lacks instructions" in failure_reason(-4, "")


def test_jupyter_needs_jupyterlab_or_a_kernel_for_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(**versions: str) -> HealthCheck:
        def version(name: str) -> str:
            if name not in versions:
                raise PackageNotFoundError
            return versions[name]

        monkeypatch.setattr(doctor, "version", version)
        return doctor.notebooks()

    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    lacks(check(), "missing (needed only for notebooks)", "[notebook]")
    assert check(ipykernel="7.1", jupyterlab="4.6").found == "JupyterLab 4.6, with the kernel python3"
    lacks(check(ipykernel="7.1"), "no kernel is registered", "ipykernel install --user --name fairclock")
    (tmp_path / "kernels" / "mine").mkdir(parents=True)
    registered = {"argv": [sys.executable], "display_name": "mine", "language": "python"}
    (tmp_path / "kernels" / "mine" / "kernel.json").write_text(json.dumps(registered))
    assert "registered as the kernel mine" in check(ipykernel="7.1").found


@linux
def test_each_fault_of_valgrind_is_told_its_own_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    lacks(doctor.valgrind(), "missing", programs.VALGRIND)
    plant(tmp_path, "valgrind", "valgrind: failed to start tool", 1)
    lacks(doctor.valgrind(), "does not work (valgrind: failed to start tool)", "again")


def test_a_compiler_without_headers_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gcc", "g++"):
        plant(tmp_path, name, "<stdin>:2:10: fatal error: string.h: No such file or directory", 1)
    monkeypatch.setenv("PATH", str(tmp_path))
    c, cpp = doctor.compilers()
    lacks(c, "fatal error: string.h", programs.C_COMPILER)
    lacks(cpp, "fatal error: string.h", programs.CPP_COMPILER)
    monkeypatch.setattr(extensions, "headers", lambda: str(tmp_path))
    lacks(doctor.headers(), str(tmp_path / "Python.h"), programs.PYTHON_HEADERS)
    (tmp_path / "Python.h").touch()
    assert doctor.headers().works


@linux
def test_random_layouts_and_bound_cores_are_told_their_own_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    for trouble, fix in (
        (process_env.NO_SETARCH, programs.SETARCH),
        ("setarch: failed to set personality to x86_64: Operation not permitted", "seccomp=unconfined"),
    ):
        monkeypatch.setattr(process_env, "why_layout_varies", lambda trouble=trouble: trouble)
        lacks(machine.layout(), trouble, fix)
    for usable, there, fix in ((1, 8, "taskset"), (1, 1, "--jobs 1"), (2, 8, "")):
        monkeypatch.setattr(machine, "usable_cores", lambda usable=usable: usable)
        monkeypatch.setattr("os.cpu_count", lambda there=there: there)
        assert machine.cores().works == (not fix)
        assert fix in machine.cores().fix


@linux
def test_a_clock_that_may_not_be_read_is_told_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_clock: int) -> float:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr("time.clock_gettime", refuse)
    lacks(machine.clock(), "a process cannot read another process's CPU clock (Invalid argument)", "gVisor")


def test_each_faulty_folder_gets_the_variable_to_move_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(cache: Path, state: Path) -> dict[str, HealthCheck]:
        monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(cache))
        monkeypatch.setenv(user_files.FOLDER_VARIABLE, str(state))
        return {one.part: one for one in machine.folders()}

    assert check(tmp_path, tmp_path / "to" / "be" / "made")["progress"].works
    assert not (tmp_path / "to").exists()
    (tmp_path / "file").touch()
    found = check(tmp_path / "file", tmp_path / "file" / "below")
    lacks(found["compiled code"], "this user cannot write to", "export FAIRCLOCK_CACHE=FOLDER")
    lacks(found["progress"], "this user cannot write to", "export FAIRCLOCK_STATE=FOLDER")
    with monkeypatch.context() as patch:
        patch.setattr(sandbox_problems, "noexec", lambda _path: "/home")
        found = check(tmp_path, tmp_path)
        lacks(found["compiled code"], "/home, which is mounted with noexec", "export FAIRCLOCK_CACHE=FOLDER")
        assert found["progress"].works
        lacks(found["temporary files"], "noexec", "export TMPDIR=FOLDER")
    with monkeypatch.context() as patch:
        patch.setattr(machine, "ENOUGH_BYTES", 1 << 60)
        found = check(tmp_path, tmp_path)
        lacks(found["progress"], "MiB of", "export FAIRCLOCK_STATE=FOLDER")
        lacks(found["temporary files"], "MiB of", "TMPDIR")


def test_locks_that_cannot_be_taken_get_a_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, file = tmp_path / "lanes", tmp_path / "file"
    there.mkdir()
    file.touch()
    assert machine.locks_fix(there) == f"`sudo chmod 1777 {there} && sudo chmod -f a+r {there}/*.lock`"
    assert f"export {lanes.DIRECTORY_VARIABLE}=FOLDER" in machine.locks_fix(tmp_path / "none")
    monkeypatch.setenv(lanes.DIRECTORY_VARIABLE, str(file))
    lacks(machine.locks(), str(file), f"export {lanes.DIRECTORY_VARIABLE}=FOLDER")
    assert machine.locks().needed
