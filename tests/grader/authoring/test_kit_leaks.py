"""The check for code in the student kit that earns points as an answer: it finds each kind, and none in the kit."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from small_tasks import AT_ONCE, BISECT, BY_ROWS, COUNT_UP, negation, search

from grader import catalogue, overlays
from grader.authoring import c_loops, in_process, kit_leaks
from grader.authoring.in_process import Bench, Worth
from grader.errors import GraderFault
from grader.student_kit import release
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import PlainScenario
from grader.values import Value


def task_of(name: str) -> Task:
    return next(task for task in catalogue.all_tasks() if task.name == name)


WITHOUT = """uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0;
  for (size_t i = 0; i < size; i++) {
    while (crc > 1)
      crc--;
    crc ^= (data[i] + 1);
  }
  return crc;
}"""


def test_each_loop_of_a_c_source_is_removed_or_its_body_runs_once() -> None:
    (outer, gone), (_, once), (inner, no_while), (_, while_once) = c_loops.without_loops(WITHOUT)
    assert (outer, inner) == (3, 4)
    assert " ".join(gone.split()) == (
        "uint32_t checksum(const uint8_t *data, size_t size) { uint32_t crc = 0; ; return crc; }"
    )
    assert "{ size_t i = 0;  {" in once
    assert once.count("while") == while_once.count("for") == 1
    assert no_while == WITHOUT.replace("while (crc > 1)\n      crc--;", ";")
    assert while_once == WITHOUT.replace("while (crc > 1)\n      crc--;", "{ ; \n      crc--; }")


@pytest.mark.long
@pytest.mark.program("gcc")
def test_a_c_baseline_that_is_fast_without_a_loop_is_a_leak(tmp_path: Path) -> None:
    """The planted baseline is a fast solution, whose added loop computes the answer 50 times."""
    task = task_of("checksum")
    fast = overlays.whole(task.known / "tier2_four_tables.py").replace("checksum(", "once(", 1)
    fast = fast.rstrip().removesuffix('"""') + (
        "uint32_t checksum(const uint8_t *data, size_t size) {\n"
        "  uint32_t volatile crc = 0;\n"
        "  for (int n = 0; n < 50; n++) crc = once(data, size);\n"
        '  return crc;\n}\n"""\n'
    )
    folder = tmp_path / "known" / task.name
    folder.mkdir(parents=True)
    (folder / "baseline.py").write_text(fast, encoding="utf-8")
    task = replace(task, folder=tmp_path)
    found = list(kit_leaks.c_worths(task, Bench(task)))
    assert any(in_process.earns(task, worth) for _, worth in found)


@dataclass
class Doubling(PlainScenario):
    """A scenario with a number to double. It computes the right answer, or, as a planted leak, stores it."""

    number: int
    planted: int
    function: str = "double"
    title: str = "a number"
    cost: float = 1.0
    plain_cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return (self.number,)

    @property
    def worked_out(self) -> int:
        return 2 * self.number

    def method(self) -> int:
        return self.number + self.number

    @property
    def known(self) -> int:
        return self.planted

    def judge(self, answer: Value) -> Mismatch | None:
        return None if answer == self.planted else Mismatch(str(self.planted), str(answer))


def doubling(folder: Path) -> Task:
    """Return a task that doubles numbers, without tiers."""
    exam = SimulatedExam(lambda rng: [Doubling(int(n), 2 * int(n)) for n in rng.integers(1, 1000, 5)])
    return replace(search(folder), exam=exam, tiers=())


def test_a_scenario_that_works_its_answer_out_is_a_leak_and_one_that_planted_it_is_none(tmp_path: Path) -> None:
    task = doubling(tmp_path)
    earning = [name for name, solver in kit_leaks.candidates(task) if Bench(task).worth(solver).right]
    assert sorted(earning) == ["Doubling.method", "Doubling.worked_out"]


def test_a_function_of_the_tasks_modules_that_answers_is_a_leak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(number: int) -> int:
        return 2 * number

    answers = ModuleType("answers")
    vars(answers)["twice"], twice.__module__ = twice, "answers"
    task = doubling(tmp_path)
    monkeypatch.setattr(kit_leaks, "modules", lambda _: [answers])
    (found,) = [solver for name, solver in kit_leaks.candidates(task) if name == "answers.twice"]
    assert Bench(task).worth(found) == Worth(right=True)


@dataclass
class Written(Doubling):
    """The same scenario, which gives the number to the student as a text in a list."""

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return ([f"number {self.number}"],)


def read(text: str) -> int:
    return int(text.removeprefix("number "))


def read_first(texts: list[str]) -> int:
    return read(texts[0])


