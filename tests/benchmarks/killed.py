"""A large class whose run is killed again and again: is each hand-in graded once, rightly, and none lost?

    python tests/benchmarks/killed.py --students 1000 --jobs 2 --every 100

Every student hands in one lesson: a known answer of a truth table or the reference solution, with words of their own,
so that no two hand-ins are the same file. `kill -9` ends the run every so many seconds, and the same command goes on.
Afterwards the journal must hold one grade for each hand-in, each must be what the same answer earns in a small class of
its own, and points in the gradebook and in every student's results must be those. Prints the rate, the kills, the
supervisor's peak memory and the journal's size; ends with 1 when anything differs.
"""

import argparse
import csv
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))


from commanding import Outcome, command, nothing_left_running, outcomes, peak_of, rows

from grader import catalogue
from harness.units import number, seconds, size, some

SAID = ("I tried the loop first.", "Is there a faster way?", "This took me all night.", "Works on my machine.")
LOOK_S = 0.2


def main() -> int:
    """Grade each answer alone, then the class with all its kills; compare."""
    parser = argparse.ArgumentParser(description="A class whose run is killed again and again.")
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--every", type=float, default=100.0, help="seconds between kills")
    parser.add_argument("--lessons", nargs="*", default=[], help="beginnings of names; default: all")
    options = parser.parse_args()
    rng = random.Random(0)
    known = answers(options.lessons)
    picked = list(itertools.islice(itertools.cycle(rng.sample(sorted(known), len(known))), options.students))
    with tempfile.TemporaryDirectory() as scratch, nothing_left_running():
        alone, together = Path(scratch, "alone"), Path(scratch, "together")
        fill(alone / "class", dict(zip(map(name_of, sorted(known)), sorted(known), strict=True)), known, rng)
        finish(alone, jobs=1)
        students = {f"student{place:05}": answer for place, answer in enumerate(picked)}
        fill(together / "class", students, known, rng)
        began_s = time.perf_counter()
        kills, most_bytes = 0, 0
        while True:
            ended, peak = run_for(together, options.jobs, options.every)
            most_bytes = max(most_bytes, peak)
            if ended:
                break
            kills += 1
        wall_s = time.perf_counter() - began_s
        journal = sum(path.stat().st_size for path in (together / "out").glob("grades.sqlite*"))
        wanted = {answer: outcomes(alone / "out").get(name_of(answer), {}) for answer in known}
        trouble = differences(together / "out", students, wanted)
    for line in trouble:
        print(line)
    print(
        f"{some(options.students, 'hand-in')} in {seconds(wall_s)}: {number(options.students * 60 / wall_s)} a minute"
    )
    print(f"{some(kills, 'kill')}; supervisor's peak memory {size(most_bytes)}; journal {size(journal)}")
    print(f"{some(len(trouble), 'difference')} from what each answer earns alone")
    return 1 if trouble else 0


Answer = tuple[str, str]
"""A lesson, and which answer to it."""


def answers(lessons: list[str]) -> Mapping[Answer, str]:
    """The known answers of these lessons, as files that a student could hand in."""
    found = {}
    for lesson in catalogue.load().lessons:
        if lessons and not any(lesson.startswith(beginning) for beginning in lessons):
            continue
        found[lesson, "solution"] = catalogue.solution(lesson).read_text(encoding="utf-8")
        for task in catalogue.load().tasks(lesson):
            for path in sorted(task.known.glob("*.py")):
                found[lesson, f"{task.name}-{path.stem}"] = path.read_text(encoding="utf-8")
    return found


def name_of(answer: Answer) -> str:
    """A student called like an answer."""
    return "-".join(answer)


def fill(folder: Path, students: Mapping[str, Answer], known: Mapping[Answer, str], rng: random.Random) -> None:
    """Let each student hand in their answer, with a remark of their own."""
    for student, answer in students.items():
        path = folder / student / f"{answer[0]}.py"
        path.parent.mkdir(parents=True)
        remark = f"\n# {student}: {rng.choice(SAID)}\n"
        path.write_text(known[answer] + remark, encoding="utf-8")


def start(place: Path, jobs: int) -> "subprocess.Popen[bytes]":
    """Start the run, or go on with it."""
    return subprocess.Popen(command("run", place / "class", "--out", place / "out", "--jobs", str(jobs), "--quiet"))


def finish(place: Path, jobs: int) -> None:
    """Grade a class to its end."""
    if code := start(place, jobs).wait():
        raise SystemExit(f"The run of {place.name} ended with {code}.")


def run_for(place: Path, jobs: int, every_s: float) -> tuple[bool, int]:
    """Run until the end or until it is killed; whether it came to its end, and its peak memory in bytes."""
    running, most_bytes = start(place, jobs), 0
    deadline_s = time.perf_counter() + every_s
    while time.perf_counter() < deadline_s:
        most_bytes = max(most_bytes, peak_of(running.pid))
        if running.poll() is not None:
            if running.returncode:
                raise SystemExit(f"The run ended with {running.returncode}.")
            return True, most_bytes
        time.sleep(LOOK_S)
    running.send_signal(signal.SIGKILL)
    running.wait()
    return False, most_bytes


def differences(out: Path, students: Mapping[str, Answer], wanted: Mapping[Answer, Mapping[str, Outcome]]) -> list[str]:
    """Return what is not as it should be: in the journal, the gradebook, and the students' results."""
    graded = Counter(student for (student,) in rows(out, "SELECT student FROM gradings WHERE NOT faulted"))
    told = [f"{student} was graded {graded[student]} times" for student in students if graded[student] != 1]
    found = outcomes(out)
    book = {row[0]: row for row in csv.reader((out / "gradebook.csv").read_text(encoding="utf-8").splitlines())}
    for student, answer in students.items():
        got = {task: (one.status, one.points) for task, one in found.get(student, {}).items()}
        right = {task: (one.status, one.points) for task, one in wanted[answer].items()}
        if got != right:
            told.append(f"{student} handed in {name_of(answer)}: {got}, alone {right}")
        points = sum(points for _, points in got.values())
        results = json.loads((out / student / "results.json").read_text(encoding="utf-8"))
        if abs(results["score"] - points) > 1e-6 or not (out / student / "report.html").is_file():
            told.append(f"{student}: results.json says {results['score']}, the journal {points}")
        if not any(cell and abs(float(cell) - points) < 0.01 for cell in book[student] if _is_number(cell)):
            told.append(f"{student}: the gradebook says {book[student]}, the journal {points}")
    return told


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit()


if __name__ == "__main__":
    sys.exit(main())
