"""The completion of `fairclock` in bash, zsh and fish."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from commanding import grader
from installed import environment

from grader import catalogue
from grader.commands import complete
from grader.commands.apps import run_fairclock

DEADLINE_S = 60
LINES = [
    ("fairclock less", ["lessons"]),
    ("fairclock do", ["doctor"]),
    ("fairclock check 04", ["04_autorange"]),
    ("fairclock check --hint 04", ["04_autorange"]),
    ("fairclock check --wa", ["--watch"]),
    ("fairclock lessons 04", ["04_autorange"]),
    ("fairclock notebook 05", ["05_compare"]),
    ("fairclock run hw1 --se", ["--seed-file"]),
    ("fairclock run hw1 --lessons 05", ["05_compare"]),
    ("fairclock run ", []),
]


@pytest.mark.parametrize(("line", "words"), LINES)
def test_bash_completes_commands_options_and_lessons(
    line: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_FAIRCLOCK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with suppress(SystemExit):
        run_fairclock([])
    assert capsys.readouterr().out.split() == words


@pytest.mark.long
@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.program(shell)) for shell in ("bash", "zsh")])
def test_tab_completes_in_the_shell_itself(shell: str, tmp_path: Path) -> None:
    start = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"]}[shell]
    variables = {**environment(tmp_path), "PS1": "> ", "TERM": "dumb"}
    child = pexpect.spawn(shell, start, env=variables, encoding="utf-8", timeout=DEADLINE_S, cwd=str(tmp_path))
    try:
        if shell == "zsh":
            child.sendline("autoload -U +X compinit && compinit -u")
        child.sendline('eval "$(fairclock --show-completion)"; echo rea""dy')
        child.expect("ready\r\n")
        child.send("fairclock che\t")
        child.expect("fairclock check")
        child.send("04_a\t")
        child.expect("04_autorange")
    finally:
        child.close(force=True)


@pytest.mark.long
@pytest.mark.program("fish")
def test_fish_completes_the_same(tmp_path: Path) -> None:
    script = "fairclock --show-completion | source; "
    for line, words in LINES[::3]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"{script}complete -C '{line}'"],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        )
        assert {each.split()[0] for each in done.stdout.splitlines()} >= set(words), (line, done.stdout, done.stderr)


@pytest.mark.program("bash")
def test_installing_names_the_file_and_the_next_shell_has_it(tmp_path: Path) -> None:
    variables = environment(tmp_path)
    done = subprocess.run(
        ["bash", "--norc", "-c", "fairclock --install-completion; true"],
        env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "bash completion installed in" in done.stdout
    ask = ["bash", "-c", "source ~/.bashrc; complete -p fairclock"]
    assert (
        "_fairclock_completion" in subprocess.run(ask, env=variables, capture_output=True, text=True, check=True).stdout
    )


def test_the_completed_lessons_are_those_with_exercises() -> None:
    assert tuple(complete.lessons("")) == catalogue.load().lessons


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_the_grader_names_the_command_that_has_completion_now(option: str) -> None:
    ended = grader(option)
    assert (ended.code, ended.out) == (2, "")
    assert "fairclock --install-completion" in ended.err
