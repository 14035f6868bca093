"""One process of a benchmark run: plays the jobs it reads as JSON from standard input, writes what each tool said.

A fresh process is a fresh memory layout, so every repetition starts one. It is started by `jobs.play`.
"""

import json
import sys
from dataclasses import asdict
from time import perf_counter

import judges
from jobs import Job
from judges import Judge, Terms
from tally import TITLES, Judgement
from workloads import work_named


def judge_of(tool: str) -> Judge:
    """Return the tool of that name."""
    if tool in {"pytest-benchmark", "pyperf"}:
        import runners

        return {"pytest-benchmark": runners.pytest_benchmark, "pyperf": runners.pyperf_timeit}[tool]
    return {
        "ours": judges.ours,
        "twins": judges.twins,
        "timeit": judges.timeit_min,
        "blocked": judges.torch_blocked,
        "adaptive": judges.torch_adaptive,
        "check": judges.paired_check,
    }[tool]


def play(job: Job) -> list[Judgement]:
    """Let the tool judge, and take the time."""
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
    """Read the jobs, play them in their order, write a list of judgements for each."""
    asked = [Job(**job) for job in json.load(sys.stdin)]
    # What a job imports is not part of its time: whoever times torch has it loaded.
    for setup in {work_named(job.work).sides(job.truth).setup for job in asked}:
        exec(setup, {})  # noqa: S102 - our own texts
    for tool in {job.tool for job in asked}:
        judge_of(tool)
    json.dump([[asdict(judgement) for judgement in play(job)] for job in asked], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
