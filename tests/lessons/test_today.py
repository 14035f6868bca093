import pytest

from harness.errors import UsageError
from lessons.engine import today
from lessons.engine.today import HOPELESS, Today


def test_a_machine_too_busy_for_the_control_still_takes_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_busy(**_: float) -> None:
        raise UsageError("Noise is told from windows.")

    monkeypatch.setattr(today, "aa_control", too_busy)
    measured = Today.measure(fast=True)
    assert measured.noise == HOPELESS
    assert "too busy" in measured.describe()
