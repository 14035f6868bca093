"""Combine right answers with cheats at random, grade them, and report combinations that earn more than their answer.

python tests/grader/combinations.py --slice 0 --of 20 --out FOLDER # grades combinations 0, 20, 40, … of 2,000

A combination is a known right answer of a task, a cheat, a rule when it cheats, and a way through which it is called
(`tests/exploits/combined`). It may earn at most the points of the right answer. An honest file is graded after each
tenth combination, and must earn its points. A second start goes on where the first one stopped.
"""

import argparse
import os
import random
import re
import runpy
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest import mock

from commanding import ROOT, nothing_left_running
from promises import EXPLOITS, HONEST, promised, quickly
from styles import notebook
from trees import warm

from grader import catalogue, limits, overlays, seeds
from grader.authoring.lint import tier_named
from grader.grade import grade_task
from grader.hand_ins.collect import submission_of
from grader.isolation.pool import Pool
from grader.kinds.peak_memory import PEAK_MEMORY
from grader.limits import Limits
from grader.records import Status, Verdict
from grader.session import Session
from grader.task import SimulatedExam, Task, TensorExam, ValueExam
from grader.trials.score import share

PARTS = EXPLOITS / "combined" / "parts.py"
IN_C = PARTS.with_suffix(".c").read_text(encoding="utf-8")
HAND_IN_S: Final = 60.0
"""The time limit of a combination. The real limit is longer."""
MOST_S: Final = 2 * HAND_IN_S
"""The most seconds for which a combination may keep the grader busy, on a busy machine."""
NEIGHBOUR_EVERY: Final = 10
LEFT_IN: Final = ("/tmp", "/dev/shm", str(ROOT))  # noqa: S108  # the places where a cheat tries to leave files
C_WHEN: Final = ("always", "in_each_third_call", "after_the_twelfth_call", "at_times", "on_large_inputs")
C_THROUGH: Final = ("a_plain_call", "a_thread", "a_signal", "a_jump", "fork_")


@dataclass(frozen=True)
class Combination:
    """A right answer of a task in `file`, with cheats in it: the name of each, when it cheats, and through what."""

    task: Task
    file: Path
    cheats: tuple[tuple[str, str, str], ...]
    notebook: bool

    @property
    def title(self) -> str:
        """The parts by name."""
        form = " in a notebook" if self.notebook else ""
        cheats = " and ".join(f"{cheat} {when} through {through}" for cheat, when, through in self.cheats)
        return f"{self.task.full_name}, {self.file.stem}: {cheats}{form}"

    @property
    def points(self) -> float:
        """The points of the right answer."""
        return self.task.points * share(self.task, tier_named(self.task, self.file.stem))

    @property
    def must_be_wrong(self) -> bool:
        """Whether the cheat gives so many wrong answers that no task forgives them."""
        cheat, when, _ = (part.replace("_", " ") for part in self.cheats[-1])
        return cheat in parts()["WRONG"] and when in {"always", "in each third call"}

    @property
    def source(self) -> str:
        """The text of the submission."""
        if self.task.exam.in_c:
            return self._in_c()
        pasted = textwrap.indent(f"{PARTS.read_text(encoding='utf-8')}\nLARGE = {large(self.task)}\n", "    ")
        made = f"def combined(honest, *chosen):\n{pasted}\n    return combine(honest, *chosen)\n"
        bound = "".join(
            f"\n{name} = combined({name}, *{cheat})\n" for cheat in self.cheats for name in self.task.functions
        )
        return f"{overlays.whole(self.file)}\n\n{made}\n{bound}"

    def _in_c(self) -> str:
        name, code = self.task.name, runpy.run_path(str(self.file))[self.task.name]
        chosen = zip(("CHEAT", "WHEN", "THROUGH", "LARGE"), (*self.cheats[0], large(self.task)), strict=True)
        defined = "".join(f"#define {one} {text}\n" for one, text in chosen)
        text = f"#define _GNU_SOURCE\n#define {name} honest\n{code}\n#undef {name}\n{defined}{IN_C}"
        return f"{name} = {text!r}\n"

    def graded(self, pool: Pool) -> Verdict:
        """Return the verdict on the combination, graded with one pair of processes."""
        ending = ".ipynb" if self.notebook else ".py"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"{self.task.lesson}{ending}")
            cells = re.split(r"\n\n\n(?=\S)", self.source)
            file.write_text(notebook(*cells) if self.notebook else self.source, encoding="utf-8")
            hand_in = submission_of(file, student="mallory", lesson=self.task.lesson)
        task = replace(self.task, limits=smaller(self.task.limits))
        with quickly(), mock.patch.object(limits, "HAND_IN_S", HAND_IN_S):
            return grade_task(task, hand_in, Session("combinations", pool))

    def broken(self, pool: Pool) -> str:
        """Return what the verdict, or what is left behind, shows to be wrong; "" if nothing is."""
        before, began_s = files(), time.monotonic()
        try:
            with nothing_left_running():
                verdict = self.graded(pool)
        except AssertionError as left:
            return f"left processes: {left}"
        found = (
            f"{verdict.points:g} of {self.points:g} points" if verdict.points > self.points else "",
            "wrong answers earn points" if verdict.points and self.must_be_wrong else "",
            "a grader fault" if verdict.status is Status.GRADER_ERROR else "",
            f"left files: {sorted(files() - before)[:5]}" if files() - before else "",
            f"took {time.monotonic() - began_s:.0f} s" if time.monotonic() - began_s > MOST_S else "",
        )
        told = f"{verdict.status} {verdict.points:g} {verdict.attempt.rationale[:200]!r}"
        return "; ".join(filter(None, found)) and f"{'; '.join(filter(None, found))} ({told})"


