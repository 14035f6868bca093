"""Try ten attacks on secrets and on the way that grades take against nbgrader and against fairclock.

    python3 -m venv nb && nb/bin/pip install nbgrader numpy
    python tests/benchmarks/other_graders.py --python nb/bin/python      # a few minutes

Each file of `tests/exploits/nbgrader` is an attack written for nbgrader's internals. `tests/exploits` has the same
attack on fairclock in a file of the same name. In a generated course, nbgrader grades a class of these attacks with its
own commands and defaults. fairclock grades its class with `python -m grader run`. An attack succeeds if it gets points
in nbgrader's exported gradebook or in fairclock's journal. It also succeeds if it sends secret data to a listening
program. Both graders also grade an honest right hand-in and an honest wrong one. The exit code is 1 if these two do not
get their points, or if an attack on fairclock succeeds.

nbgrader runs a submission in the kernel in which its tests run, and is not made for hostile code. For such code, its
user guide advises a container ("Grading in a docker container"). No container is used here. A container would protect
the course's files from an attack, but not the tests, which run in the submission's kernel.
"""

import argparse
import ast
import contextlib
import select
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

from commanding import Outcome, grader, nothing_left_running, outcomes
from nbgrader_course import CANARY, RIGHT, WRONG, Course
from promises import EXPLOITS, HONEST, Promised, all_promised, hand_in, promised, promised_attacks

THEIRS = EXPLOITS / "nbgrader"
HONEST_WORK = {
    "honest_right": ("honest, worth 10 points", RIGHT, HONEST / "right_and_fast.py"),
    "honest_wrong": ("honest, worth 0 points", WRONG, HONEST / "wrong.py"),
}
WORTH = {"honest_right": 10.0, "honest_wrong": 0.0}
OF = 10
READS, SENDS = ("30_", "31_"), "33_"
"""Attacks that succeed without points: by reading the solution, and by sending it to a listener."""

PORT = 47110
NAME = "\0fairclock-exploit-33"
"""The address to which the files `33_sends_secrets_out.py` send: loopback, and a socket with an abstract name of Linux.
"""


@dataclass(frozen=True)
class Got:
    """The result of one hand-in: points (None without a grade), the grader's text, and whether a secret came out."""

    points: float | None
    says: str = ""
    leaked: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether an attack got points or a secret. All attacks hand in wrong answers, which are worth no points."""
        return bool(self.points) or self.leaked

    def __str__(self) -> str:
        earned = "no grade" if self.points is None else f"{self.points:g} of {OF}"
        return ", ".join(filter(None, (earned, self.says, "the secret came out" * self.leaked)))


def main() -> int:
    """Grade both classes, and compare."""
    parser = argparse.ArgumentParser(description="The same attacks against nbgrader and here.")
    parser.add_argument("--python", type=Path, required=True, help="a Python that has nbgrader and numpy")
    options = parser.parse_args()
    theirs = {path.stem: path.read_text(encoding="utf-8") for path in sorted(THEIRS.glob("*.py"))}
    ours = {one.name: one for one in (*all_promised(EXPLOITS), *promised_attacks()) if one.name in theirs}
    tries = {name: " ".join((ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].split())
             for name, text in theirs.items()}  # fmt: skip
    for name, (what, answer, path) in HONEST_WORK.items():
        tries[name], theirs[name], ours[name] = what, answer, promised(path)
    with tempfile.TemporaryDirectory() as scratch:
        course = Course(Path(scratch) / "nbgrader" / "course", options.python)
        there = graded_elsewhere(course, theirs)
        here = graded_here(Path(scratch) / "fairclock", ours)
        print(f"| hand-in | what it tries | {course.version()} | fairclock {version('fairclock')} |")
        print("| --- | --- | --- | --- |")
    for name, what in tries.items():
        results = [str(got) if name in WORTH else f"{'**succeeds**' if got.succeeded else 'fails'}: {got}"
                   for got in (there[name], here[name])]  # fmt: skip
        print("|", " | ".join((name.replace("_", " "), what, *results)), "|")
    fair = all(there[name].points == here[name].points == worth for name, worth in WORTH.items())
    if not fair:
        print("The honest hand-ins did not get the points that they are worth, so the table proves nothing.")
    return 0 if fair and not any(here[name].succeeded for name in here.keys() - WORTH) else 1


def graded_elsewhere(course: Course, answers: Mapping[str, str]) -> dict[str, Got]:
    """Return each student's result in nbgrader's gradebook, and whether the instructor's text reached a listener."""
    course.make()
    course.collect(answers)
    with listening() as heard:
        graded = course.grade()
    leaks = any(CANARY.encode() in said for said in heard)
    return {name: Got(points, leaked=leaks and name.startswith(SENDS)) for name, points in graded.items()}


def graded_here(folder: Path, files: Mapping[str, Promised]) -> dict[str, Got]:
    """Return each student's result in this kit's journal, and whether a listener was reached."""
    hand_ins = folder / "class"
    hand_ins.mkdir(parents=True)
    for student, one in files.items():
        if attack := promised_attacks().get(one):
            hand_in(hand_ins, student, attack)
        else:
            (hand_ins / student).mkdir()
            shutil.copy(one.path, hand_ins / student / f"{one.lesson}.py")
    with nothing_left_running(), listening() as heard:
        grader("run", hand_ins, "--out", folder / "grades", "--jobs", "1")
    found = outcomes(folder / "grades")
    return {student: _got(student, one, found[student][one.task.full_name], heard) for student, one in files.items()}


def _got(student: str, one: Promised, outcome: Outcome, heard: list[bytes]) -> Got:
    """Return the result of an attack. Attacks that look for secrets raise an exception if they find none."""
    found_none = any(words in outcome.rationale for words in one.says.split(" | "))
    leaked = bool(heard) if student.startswith(SENDS) else student.startswith(READS) and not found_none
    return Got(outcome.points, outcome.status.lower().replace("_", " "), leaked=leaked)


@contextlib.contextmanager
def listening(port: int = PORT, name: str = NAME) -> Iterator[list[bytes]]:
    """Yield a list with the data that each caller sent. It grows during the `with` block and is complete after it.

    Raise `OSError` if another program uses this address.
    """
    heard: list[bytes] = []
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", port)) as loopback, socket.socket(socket.AF_UNIX) as unnamed:
        unnamed.bind(name)
        unnamed.listen()

        def wait() -> None:
            while True:
                last = stop.is_set()
                ready = select.select([loopback, unnamed], [], [], 0.05)[0]
                heard.extend(_all_of(one.accept()[0]) for one in ready)
                if last and not ready:
                    return

        waiter = threading.Thread(target=wait)
        waiter.start()
        try:
            yield heard
        finally:
            stop.set()
            waiter.join()


def _all_of(caller: socket.socket) -> bytes:
    said = b""
    with caller, contextlib.suppress(OSError):
        caller.settimeout(5)
        while some := caller.recv(1 << 16):
            said += some
    return said


if __name__ == "__main__":
    sys.exit(main())
