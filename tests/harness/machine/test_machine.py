"""The environment of a measurement, programs and their packages, background load, and the peak speed of a core."""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.machine import programs
from harness.machine.clocks import watch_background_load
from harness.machine.environment import GIL_OFF, GIL_ON, GIL_ON_AGAIN, NOT_ASKED, Environment

HERE = Environment(
    python="3.11.7",
    implementation="CPython",
    torch="2.13.0+cpu",
    numpy="2.4.6",
    os="Linux 6.1",
    machine="x86_64",
    cpu="Example CPU",
    cores=2,
    usable_cores=2,
    cuda_device=None,
    libc="glibc 2.36",
    settings=(("OMP_NUM_THREADS", "1"),),
    kit="0.1.0",
)


def test_an_environment_survives_json_and_a_damaged_record_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    captured = Environment.capture()
    assert dict(captured.settings)["OMP_NUM_THREADS"] == "7"
    assert captured.python.startswith(platform.python_version())
    for environment in (HERE, captured):
        assert Environment.from_dict(json.loads(json.dumps(environment.to_dict()))) == environment
    record = HERE.to_dict()
    for wrong in ({**record, "settings": []}, {**record, "other": 1}, {k: v for k, v in record.items() if k != "libc"}):
        with pytest.raises(UsageError, match="wrong fields"):
            Environment.from_dict(wrong)


def test_capture_does_not_import_torch() -> None:
    code = (
        "import sys; from harness.machine.environment import Environment, NOT_ASKED\n"
        "assert Environment.capture().cuda_device == NOT_ASKED; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_environment_is_described_in_one_line() -> None:
    free = replace(HERE, python="3.14.0t", gil=GIL_OFF)
    lines = {
        HERE: "2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA",
        replace(HERE, usable_cores=1): "1 of 2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA",
        replace(HERE, cuda_device="H200"): "2 cores · Python 3.11.7 · torch 2.13.0 · H200",
        replace(HERE, cuda_device=NOT_ASKED): "2 cores · Python 3.11.7 · torch 2.13.0",
        replace(HERE, implementation="PyPy"): "2 cores · PyPy 3.11.7 · torch 2.13.0 · no CUDA",
        free: "2 cores · Python 3.14.0t (free-threaded, GIL off) · torch 2.13.0 · no CUDA",
        replace(free, gil=GIL_ON_AGAIN): "2 cores · Python 3.14.0t (free-threaded, GIL on) · torch 2.13.0 · no CUDA",
    }
    assert {environment: environment.describe() for environment in lines} == lines


def test_the_fingerprint_changes_only_with_what_changes_timings() -> None:
    same = (replace(HERE, kit="9.9"), replace(HERE, cuda_device=NOT_ASKED))
    other = (replace(HERE, cpu="Other"), replace(HERE, settings=()), replace(HERE, torch="2.12.0"))
    gils = (replace(HERE, gil=GIL_OFF), replace(HERE, gil=GIL_ON_AGAIN))
    assert {environment.fingerprint() for environment in same} == {HERE.fingerprint()}
    assert HERE.fingerprint() not in {environment.fingerprint() for environment in (*other, *gils)}
    assert len(HERE.fingerprint()) == 12


def test_differences_name_both_sides() -> None:
    other = replace(HERE, python="3.12.1", settings=(), cuda_device=NOT_ASKED)
    assert HERE.differences(other) == ("python: 3.11.7, 3.12.1", "settings: OMP_NUM_THREADS=1, none")
    assert HERE.differences(HERE) == ()
    assert HERE.differences(replace(HERE, cuda_device="H200")) == ("cuda_device: none, H200",)
    assert HERE.differences(replace(HERE, gil=GIL_OFF)) == ("gil: on, off",)


@pytest.mark.parametrize(
    ("built_without", "enabled", "state"),
    [(1, False, GIL_OFF), (1, True, GIL_ON_AGAIN), (0, True, GIL_ON), (None, None, GIL_ON)],
)
def test_a_free_threaded_build_is_recognised_and_whether_its_gil_is_on(
    monkeypatch: pytest.MonkeyPatch, built_without: int | None, enabled: bool | None, state: str
) -> None:
    variables = {**sysconfig.get_config_vars(), "Py_GIL_DISABLED": built_without}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    if enabled is None:  # Python 3.11 and 3.12
        monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    else:
        monkeypatch.setattr(sys, "_is_gil_enabled", lambda: enabled, raising=False)
    captured = Environment.capture(ask_cuda=False)
    assert captured.gil == state
    assert captured.free_threaded == bool(built_without)
    assert ("free-threaded" in captured.describe()) == bool(built_without)
    assert ("GIL is off" in captured.caution()) == (state == GIL_OFF)
    assert bool(captured.caution()) == bool(built_without)


def test_a_record_without_the_field_gil_keeps_its_fingerprint() -> None:
    record = HERE.to_dict()
    del record["gil"]
    assert Environment.from_dict(record) == HERE
    recorded = Path(__file__).parents[3] / "lessons" / "recorded" / "06_counts.jsonl"
    kept = [json.loads(line) for line in recorded.read_text(encoding="utf-8").splitlines()]
    assert kept
    for each in kept:
        assert Environment.from_dict(each["environment"]).fingerprint() == each["fingerprint"]


def test_a_user_who_is_not_root_needs_sudo_except_for_brew_and_a_missing_package_has_no_command() -> None:
    headers = f"apt-get install python{sys.version_info.major}.{sys.version_info.minor}-dev"
    assert programs.install("Python headers", "apt-get", root=True) == headers
    assert programs.install("valgrind", "dnf", root=False) == "sudo dnf install valgrind"
    assert programs.install("C compiler", "brew", root=False) == "brew install gcc"
    expected = "brew has no package with bubblewrap: use a Linux machine with another package manager"
    assert programs.install("bubblewrap", "brew") == expected


def test_every_manager_has_a_command_for_every_package_or_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name, manager in product(programs.PACKAGES, programs.MANAGERS):
        command = programs.install(name, manager, root=True)
        assert command.startswith(f"{manager} ")
        assert len(command.split()) >= 3
        monkeypatch.setattr(shutil, "which", lambda found, only=manager: found == only or None)
        assert programs.install(name, root=True) == command
    monkeypatch.setattr("sys.platform", "darwin")
    assert programs.install("C compiler") == programs.install("C++ compiler") == "xcode-select --install"


def test_a_busy_process_shows_up_as_background_load() -> None:
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        with watch_background_load() as found:
            time.sleep(0.5)
    finally:
        burner.kill()
        burner.wait()
    assert found.is_high
    assert found.cores <= (os.cpu_count() or 1)
