import pytest

from harness.compilers.waiting import waiting


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("compiling"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_terminal_is_told_what_the_wait_is_for_and_left_clean(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with waiting("compiling gelu"):
        pass
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling gelu" in shown.err
