"""The results of `doctor` for each part of a machine, with a fix for each fault."""

import sys
from pathlib import Path

import pytest

from grader.diagnosis import doctor, machine
from grader.diagnosis.doctor import failure_reason
from grader.diagnosis.machine import HealthCheck
from grader.isolation import sandbox_problems
from harness.storage import disk_cache, user_files

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the fix is another system")


def lacks(check: HealthCheck, found: str, fix: str) -> None:
    assert not check.works
    assert found in check.found
    assert fix in check.fix


def test_torch_that_cannot_be_imported_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Traceback …\nOSError: libcusparseLt.so.0: cannot open shared object file\n"
    for status, message, found in ((0, "DeprecationWarning", ""), (1, said, "libcusparseLt.so.0: cannot open")):
        monkeypatch.setattr(doctor, "ran", lambda *_, status=status, message=message, **__: (status, message))
        check = doctor.torch()
        assert (check.works, found in check.found, check.needed) == (not found, True, True)
    assert "--force-reinstall 'torch>=2.9'" in check.fix
    assert "this CPU lacks instructions" in failure_reason(-4, "")


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