@cache
def parts() -> dict[str, Any]:
    """Return the names in the file of parts."""
    return runpy.run_path(str(PARTS))


@cache
def large(task: Task) -> int:
    """Return the size of a timed input, as the parts measure it; a size that no input has if nothing is timed."""
    rng = seeds.generator("size of a timed input")
    if isinstance(task.exam, TensorExam):
        return sum(one.size for one in next(task.exam.timed(seeds.independent(rng))))
    if isinstance(task.exam, ValueExam):
        return min(int(parts()["size"](scenario.arguments)) for scenario in task.exam.timed(rng))
    return 1 << 40


def smaller(of: Limits) -> Limits:
    """Return limits with which endless loops end soon. A call of `nearest` takes a second on an idle machine."""
    return replace(of, load_s=3.0, call_s=6.0 if of.memory_bytes > Limits().memory_bytes else 2.0, wall_factor=2.0)


def files() -> set[Path]:
    """Return the files that a cheat may have left behind."""
    named = (Path(folder, name) for folder in (*LEFT_IN, tempfile.gettempdir()) for name in parts()["NAMES"])
    # `os.walk` passes over folders that other programs remove meanwhile.
    walked = ((folder, name) for folder, *both in os.walk(tempfile.gettempdir()) for names in both for name in names)
    combined = (Path(folder, name) for folder, name in walked if name.startswith("combined-"))
    return {*(one for one in named if one.exists()), *combined}


@cache
def kinds() -> dict[str, list[Task]]:
    """Return the tasks by the kind of their exam."""
    every = list(catalogue.all_tasks())
    memory = [task for task in every if task.cost is PEAK_MEMORY]
    in_c = [task for task in every if task.exam.in_c]
    rest = [task for task in every if task not in [*memory, *in_c]]
    by_exam = {
        exam.__name__: [task for task in rest if isinstance(task.exam, exam)]
        for exam in (TensorExam, ValueExam, SimulatedExam)
    }
    return {**by_exam, "memory": memory, "C": in_c}


def combination(seed: str, number: int) -> Combination:
    """Return a random combination, the same for equal arguments."""
    draw = random.Random(f"{seed} {number}")
    task = draw.choice(kinds()[draw.choices(list(kinds()), (5, 4, 4, 3, 2))[0]])
    right = sorted(one for one in task.known.glob("*.py") if not one.stem.startswith("wrong_") and one.stem[8:] == "")
    right += sorted(task.known.glob("tier*.py"))
    file = draw.choice([right[0], draw.choice(right)])
    if task.exam.in_c:
        names = {
            "CHEAT": re.findall(r"^static uint32_t (\w+)\(const", IN_C, re.MULTILINE),
            "WHEN": C_WHEN,
            "THROUGH": C_THROUGH,
        }
        return Combination(task, file, (tuple(map(draw.choice, names.values())),), notebook=False)
    cheats = tuple(_cheat(draw) for _ in range(draw.choice((1, 1, 2))))
    return Combination(task, file, cheats, notebook=draw.random() < 0.25)


def _cheat(draw: random.Random) -> tuple[str, str, str]:
    names = parts()
    cheat = draw.choice(list(names[draw.choice(("INSTEAD", "BESIDE"))]))
    when = [one for one in names["WHEN"] if one != "at import" or cheat in names["BESIDE"]]
    return cheat, draw.choice(when), draw.choice(list(names["THROUGH"]))


def report(seed: str, numbers: Sequence[int], pool: Pool) -> Iterator[tuple[int, str]]:
    """Yield the number and a line for each combination, and a line for a neighbour whose points have changed."""
    neighbours = [promised(HONEST / f"{name}.py") for name in ("right_and_fast", "right_and_slow", "wrong")]
    for count, number in enumerate(numbers, start=1):
        one = combination(seed, number)
        began_s = time.monotonic()
        broken = one.broken(warm(pool))
        yield (
            number,
            f"{'BROKEN' if broken else 'held'} {time.monotonic() - began_s:.0f} s {one.title}  {broken}".rstrip(),
        )
        if count % NEIGHBOUR_EVERY == 0:
            with quickly():
                changed = neighbours[count // NEIGHBOUR_EVERY % len(neighbours)].broken(pool)
            if changed:
                yield number, f"BROKEN neighbour: {changed!r}"


def main() -> None:
    """Grade a slice of the combinations, and write one line for each into a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="42")
    parser.add_argument("--slice", type=int, default=0)
    parser.add_argument("--of", type=int, default=20)
    parser.add_argument("--total", type=int, default=2000)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / f"{given.seed}-{given.slice}-of-{given.of}.txt"
    done = {int(line.split()[0]) for line in file.read_text(encoding="utf-8").splitlines()} if file.exists() else set()
    numbers = [number for number in range(given.slice, given.total, given.of) if number not in done]
    with Pool(hidden=(ROOT,)) as pool, file.open("a", encoding="utf-8", buffering=1) as written:
        for number, line in report(given.seed, numbers, pool):
            print(number, line, file=written)


if __name__ == "__main__":
    main()
