"""Commands print each error as one sentence, and end with its exit code."""

import pytest
import typer

from harness.command_line.command import guarded


def test_an_internal_error_names_the_file_and_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def fails() -> None:
        raise AttributeError("no such attribute")

    line = fails.__code__.co_firstlineno + 2
    assert guarded(app, "python -m grader", []) == 1
    said = f"Internal error in python -m grader: no such attribute (test_guarded.py, line {line}). Run it with --debug"
    assert capsys.readouterr().err.startswith(said)
