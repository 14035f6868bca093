import pytest

from harness.compilers.waiting import waiting


def test_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("compiling"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_activity_and_is_left_clean(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with waiting("compiling gelu"):
        pass
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling gelu" in shown.err
