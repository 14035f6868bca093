"""The findings of `doctor` for each part of a machine, with a fix for each fault."""

import subprocess
import sys
from pathlib import Path

import pytest

from grader.diagnosis import folders, measuring, packages, tools
from grader.diagnosis.finding import Finding
from grader.isolation import machine_facts
from harness.errors import MachineError
from harness.machine import clocks, lanes, programs
from harness.machine.clocks import process_cpu
from harness.processes import process_env
from harness.storage import disk_cache, user_files


def lacks(finding: Finding, found: str, fix: str) -> None:
    assert not finding.present
    assert found in finding.found
    assert fix in finding.fix


def test_each_fault_of_torch_is_told_the_oldest_that_works_or_why_it_cannot_be_imported() -> None:
    for version, found in (("", "missing"), ("2.8.0+cu126", "2.8.0+cu126 is too old"), ("1.13.1", "1.13.1 is too old")):
        finding = packages.torch_finding(version, "")
        lacks(finding, found, "pip install 'torch>=2.9'")
        assert finding.needed
    for version in ("2.9.0", "2.13.0+cpu", "2.15.0+cu132", "3.0.0a0"):
        assert packages.torch_finding(version, "") == Finding("torch", present=True, found=version, needed=True)
    why = packages.failure_reason(1, "Traceback …\nOSError: libcusparseLt.so.0: cannot open shared object file\n")
    lacks(packages.torch_finding("2.15.0", why), "libcusparseLt.so.0: cannot open", "--force-reinstall 'torch>=2.9'")
    assert packages.failure_reason(0, "DeprecationWarning") == ""
    assert packages.failure_reason(3, "") == "exit status 3"
    assert packages.failure_reason(-11, "") == "ended by SIGSEGV"
    assert "this CPU lacks instructions" in packages.failure_reason(-4, "")


linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the fix is another system")


@linux
def test_each_fault_of_valgrind_is_told_its_own_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "manager", lambda: "apt-get")
    path, symbols = "/usr/bin/valgrind", programs.install("libc debug symbols", "apt-get")
    unknown = "==7== valgrind: Unrecognised instruction at address 0x4e2a3f0.\n"
    mandatory = (
        "valgrind:  Fatal error at startup: a function redirection\nvalgrind:  which is mandatory for this tool\n"
    )
    lacks(tools.valgrind_finding(None, 0, ""), "missing", programs.VALGRIND)
    lacks(tools.valgrind_finding(path, -4, unknown), "does not know an instruction of this CPU", "a newer version")
    lacks(tools.valgrind_finding(path, 1, mandatory), "no debug symbols of the C library", symbols)
    lacks(tools.valgrind_finding(path, 1, "valgrind: failed to start tool\n"), "does not work (valgrind: fa", "again")


@linux
def test_a_valgrind_that_does_not_work_is_found_by_trying_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "valgrind"
    planted.write_text(
        "#!/bin/sh\necho '==1== Process terminating with default action of signal 4 (SIGILL)' >&2\nexit 132\n"
    )
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    lacks(tools.valgrind(), "does not know an instruction of this CPU", "install a newer version")


def test_a_compiler_without_the_headers_of_its_library_is_found_by_trying_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, look, fix in (
        ("gcc", tools.c_compiler, programs.C_COMPILER),
        ("g++", tools.cpp_compiler, programs.CPP_COMPILER),
    ):
        planted = tmp_path / name
        planted.write_text(
            "#!/bin/sh\necho '<stdin>:2:10: fatal error: string.h: No such file or directory' >&2\nexit 1\n"
        )
        planted.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        lacks(look(), "fatal error: string.h", fix)


@pytest.mark.program("gcc")
@pytest.mark.program("g++")
def test_compilers_that_compile_and_a_header_that_is_there_are_right(tmp_path: Path) -> None:
    assert tools.c_compiler().present
    assert tools.cpp_compiler().present
    lacks(tools.headers(tmp_path), str(tmp_path / "Python.h"), programs.PYTHON_HEADERS)
    (tmp_path / "Python.h").touch()
    assert tools.headers(tmp_path).present


