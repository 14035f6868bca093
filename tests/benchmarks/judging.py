"""Read comparisons of a benchmark as JSON from standard input, run them, and print each tool's results.

A new process has a new memory layout, so `jobs.play` starts this program for every repetition.
"""

import json
import sys
from dataclasses import asdict
from functools import partial
from time import perf_counter

import judges
from jobs import Job
from judges import Judge, Terms
from tally import TITLES, Judgement
from workloads import work_named


def judge_of(tool: str) -> Judge:
    """Return the tool with this name."""
    if tool in {"pytest-benchmark", "pyperf"}:
        import runners

        return {"pytest-benchmark": runners.pytest_benchmark, "pyperf": runners.pyperf_timeit}[tool]
    tools: dict[str, Judge] = {
        "duel": judges.fairclock,
        "paired": partial(judges.fairclock, paired_processes=True),
        "timeit": judges.timeit_min,
        "blocked": judges.torch_blocked,
        "adaptive": judges.torch_adaptive,
        "check": judges.paired_check,
    }
    return tools[tool]


def play(job: Job) -> list[Judgement]:
    """Let the tool judge, and measure the time that it takes."""
    judge, sides = judge_of(job.tool), work_named(job.work).sides(job.truth)
    begun_s = perf_counter()
    said = judge(sides, Terms(job.budget_s, job.margin))
    wall_s = perf_counter() - begun_s
    title = TITLES.get(job.tool, job.tool)
    return [
        Judgement(", ".join(filter(None, (title, one.figure))), one.slowdown, one.finding, one.timing_s, wall_s)
        for one in said
    ]


def main() -> int:
    """Read the jobs, run them in order, and print a list of judgements for each."""
    asked = [Job(**job) for job in json.load(sys.stdin)]
    # Imports are not part of a job's time, because users who time torch have imported it already.
    for setup in {work_named(job.work).sides(job.truth).setup for job in asked}:
        exec(setup, {})  # noqa: S102 - the benchmark's own texts
    for tool in {job.tool for job in asked}:
        judge_of(tool)
    json.dump([[asdict(judgement) for judgement in play(job)] for job in asked], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
