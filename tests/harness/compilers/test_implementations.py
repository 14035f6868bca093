import importlib.util
import sys
from pathlib import Path

import pytest

from harness.compilers import implementations, lacking, times_under_each
from harness.compilers.implementations import Implementation, ImplementationTimes


def squares(n: int) -> int:
    return sum(i * i for i in range(n))


def as_a_program(folder: Path, name: str, lines: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    path.chmod(0o755)


def test_what_is_missing_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    cpython, *others = times_under_each(squares, 100, calls=4)
    assert (cpython.name, cpython.build_s, len(cpython.calls_s), cpython.reason) == ("CPython", 0.0, 4, "")
    assert cpython.later_s > 0
    assert [each.calls_s for each in others] == [()] * 3
    pypy, cython, nuitka = (each.reason for each in others)
    assert pypy.startswith("PyPy is missing: ")
    assert "pypy3" in pypy
    assert cython == "Cython is missing: python -m pip install cython"
    assert nuitka == "Nuitka is missing: python -m pip install nuitka"


def test_an_interpreter_runs_the_function_in_its_own_process_or_fails_with_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    as_a_program(tmp_path, "pypy3", f'exec {sys.executable} "$@"')
    found = {each.name: each for each in times_under_each(squares, 100, calls=3, building=False)}
    assert len(found["PyPy"].calls_s) == 3
    as_a_program(tmp_path, "pypy3", "echo Boom >&2; exit 3")
    found = {each.name: each for each in times_under_each(squares, 100, calls=3, building=False)}
    assert found["PyPy"] == ImplementationTimes("PyPy", reason="PyPy failed: Boom")


def test_a_compiler_replaces_the_source_and_a_short_run_does_not_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import sys, os; os.mkdir('program'); os.replace(sys.argv[1], 'program/__init__.py')"
    compiler = Implementation("Moved", sys.executable, (sys.executable, "-c", text))
    monkeypatch.setattr(implementations, "implementations", lambda: (compiler,))
    (found,) = times_under_each(squares, 100, calls=2, building=False)
    assert "run the lesson once without --fast" in found.reason
    (found,) = times_under_each(squares, 100, calls=2)
    assert found.reason == ""
    assert found.build_s > 0
    assert len(found.calls_s) == 2


@pytest.mark.slow
@pytest.mark.equipment("Cython and a C compiler", not lacking() and importlib.util.find_spec("Cython"))
def test_cython_builds_an_extension_that_cpython_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    cython = implementations.implementations()[2]
    monkeypatch.setattr(implementations, "implementations", lambda: (cython,))
    (found,) = times_under_each(squares, 100, calls=2)
    assert (found.name, found.reason, len(found.calls_s)) == ("Cython", "", 2)
    assert found.build_s > 0
