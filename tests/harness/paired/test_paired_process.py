import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from harness.paired import paired_process, process_env
from harness.paired.paired_process import PairedProcess, start_process, stop_all
from harness.paired.paired_process_main import make_job


def test_the_environment_has_only_those_variables_of_the_caller_that_python_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.delenv("SYSTEMROOT", raising=False)
    variables = paired_process.process_environment()
    assert variables["LD_LIBRARY_PATH"] == "/nowhere"
    assert set(variables) == {*process_env.ENVIRONMENT, "LD_LIBRARY_PATH", "PYTHONPATH", "FAIRCLOCK_PAIRED_PROCESS"}


def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired_process, "_END_S", 0.1)
    endless = PairedProcess("candidate", make_job("pass", "while True: pass"), start_process())
    stop_all([endless])
    assert not psutil.pid_exists(endless.pid)
