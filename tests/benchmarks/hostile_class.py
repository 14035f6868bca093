"""Check that hostile hand-ins do not change honest grades, in a class of hundreds graded by the real command.

    python tests/benchmarks/hostile_class.py --students 200 --jobs 2

First, each honest file (`tests/honest`) is graded in a class without hostile hand-ins, with one job. Then a class is
graded in which every fifth student hands in an exploit (`tests/exploits`, also `handed_in`). It prints every honest
grade that changed, the processes left running, and the supervisor's peak memory. Exit code 1 if a grade changed or a
process is left.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

from commanding import command, nothing_left_running, outcomes, peak_of
from promises import EXPLOITS, HANDED_IN, HONEST, Promised, all_promised, hand_in

from harness.rendering.units import number, seconds

HOSTILE_SHARE = 5
PEAK = 1 << 20

Grades = dict[str, tuple[str, float]]
"""Status and points, by student."""


def main() -> int:
    """Grade the honest files without hostile ones, grade the mixed class, and compare."""
    parser = argparse.ArgumentParser(description="Honest grades in a hostile class.")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    honest, hostile = all_promised(HONEST), [*all_promised(EXPLOITS), *all_promised(HANDED_IN)]
    rng = random.Random(options.seed)
    n_hostile = options.students // HOSTILE_SHARE
    with tempfile.TemporaryDirectory() as scratch:
        alone = Path(scratch, "alone", "class")
        wanted = {one.path.stem: one for one in honest}
        _fill(alone, wanted.items())
        by_name, _ = _graded(alone, jobs=1)

        students = {
            f"honest-{place:03}": one for place, one in enumerate(islice(cycle(honest), options.students - n_hostile))
        }
        cheats = rng.sample(hostile, len(hostile))
        students |= {f"hostile-{place:03}": one for place, one in enumerate(islice(cycle(cheats), n_hostile))}
        together = Path(scratch, "together", "class")
        names = list(students)
        rng.shuffle(names)
        made = _fill(together, ((f"{place:03}-{name}", students[name]) for place, name in enumerate(names)))
        by_student, peak_bytes = _graded(together, jobs=options.jobs)

    moved = paid = 0
    for student, one in made.items():
        got = by_student.get(student)
        if one.path.parent == HONEST:
            moved += _differs(one, by_name[one.path.stem], got)
        elif got is None or got[1] > one.points:  # None: the file was left out without a refusal
            paid += 1
            print(f"PAID   {one.path.stem}: {got} instead of {one.points:g} points")
    print(
        f"{options.students - n_hostile} honest grades, {len(made) - options.students + n_hostile} hostile: "
        f"{moved} honest grades changed, {paid} exploits were paid"
    )
    print(f"supervisor's peak memory: {number(peak_bytes / PEAK)} MiB")
    return 1 if moved or paid else 0


def _fill(folder: Path, students: Iterable[tuple[str, Promised]]) -> dict[str, Promised]:
    """Write a class, and return the file of each student. Files that choose the names of their students occur once."""
    folder.mkdir(parents=True)
    made: dict[str, Promised] = {}
    for student, one in students:
        if one.path.parent != HANDED_IN:
            (folder / student).mkdir()
            shutil.copy(one.path, folder / student / f"{one.lesson}.py")
            made[student] = one
        elif one not in made.values():
            made |= dict.fromkeys(hand_in(folder, one), one)
    return made


def _graded(folder: Path, *, jobs: int) -> tuple[Grades, int]:
    """Return each student's grade for the first task, and the supervisor's peak memory in bytes."""
    out, began_s, peak_bytes = folder.parent / "grades", time.perf_counter(), 0
    with nothing_left_running():
        running = subprocess.Popen(command("run", folder, "--out", out, "--jobs", str(jobs)))
        while running.poll() is None:
            peak_bytes = max(peak_bytes, peak_of(running.pid))
            time.sleep(0.05)
        code = running.wait()
    print(f"{folder.parent.name}: ended with {code} after {seconds(time.perf_counter() - began_s)}", flush=True)
    return {
        student: next((one.status.lower(), one.points) for one in tasks.values())
        for student, tasks in outcomes(out).items()
    }, peak_bytes


def _differs(one: Promised, alone: tuple[str, float], got: tuple[str, float] | None) -> bool:
    if got == alone:
        return False
    print(f"CHANGED  {one.path.stem}: alone {alone[1]:g} ({alone[0]}), in the class {got}")
    return True


if __name__ == "__main__":
    sys.exit(main())
