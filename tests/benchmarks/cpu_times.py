"""Measure how much CPU time known submissions of counted tasks save, and compare it with what their tier requires.

    python tests/benchmarks/cpu_times.py --rounds 3
    python tests/benchmarks/cpu_times.py 13 --rounds 5

The grader accepts a gain in instructions or opcodes only up to a power of the gain in CPU time
(`grader/trials/cpu_time.py`). For each right known submission, this benchmark measures the gain in CPU time `--rounds`
times, each time on new inputs. It prints the least and the largest gain, and the gain that the submission's tier
requires. Last, it prints how close a submission came to losing its tier. The exit status is 1 if a submission's gain is
below the required gain, or if the baseline's gain is enough for the lowest tier.
"""

import argparse
import sys

from grader import catalogue, overlays, paths
from grader.isolation.pool import Pool
from grader.session import Session
from grader.task import CountedExam, Task
from grader.trials import cpu_time
from harness.rendering import units
from harness.rendering.tables import Column, Table


def main() -> int:
    """Measure the CPU times, and print a table for each task."""
    parser = argparse.ArgumentParser(description="Gains in CPU time of known submissions.")
    parser.add_argument("lessons", nargs="*", default=catalogue.load().lessons, metavar="LESSON")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="measurements per submission (default: 3)")
    chosen = parser.parse_args()
    nearest, failed = float("inf"), False
    with Pool() as pool:
        session = Session("cpu times", pool)
        for lesson in dict.fromkeys(map(catalogue.load().named, chosen.lessons)):
            for task in catalogue.load().tasks(lesson):
                if isinstance(task.exam, CountedExam):
                    least, lost = _task(task, task.exam, session, chosen.rounds)
                    nearest, failed = min(nearest, least), failed or lost
    print(
        f"The submission closest to losing its tier saves {nearest:.2f} times the CPU time gain that its tier requires."
    )
    return int(failed)


def _task(task: Task, exam: CountedExam, session: Session, rounds: int) -> tuple[float, bool]:
    rows, nearest, lost = [], float("inf"), False
    right = [path for path in sorted(task.known.glob("*.py")) if not path.stem.startswith("wrong")]
    for path in (*right, paths.solution(task.lesson)):
        source = overlays.whole(path)
        gains = [cpu_time.gain(task, exam, source, session, (path.name, str(number))) for number in range(rounds)]
        tier = int(path.stem[4]) if path.stem.startswith("tier") else 0
        name = path.stem
        if path.parent == paths.SOLUTIONS:
            name, tier = "solution", len(task.tiers)
        need = cpu_time.gain_needed(task.tiers[tier - 1].ratio) if tier else None
        if need:
            nearest, lost = min(nearest, min(gains) / need), lost or max(gains) < need
        elif name == "baseline":
            lost = lost or max(gains) >= cpu_time.gain_needed(task.tiers[0].ratio)
        rows.append((name, min(gains), max(gains), need))
    titles = ("least gain", "largest", "required by its tier")
    columns = (Column("submission"), *(Column(title, units.ratio) for title in titles))
    print(Table(task.full_name, columns, tuple(rows)).to_text(), flush=True)
    return nearest, lost


if __name__ == "__main__":
    sys.exit(main())
