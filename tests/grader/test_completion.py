"""What a shell offers on Tab, asked of the shells themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from commanding import ROOT, command

from grader import catalogue, completion
from grader.__main__ import app
from grader.errors import UsageError
from lessons.engine.catalogue import entries

PATIENCE_S = 30


def made(shell: str) -> str:
    return completion.script(shell, completion.verbs(app), catalogue.load().lessons)


@pytest.fixture
def bash(tmp_path: Path) -> Path:
    (tmp_path / "fairclock.sh").write_text(made("bash"))
    return tmp_path / "fairclock.sh"


def offered(script: Path, line: str) -> list[str]:
    """What bash's own function offers for the last word of a line."""
    words = line.split(" ")
    asked = f"source {script}; COMP_WORDS=({' '.join(f'{word!r}' for word in words)}); COMP_CWORD={len(words) - 1}; "
    ask = asked + '_fairclock python; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python -m gr", ["grader"]),
        ("python -m lessons.04", ["lessons.04_autorange"]),
        ("python -X dev -m grader do", ["doctor"]),
        ("python -m grader check 04", ["04_autorange"]),
        ("python -m grader check --hint 04", ["04_autorange"]),
        ("python -m grader check --wa", ["--watch"]),
        ("python -m grader run hw1 --se", ["--seed-file"]),
        ("python -m grader run hw1 --lessons 05", ["05_compare"]),
        ("python -m grader run hw1 --out ", []),
        ("python -m grader run ", []),
        ("python -m lessons.04_autorange --fa", ["--fast"]),
        ("python script.py ", []),
        ("python -m http.server ", []),
    ],
)
def test_bash_offers_verbs_options_and_lessons_and_leaves_files_to_itself(
    bash: Path, line: str, words: list[str]
) -> None:
    assert offered(bash, line) == words


def test_every_verb_and_every_lesson_is_offered(bash: Path) -> None:
    listed = subprocess.run(command("--help"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    verbs = [line.split()[0] for line in listed.partition("Commands:")[2].splitlines() if line.strip()[:1].isalpha()]
    found = offered(bash, "python -m grader ")
    assert set(found) <= {*verbs, "--help"}
    assert {"check", "run", "export", "release"} <= set(found)
    assert set(offered(bash, "python -m ")) == {"grader", "lessons", *(f"lessons.{one.name}" for one in entries())}
    assert offered(bash, "python -m grader check ") == list(catalogue.load().lessons)


def test_the_options_of_lessons_are_those_that_lessons_have() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "lessons.04_autorange", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert all(option in shown for option in completion.LESSON_OPTIONS)


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.program(shell)) for shell in ("bash", "zsh")])
def test_tab_completes_in_the_shell_itself(shell: str, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(made(shell))
    start = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"]}[shell]
    environment = {**os.environ, "HOME": str(tmp_path), "PS1": "> ", "TERM": "dumb"}
    child = pexpect.spawn(shell, start, env=environment, encoding="utf-8", timeout=PATIENCE_S, cwd=str(tmp_path))
    try:
        child.sendline(f"source {tmp_path / 'script'}; echo rea''dy")
        child.expect("ready")
        child.send("echo python; : ; ")
        child.sendcontrol("u")
        child.send("python -m grader che\t")
        child.expect("grader check")
        child.send("04_a\t")
        child.expect("04_autorange")
    finally:
        child.close(force=True)


@pytest.mark.program("fish")
def test_fish_offers_the_same(tmp_path: Path) -> None:
    (tmp_path / "script.fish").write_text(made("fish"))
    for line, word in (
        ("python -m gr", "grader"),
        ("python -m lessons.04", "lessons.04_autorange"),
        ("python -m grader do", "doctor"),
        ("python -m grader check 04", "04_autorange"),
        ("python -m grader check --wa", "--watch"),
        ("python -m grader run hw1 --lessons 05", "05_compare"),
        ("python -m lessons.04_autorange --fa", "--fast"),
    ):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {tmp_path / 'script.fish'}; complete -C '{line}'"],
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert word in done.stdout.split(), (line, done.stdout, done.stderr)


def test_the_command_shows_the_script_of_the_shell_that_asks() -> None:
    ask = f"{sys.executable} -m grader --show-completion; true"
    done = subprocess.run(["bash", "--norc", "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\n") == made("bash").rstrip("\n")


def test_installing_twice_leaves_one_line_and_what_was_there(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    for _ in range(2):
        path = completion.install("bash", "# words\n", tmp_path)
    assert path.read_text() == "# words\n"
    assert (tmp_path / ".bashrc").read_text() == f"alias ll='ls -l'\nsource '{path}'\n"


def test_fish_needs_no_line_anywhere(tmp_path: Path) -> None:
    path = completion.install("fish", "# words\n", tmp_path)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [path]


def test_a_shell_that_is_not_known_is_said() -> None:
    with pytest.raises(UsageError, match="no completion for tcsh; there is for bash, zsh, fish"):
        made("tcsh")
