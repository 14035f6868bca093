"""Interpreters are found on the search path and by a variable, and are asked whether they run with the GIL."""

import sys
from pathlib import Path

import pytest

from harness.machine import programs
from harness.threads import builds

HERE = getattr(sys, "_is_gil_enabled", lambda: True)()
if sys.platform == "win32":
    pytest.skip("these tests write shell scripts in place of interpreters", allow_module_level=True)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the whole search path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(builds.VARIABLE, raising=False)
    return tmp_path


def interpreter(folder: Path, name: str, version: str, *, gil: bool, interpreters: str = "") -> str:
    """Write a script that answers as an interpreter does, and return its path."""
    file = folder / name
    said = f'{{"version": "{version}", "gil": {str(gil).lower()}, "interpreters": "{interpreters}"}}'
    file.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_this_interpreter_is_asked_for_its_version() -> None:
    build = builds.build_of(sys.executable)
    assert build is not None
    assert build.version == ".".join(map(str, sys.version_info[:3]))
    assert build.gil is HERE
    assert build.name.endswith("t") is not HERE
    assert bool(build.interpreters) is (sys.version_info >= (3, 13))


def test_a_program_that_is_not_python_is_no_build(tmp_path: Path) -> None:
    file = tmp_path / "python3.14t"
    for text in ("#!/bin/sh\nexit 3\n", "#!/bin/sh\necho []\n", "#!/bin/sh\necho no JSON\n", "broken"):
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        assert builds.build_of(str(file)) is None
    assert builds.build_of(str(tmp_path / "missing")) is None


@pytest.mark.skipif(not HERE, reason="this interpreter is itself free-threaded")
def test_without_a_free_threaded_build_the_command_that_installs_one_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builds.free_threaded() is None
    assert builds.install() in builds.lacking_free_threaded()
    assert builds.VARIABLE in builds.lacking_free_threaded()
    monkeypatch.setattr(programs, "manager", lambda: "dnf")
    assert "dnf install python3.14-freethreading" in builds.lacking_free_threaded()
    interpreter(place, "python3.13t", "3.13.5", gil=True)  # GIL on, whatever the name says
    assert builds.free_threaded() is None


@pytest.mark.skipif(not HERE, reason="this interpreter is itself free-threaded")
@pytest.mark.parametrize("name", ["python3.14t", "python3.13-nogil", "home/.local/bin/python3.13t"])
def test_a_free_threaded_build_is_found_by_its_name_or_by_the_variable(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    path = interpreter(place, name, "3.14.2", gil=False)
    assert builds.free_threaded() == builds.PythonBuild(path, "3.14.2", gil=False)
    assert builds.lacking_free_threaded() == ""
    monkeypatch.setenv(builds.VARIABLE, mine := interpreter(place, "mine", "3.13.9", gil=False))
    assert (build := builds.free_threaded()) is not None
    assert (build.path, builds.wrong_variable()) == (mine, "")
    monkeypatch.setenv(builds.VARIABLE, interpreter(place, "usual", "3.14.2", gil=True))
    assert builds.free_threaded() is None
    assert "Python 3.14.2, which runs with the GIL" in builds.lacking_free_threaded()
    monkeypatch.setenv(builds.VARIABLE, str(place / "missing"))
    assert "does not run as Python" in builds.lacking_free_threaded()


def test_a_free_threaded_interpreter_searches_for_a_usual_build(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", interpreter(place, "free", "3.14.2", gil=False))
    assert builds.usual() is None
    other = interpreter(place, "python3.13", "3.13.5", gil=True)
    assert builds.usual() == builds.PythonBuild(other, "3.13.5", gil=True)
    assert builds.free_threaded() == builds.PythonBuild(sys.executable, "3.14.2", gil=False)


def test_sub_interpreters_need_the_gil_and_a_module(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", interpreter(place, "this", "3.11.2", gil=True))
    assert builds.with_interpreters() is None
    assert "uv python install 3.14" in builds.lacking_interpreters()
    path = interpreter(place, "python3.14", "3.14.2", gil=True, interpreters="concurrent.interpreters")
    assert (build := builds.with_interpreters()) is not None
    assert (build.path, builds.lacking_interpreters()) == (path, "")
