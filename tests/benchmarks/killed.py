"""Kill the run of a large class again and again, and check that each hand-in is graded exactly once and rightly.

    python tests/benchmarks/killed.py --students 1000 --jobs 2 --every 100

Every student hands in one lesson: a known answer of a task or the reference solution. A comment makes each file unique.
`kill -9` ends the run every `--every` seconds, and the same command continues it. Afterwards the journal must have one
grade for each hand-in. A small class without kills gives the expected grade of each answer. The journal, the gradebook
and every student's results must agree with it. It prints the rate, the number of kills, the supervisor's peak memory
and the journal's size. Exit code 1 if anything differs.
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

from grader import catalogue, overlays, paths
from harness.rendering.units import number, seconds, size, some

SAID = ("I tried the loop first.", "Is there a faster way?", "This took me all night.", "Works on my machine.")
LOOK_S = 0.2


def main() -> int:
    """Grade each answer once without kills, grade the class with all kills, and compare the grades."""
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
        f"{some(options.students, 'hand-in')} in {seconds(wall_s)}: {number(options.students * 60 / wall_s)} per minute"
    )
    print(f"{some(kills, 'kill')}; supervisor's peak memory {size(most_bytes)}; journal {size(journal)}")
    print(f"{some(len(trouble), 'difference')} from the grades without kills")
    return 1 if trouble else 0


Answer = tuple[str, str]
"""A lesson, and the name of a known answer."""


def answers(lessons: list[str]) -> Mapping[Answer, str]:
    """Return the known answers of these lessons, as files that a student could hand in."""
    found = {}
    for lesson in catalogue.load().lessons:
        if lessons and not any(lesson.startswith(beginning) for beginning in lessons):
            continue
        found[lesson, "solution"] = paths.solution(lesson).read_text(encoding="utf-8")
        for task in catalogue.load().tasks(lesson):
            for path in sorted(task.known.glob("*.py")):
                found[lesson, f"{task.name}-{path.stem}"] = overlays.whole(path)
    return found


def name_of(answer: Answer) -> str:
    """Return a student name made of the answer's name."""
    return "-".join(answer)


def fill(folder: Path, students: Mapping[str, Answer], known: Mapping[Answer, str], rng: random.Random) -> None:
    """Write each student's answer, with a different comment per student."""
    for student, answer in students.items():
        path = folder / student / f"{answer[0]}.py"
        path.parent.mkdir(parents=True)
        remark = f"\n# {student}: {rng.choice(SAID)}\n"
        path.write_text(known[answer] + remark, encoding="utf-8")


def start(place: Path, jobs: int) -> "subprocess.Popen[bytes]":
    """Start or continue the run."""
    return subprocess.Popen(command("run", place / "class", "--out", place / "out", "--jobs", str(jobs), "--quiet"))


def finish(place: Path, jobs: int) -> None:
    """Grade a class to its end."""
    if code := start(place, jobs).wait():
        raise SystemExit(f"The run of {place.name} ended with {code}.")


def run_for(place: Path, jobs: int, every_s: float) -> tuple[bool, int]:
    """Run until grading ends or the kill is due. Return whether grading ended, and its peak memory in bytes."""
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
    """Return the errors in the journal, in the gradebook and in the students' results."""
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
