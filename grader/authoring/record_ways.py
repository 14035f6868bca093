"""Write the texts about other ways to solve each task, which students read after full marks.

    python -m grader.authoring.record_ways

A way is a right example submission whose docstring ends with a paragraph that begins with "Trade: ". The ratios of
simulated tasks are computed here. All other ratios come from the files in `tests/records`, from one machine per task.
If no machine has current ratios of all ways of a task, its ways are written without ratios.
"""

import ast
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from grader import catalogue, overlays, paths
from grader.authoring import tier_records
from grader.authoring.in_process import Bench, of_source
from grader.files import write_atomically
from grader.task import Task
from grader.ways import TaskWays, Way, file_of
from harness import syntax

TRADE: Final = "Trade: "
MOST_WAYS: Final = 3
SCENARIOS: Final = "in the simulated scenarios"
DRAWS: Final = 3
"""The number of random draws of simulated scenarios for each ratio. The median ratio is used."""


def marked(task: Task) -> dict[Path, tuple[str, str]]:
    """Return the idea and the trade of each way of a task, by the file of the example submission."""
    found = {}
    for path in sorted(task.known.glob("tier*.py")):
        docstring = ast.get_docstring(syntax.parse(path.read_text(encoding="utf-8"))) or ""
        idea, mark, trade = docstring.partition(f"\n\n{TRADE}")
        if mark:
            found[path] = (" ".join(idea.split()), " ".join(trade.split()))
    return found


def record_ways(task: Task) -> TaskWays:
    """Return the ways of a task with their ratios, the largest ratio first."""
    texts = marked(task)
    files = {tier_records.row_name(path.stem): path for path in texts} | {"solution": paths.solution(task.lesson)}
    place, ratios = "", dict[str, float]()
    if task.tiers:
        place, ratios = (SCENARIOS, _simulated(task, files)) if task.simulated else _recorded(task, files)
    ways = [Way(name, *texts[path], ratios.get(name)) for name, path in files.items() if path in texts]
    return TaskWays(place, ratios.get("solution"), tuple(sorted(ways, key=lambda way: -(way.ratio or 0))))


def write(lesson: str) -> Path:
    """Write the file with the ways of a lesson's tasks, and return its path."""
    found = {task.name: asdict(record_ways(task)) for task in catalogue.load().tasks(lesson)}
    file = file_of(lesson)
    file.parent.mkdir(exist_ok=True)
    write_atomically(file, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    return file


def _simulated(task: Task, files: Mapping[str, Path]) -> dict[str, float]:
    """Return the median ratio of each file in a few draws of simulated scenarios."""
    benches = [Bench(task, f"other ways, draw {number}") for number in range(DRAWS)]
    ratios = {}
    for name, path in files.items():
        found = sorted(bench.worth(of_source(task, overlays.whole(path))).ratio for bench in benches)
        ratios[name] = float(f"{found[len(found) // 2]:.4g}")
    return ratios


def _recorded(task: Task, files: Mapping[str, Path]) -> tuple[str, dict[str, float]]:
    """Return the machine with the newest current ratios of all files, and the ratios. Return none without a record.

    Machines without other programs come first.
    """
    complete = []
    for record in tier_records.read_all():
        rows = {row.name: row for row, _ in tier_records.current(task, record) if row.name in files}
        if rows.keys() == files.keys():
            versions = dict(record.machine.versions)
            place = (
                f"on a machine with {record.machine.cpu.partition(' family')[0]} (Python {versions['python']},"
                f" torch {versions['torch'].partition('+')[0]}, {max(row.date for row in rows.values())})"
            )
            order = (-record.machine.busy_cores, max(row.date for row in rows.values()), record.machine.name)
            complete.append((order, place, {name: row.ratio for name, row in rows.items()}))
    _, place, ratios = max(complete, default=((), "", {}))
    return place, ratios


if __name__ == "__main__":
    paths.require_solutions("python -m grader.authoring.record_ways", catalogue.load().lessons)
    for lesson in catalogue.load().lessons:
        sys.stdout.write(f"{write(lesson)}\n")
