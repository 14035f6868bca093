"""How much CPU time do known submissions of counted tasks save, and how much must they save to keep their tier?

    python tests/benchmarks/cpu_times.py --rounds 3
    python tests/benchmarks/cpu_times.py 13 --rounds 5

A count of instructions or opcodes is believed up to a power of the gain in CPU time (`grader/trials/cpu_time.py`). For
each known submission that is right, it takes that gain `--rounds` times, each on inputs of its own. It prints the
least and the largest, and the gain that the tier in its name needs. Last it says how near one comes to losing a tier.
The exit status is 1 if a submission shows less than it needs, or the baseline as much as the lowest tier needs.
"""

import argparse
import sys

from grader import catalogue
from grader.isolation.pool import Pool
from grader.settings import Settings
from grader.task import CountedExam, Task
from grader.trials import cpu_time
from harness import units
from harness.tables import Column, Table


def main() -> int:
    """Take the CPU times, and print a table for each task."""
    parser = argparse.ArgumentParser(description="Gains in CPU time of known submissions.")
    parser.add_argument("lessons", nargs="*", default=catalogue.load().lessons, metavar="LESSON")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each is tried (default: 3)")
    chosen = parser.parse_args()
    nearest, failed = float("inf"), False
    with Pool() as pool:
        settings = Settings("cpu times", pool)
        for lesson in dict.fromkeys(map(catalogue.load().named, chosen.lessons)):
            for task in catalogue.load().tasks(lesson):
                if isinstance(task.exam, CountedExam):
                    least, lost = _task(task, task.exam, settings, chosen.rounds)
                    nearest, failed = min(nearest, least), failed or lost
    print(f"The nearest one shows {nearest:.2f} times what its tier needs.")
    return int(failed)


def _task(task: Task, exam: CountedExam, settings: Settings, rounds: int) -> tuple[float, bool]:
    rows, nearest, lost = [], float("inf"), False
    right = [path for path in sorted(task.known.glob("*.py")) if not path.stem.startswith("wrong")]
    for path in (*right, catalogue.solution(task.lesson)):
        source = path.read_text(encoding="utf-8")
        gains = [cpu_time.gain(task, exam, source, settings, (path.name, str(number))) for number in range(rounds)]
        tier = int(path.stem[4]) if path.stem.startswith("tier") else 0
        name = path.stem
        if path.parent == catalogue.SOLUTIONS:
            name, tier = "solution", len(task.tiers)
        need = cpu_time.gain_needed(task.tiers[tier - 1].ratio) if tier else None
        if need:
            nearest, lost = min(nearest, min(gains) / need), lost or max(gains) < need
        elif name == "baseline":
            lost = lost or max(gains) >= cpu_time.gain_needed(task.tiers[0].ratio)
        rows.append((name, min(gains), max(gains), need))
    titles = ("least gain", "largest", "its tier needs")
    columns = (Column("submission"), *(Column(title, units.ratio) for title in titles))
    print(Table(task.full_name, columns, tuple(rows)).to_text(), flush=True)
    return nearest, lost


if __name__ == "__main__":
    sys.exit(main())