@pytest.mark.parametrize("parser", [read_first, None])
def test_a_parser_of_the_kit_and_a_scenario_that_works_its_answer_out_are_a_leak_together(
    parser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsers = ModuleType(__name__)
    vars(parsers).update({} if parser is None else {parser.__name__: parser})
    exam = SimulatedExam(lambda rng: [Written(int(n), 2 * int(n)) for n in rng.integers(1, 1000, 5)])
    task = replace(search(tmp_path), exam=exam, tiers=())
    monkeypatch.setattr(kit_leaks, "modules", lambda _: [parsers])
    earning = [name for name, solver in kit_leaks.candidates(task) if Bench(task).worth(solver).right]
    assert sorted(earning) == (["Written.method", "Written.worked_out"] if parser else [])


@dataclass
class Numbers(PlainScenario):
    """A scenario that adds numbers, which the student gets as texts."""

    numbers: tuple[int, ...]

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return ([f"number {number}" for number in self.numbers],)


def test_a_field_is_kept_if_a_function_of_the_kit_reads_it_from_the_items_of_an_argument() -> None:
    assert vars(kit_leaks.with_arguments_only(Numbers((3, 4)), [read])) == {"numbers": (3, 4)}
    assert vars(kit_leaks.with_arguments_only(Numbers((3, 4)), [read_first])) == {}


def old_pairs(scenario: Any) -> Any:
    """Return the code that judged the task `pairs` in an older version of the kit."""
    times = Counter(zip(scenario.trace, scenario.trace[1:], strict=False))
    rows = sorted((-count, first, second) for (first, second), count in times.items() if count > 1)
    return [[first, second, -count] for count, first, second in rows]


def test_an_answer_that_was_in_the_kit_once_would_be_found() -> None:
    task = task_of("pairs")
    found = Bench(task).worth(old_pairs)
    assert found.tier == len(task.tiers)
    assert in_process.earns(task, found)


def test_a_baseline_made_slower_by_a_loop_is_a_leak(tmp_path: Path) -> None:
    slow = "import time\n" + AT_ONCE.replace(
        "return -x",
        "out = -x\n    end = time.thread_time() + 0.002\n    while time.thread_time() < end: pass\n    return out",
    )
    task = negation(tmp_path, baseline=slow)
    bench = Bench(task)
    assert any(
        bench.worth(solver).tier == 2 for name, solver in kit_leaks.candidates(task) if "without its loop" in name
    )
    honest = negation(tmp_path / "honest", baseline=BY_ROWS)
    assert not any(in_process.earns(honest, Bench(honest).worth(solver)) for _, solver in kit_leaks.candidates(honest))


def test_each_loop_is_left_out_and_gone_through_once() -> None:
    source = "for a in (1, 2):\n    while a:\n        a -= 1\n        break\n"
    changed = [text for _, text in kit_leaks.without_loops(source)]
    assert changed == [
        "pass",
        "a = next(iter((1, 2)))\nwhile a:\n    a -= 1\n    break",
        "for a in (1, 2):\n    pass",
        "for a in (1, 2):\n    a -= 1",
    ]


def test_the_kit_gets_a_baseline_only_where_grading_runs_it() -> None:
    shipped = {path for path in release.kit_files() if path.name.startswith("baseline")}
    assert shipped == {path for task in catalogue.all_tasks() for path in task.baselines}
    assert not any(
        path.name.startswith("baseline") and task.simulated for task in catalogue.all_tasks() for path in task.baselines
    )


def test_a_leak_stops_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit_leaks, "leaks", lambda lesson: (f"an answer lies in {lesson}",))
    with pytest.raises(GraderFault, match="an answer lies in 04_autorange"):
        release.release(tmp_path / "kit", ["04_autorange"], notebooks=False)
    assert list(tmp_path.iterdir()) == []


def ways_to_fail() -> Iterator[tuple[str, str]]:
    yield "raises", "def find(probe): raise ValueError"
    yield "exits", "import sys\ndef find(probe): sys.exit(0)"
    yield "runs out of its items", "def find(probe): return next(iter([]))"
    yield "asks for ever", "def find(probe):\n    while True: probe(1)"
    yield "never ends", "def find(probe):\n    while True:\n        try: pass\n        except Exception: pass"


@pytest.mark.parametrize(("name", "source"), list(ways_to_fail()))
def test_a_function_that_does_not_answer_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str
) -> None:
    del name
    monkeypatch.setattr(in_process, "LONGEST_S", 0.3)
    task = search(tmp_path)
    assert Bench(task).worth(in_process.of_source(task, source)) == Worth(right=False)


def test_in_process_a_simulated_ratio_is_what_grading_gives(tmp_path: Path) -> None:
    task = search(tmp_path)
    plain, halved = (Bench(task).worth(in_process.of_source(task, source)) for source in (COUNT_UP, BISECT))
    assert plain == Worth(right=True, ratio=1.0, tier=0)
    assert (halved.right, halved.tier) == (True, 2)
