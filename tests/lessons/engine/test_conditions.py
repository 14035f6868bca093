import pytest

from harness.errors import UsageError
from lessons.engine import conditions
from lessons.engine.conditions import TOO_BUSY, Conditions


def test_a_machine_that_is_too_busy_for_the_control_still_runs_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_busy(**_: float) -> None:
        raise UsageError("Each block was interrupted.")

    monkeypatch.setattr(conditions, "aa_control", too_busy)
    measured = Conditions.measure(fast=True)
    assert measured.noise == TOO_BUSY
    assert "too busy" in measured.describe()