@linux
def test_random_layouts_and_bound_cores_are_told_their_own_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    for trouble, fix in (
        (process_env.NO_SETARCH, programs.SETARCH),
        ("setarch: failed to set personality to x86_64: Operation not permitted", "seccomp=unconfined"),
        ("setarch: x86_64: Unrecognized architecture", "install it again"),
    ):
        monkeypatch.setattr(process_env, "why_layout_varies", lambda trouble=trouble: trouble)
        lacks(measuring.layout(), trouble, fix)
    for usable, there, fix in ((1, 8, "taskset"), (1, 1, "--jobs 1"), (2, 8, "")):
        monkeypatch.setattr(measuring, "usable_cores", lambda usable=usable: usable)
        monkeypatch.setattr("os.cpu_count", lambda there=there: there)
        assert measuring.cores().present == (not fix)
        assert fix in measuring.cores().fix


@linux
def test_a_clock_that_may_not_be_read_is_told_from_a_process_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as other:

        def refuse(_clock: int) -> float:
            raise OSError(22, "Invalid argument")

        monkeypatch.setattr("time.clock_gettime", refuse)
        with pytest.raises(
            MachineError, match=r"a process cannot read another process's CPU clock \(Invalid argument\)"
        ):
            process_cpu(other.pid)
        lacks(measuring.clock(), "another process's CPU clock", "gVisor")
        other.communicate(b"\n")
    with pytest.raises(clocks.ProcessGoneError, match="has ended"):
        process_cpu(other.pid)


def test_each_fault_of_a_folder_is_told_the_variable_that_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folders.user_folder("progress", tmp_path / "to" / "be" / "made", user_files.FOLDER_VARIABLE).present
    assert not (tmp_path / "to").exists()
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        finding = folders.user_folder("compiled code", folder, disk_cache.FOLDER_VARIABLE)
        lacks(finding, "this user cannot write to", "export FAIRCLOCK_CACHE=FOLDER")
    with monkeypatch.context() as patch:
        patch.setattr(machine_facts, "noexec", lambda _path: "/home")
        finding = folders.user_folder("compiled code", tmp_path, disk_cache.FOLDER_VARIABLE, runs=True)
        lacks(finding, "/home, which is mounted with noexec", "export FAIRCLOCK_CACHE=FOLDER")
        assert folders.user_folder("progress", tmp_path, user_files.FOLDER_VARIABLE).present
        lacks(folders.temporary(), "noexec", "TMPDIR")
    with monkeypatch.context() as patch:
        patch.setattr(folders, "ENOUGH_BYTES", 1 << 60)
        finding = folders.user_folder("progress", tmp_path, user_files.FOLDER_VARIABLE)
        lacks(finding, "MiB of", "export FAIRCLOCK_STATE=FOLDER")
        lacks(folders.temporary(), "MiB of", "TMPDIR")

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    lacks(folders.temporary(), "No usable temporary directory", "export TMPDIR=~/tmp")


def test_locks_that_cannot_be_taken_are_told_the_command_that_lets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, file = tmp_path / "lanes", tmp_path / "file"
    there.mkdir()
    file.touch()
    assert folders.locks_fix(there) == f"`sudo chmod 1777 {there} && sudo chmod -f a+r {there}/*.lock`"
    assert folders.locks_fix(file) == f"it is a file, not a folder, so remove it: `sudo rm {file}`"
    assert f"export {lanes.DIRECTORY_VARIABLE}=FOLDER" in folders.locks_fix(tmp_path / "none")
    monkeypatch.setenv(lanes.DIRECTORY_VARIABLE, str(file))
    lacks(folders.locks(), str(file), f"sudo rm {file}")
    assert folders.locks().needed
