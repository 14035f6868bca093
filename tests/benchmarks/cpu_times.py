"""Measure how much CPU time known submissions of counted tasks save, and compare it with what their tier needs.

    python tests/benchmarks/cpu_times.py
    python tests/benchmarks/cpu_times.py 13 --record
    python tests/benchmarks/cpu_times.py 11 --only paths_in_a_dict --times 20

A tier of a counted task needs a gain in CPU time without a counter, and another one while opcodes are counted
(`grader/trials/cpu_time.py`). For each right known submission, this benchmark measures both gains as the grader does,
but always in all rounds. For each submission, the benchmark prints its gains and those that its tier needs.
`--times` repeats each measurement, each time with other inputs, so that the least gain counts. Last, the benchmark
prints how close a submission came to losing its tier. The exit status is 1 if a submission's gain is below the needed
gain, or if the baseline's gain is enough for the lowest tier.

`--record` stores the gains in `tests/records`. `--propose` measures nothing, but prints the gains that the tiers should
need according to these records. To measure another version of Python, run the benchmark in a row of `.ci/matrix`.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import catalogue, overlays
from grader.authoring import cpu_records, tier_records
from grader.authoring.tier_records import Machine, Row
from grader.isolation.pool import Pool
from grader.session import Session
from grader.task import CountedExam, Task
from grader.trials import cpu_time
from harness.machine import background_load
from harness.rendering import units
from harness.rendering.tables import Column, Table


@dataclass(frozen=True)
class Gain:
    """The gains of a known submission, and the gain that its tier needs, or None for the baseline's tier."""

    name: str
    file: Path
    measured: tuple[float, ...]
    needed: float | None

    @property
    def least(self) -> float:
        """The least measured gain."""
        return min(self.measured)


def main() -> int:
    """Measure the CPU times, and print a table for each task."""
    parser = argparse.ArgumentParser(description="Gains in CPU time of known submissions.")
    parser.add_argument("lessons", nargs="*", default=catalogue.load().lessons, metavar="LESSON")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="measurements of each gain (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only submissions with this text in their name")
    parser.add_argument("--record", action="store_true", help="store the gains in tests/records")
    parser.add_argument("--propose", action="store_true", help="print needed gains for all tiers, from the records")
    chosen = parser.parse_args()
    lessons = dict.fromkeys(map(catalogue.load().named, chosen.lessons))
    tasks = [task for lesson in lessons for task in catalogue.load().tasks(lesson) if cpu_records.meters(task)]
    if chosen.propose:
        print("\n".join(line for task in tasks for line in _proposals(task)))
        return 0
    machine = Machine.this(background_load.busy_cores())
    nearest, failed = float("inf"), False
    with Pool() as pool:
        session = Session("cpu times", pool)
        for task, counting in [(each, counting) for each in tasks for counting in cpu_records.meters(each)]:
            found = list(_gains(task, session, chosen.only, chosen.times, counting=counting))
            if not found:
                continue
            print(_table(task, found, counting=counting), flush=True)
            nearest = min([nearest, *(one.least / one.needed for one in found if one.needed)])
            first = cpu_time.least_gain(task.tiers[0], counting=counting)
            failed |= nearest < 1 or any(max(one.measured) >= first for one in found if one.name == "baseline")
            if chosen.record:
                tier_records.record(machine, [_row(task, one) for one in found], cpu_records.FOLDERS[counting])
    print(f"The submission closest to losing its tier has {nearest:.2f} times the gain that its tier needs.")
    return int(failed)


def _gains(task: Task, session: Session, only: str, times: int, *, counting: bool) -> Iterator[Gain]:
    assert isinstance(task.exam, CountedExam)
    for name, path in tier_records.right_submissions(task).items():
        if only in name:
            tier, source = tier_records.tier_named(task, path.stem), overlays.whole(path)
            needed = cpu_time.least_gain(task.tiers[tier - 1], counting=counting) if tier else None
            measured = (
                cpu_time.gain(
                    task, task.exam, source, session, (task.name, str(each)), needed or 1.0, counting=counting
                )
                for each in range(times)
            )
            yield Gain(name, path, tuple(measured), needed)


def _table(task: Task, found: list[Gain], *, counting: bool) -> str:
    title = f"{task.full_name}, {'while opcodes are counted' if counting else 'without a counter'}"
    headings = ("least gain", "largest gain", "needed by its tier")
    columns = (Column("submission"), *(Column(heading, units.ratio) for heading in headings))
    return Table(title, columns, tuple((one.name, one.least, max(one.measured), one.needed) for one in found)).to_text()


def _row(task: Task, one: Gain) -> Row:
    least, largest = (float(f"{each:.3g}") for each in (one.least, max(one.measured)))
    return Row(task.full_name, one.name, least, least, largest, tier_records.measured_digest(task, one.file))


def _proposals(task: Task) -> Iterator[str]:
    for counting in cpu_records.meters(task):
        records = list(tier_records.read_all(cpu_records.FOLDERS[counting]))
        values = ", ".join(f"{one:.3g}" for one in cpu_records.proposed(task, records))
        yield f"{task.full_name}, {'while opcodes are counted' if counting else 'without a counter'}: {values}"
    for runs in (True, False):
        forged = cpu_records.forged_tiers(task, counter_runs=runs)
        yield f"  with a forged count{'' if runs else ' and a stopped counter'}: {forged or 'no higher tier'}"


if __name__ == "__main__":
    sys.exit(main())
