"""Recorded data of tasks: complete, renamed in each scenario, and the same answers when recorded anew."""

import json
import shutil
from importlib import import_module
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import find_task, play

from grader import paths
from grader.tasks import recordings

culprit = import_module("grader.tasks.lesson_08_callgrind.culprit")
sampling = import_module("grader.tasks.lesson_16_sampling.recorded")
changes = import_module("grader.tasks.lesson_16_sampling.changes")
races = import_module("grader.tasks.lesson_18_threads.races")
recompilations = import_module("grader.tasks.lesson_19_compile.recompilations")


def drawn(module: Any, seed: int = 1) -> tuple[Any, ...]:
    return tuple(module.draw_scenarios(np.random.default_rng(seed)))


def solve(lesson: str, function: str, *arguments: object) -> Any:
    names: dict[str, Any] = {}
    exec(paths.solution(lesson).read_text(encoding="utf-8"), names)  # noqa: S102 - the reference solution
    return names[function](*arguments)


def test_counts_of_each_version_have_every_function_and_scenarios_rename_them() -> None:
    counts = recordings.read(culprit.COUNTS)
    assert set(counts) == {"0", *map(str, culprit.CULPRITS)}
    for count in (count for of_version in counts.values() for count in of_version):
        assert count.keys() >= set(culprit.OWN) | {"main"}
        assert all(calls >= 1 and 0 <= own <= inclusive for calls, own, inclusive in count.values())
    scenarios = drawn(culprit)
    for scenario in scenarios:
        before, after = ({str(row[0]) for row in count} for count in (scenario.before, scenario.after))
        assert scenario.truth in before & {name.partition(".")[0] for name in after}
        assert not before & set(culprit.OWN)
    clones = [str(row[0]) for each in scenarios for row in each.after if str(row[0]).startswith(f"{each.truth}.")]
    assert sorted("." + clone.partition(".")[2] for clone in clones) == sorted(culprit.CLONED)


@pytest.mark.long
@pytest.mark.valgrind
def test_counts_recorded_anew_have_the_same_culprits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing: install it with `apt-get install gcc`")
    record = import_module("grader.tasks.lesson_08_callgrind.record")
    monkeypatch.setattr(culprit, "COUNTS", tmp_path / "counts.json")
    recordings.write(culprit.COUNTS, record.record())
    source = paths.solution("08_callgrind").read_text(encoding="utf-8")
    assert play(find_task("08_callgrind", "culprit"), source, seed=1).right


def stack(samples: int, *frames: tuple[str, str, int]) -> Any:
    return sampling.Stack(tuple(sampling.SampledFrame(*frame) for frame in frames), samples)


def test_profiles_are_written_and_read_back_and_count_each_different_stack() -> None:
    record = import_module("grader.tasks.lesson_16_sampling.record")
    kept = {name: sampling.profile(name) for name in ("before", "after", "recursive")}
    text = sampling.PROFILES.read_text(encoding="utf-8")
    assert recordings.as_text(json.loads(text)["made by"], kept) == text
    main, c = {"name": "main", "file": "a.py", "line": 3}, {"name": "gemm", "file": "libc.so.6", "line": None}
    profile = {"shared": {"frames": [main, c]}, "profiles": [{"samples": [[0], [0, 1]]}, {"samples": [[0, 1]]}]}
    found = [stack(2, ("main", "a.py", 3), ("gemm", "libc.so.6", 0)), stack(1, ("main", "a.py", 3))]
    assert record.stacks(profile) == found


def test_the_rows_of_two_profiles_are_computed_by_hand_and_none_is_near_the_limit() -> None:
    main, same, c = ("main", "a.py", 3), ("main", "a.py", 9), ("gemm", "libc.so.6", 0)
    pair = changes.RunPair("", "", (stack(50, main, c), stack(50, main)), (stack(5, main, c), stack(95, same)))
    assert pair.arguments[0] == ["main (a.py:3);gemm (libc.so.6) 50", "main (a.py:3) 50"]
    assert pair.right == [["gemm (libc.so.6)", 50, 5]]
    near = changes.RunPair("", "", (stack(50, main, c), stack(50, main)), (stack(36, main, c), stack(64, main)))
    assert not near.clear
    pairs = drawn(changes)
    assert all(pair.clear for pair in pairs)
    assert sum(bool(pair.right) for pair in pairs) >= 9
    assert all(pair.right == [] for pair in pairs if "of the same program" in pair.title)


def test_events_in_scenarios_are_possible_and_have_new_names() -> None:
    for scenario in drawn(races):
        held: dict[tuple[str, str], int] = {}
        running = {"main"}
        for thread, action, name in scenario.events:
            assert thread in running
            if action == "start":
                running.add(name)
            elif action == "join":
                running.remove(name)
            elif action in {"acquire", "release"}:
                held[thread, name] = held.get((thread, name), 0) + (1 if action == "acquire" else -1)
                assert held[thread, name] >= 0
            assert not {thread, name} & set("ABCKLMxyz")
    assert 10 <= sum(bool(part.races) for part in races.PARTS) <= len(races.PARTS) - 10


def test_each_run_of_a_recorded_program_has_the_races_that_the_program_states() -> None:
    """The races follow from the program. So a new recording, with another order of events, has the same races."""
    record = import_module("grader.tasks.lesson_18_threads.record")
    for program in record.PROGRAMS:
        events, stated = record.record(program)
        rows = sorted([variable, *sorted(threads)] for variable, *threads in stated)
        assert solve("18_threads", "races", [list(event) for event in events]) == rows
        assert [list(race) for race in stated] == recordings.read(races.ACCESSES)[program.__name__][1]


def test_the_newest_guard_of_each_recorded_message_shows_the_change_of_the_program() -> None:
    blocks, _ = recompilations.load()
    for block in blocks:
        lines = [block.prefix + line for line in (*block.head, *(line for each in block.reasons for line in each))]
        row = [recompilations.FUNCTION, f"{recompilations.FILE}:10", block.change, 1]
        assert solve("19_compile", "recompilations", lines) == [row]
    assert sorted({block.change for block in blocks}) == sorted(recompilations.CAUSES)
    assert sum(len(block.reasons) > 10 for block in blocks) >= 2


def test_messages_in_scenarios_name_no_recorded_function_or_file() -> None:
    logs = drawn(recompilations)
    messages = [part for log in logs for part in log.parts if isinstance(part, recompilations.Message)]
    known = (recompilations.FUNCTION, recompilations.FILE)
    assert not any(name in line for part in messages for line in part.lines for name in known)
    rows = next(log.right for log in logs if log.title == "one name in two places")
    assert (len({row[0] for row in rows}), len({row[1] for row in rows})) == (1, 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_solution_has_the_fewest_graphs_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = ["torch", *(str(kind) for kind in rng.choice(["torch", "python"], 6))]
    rows = tuple(
        (kind, tuple(sorted({int(use) for use in rng.integers(0, n, int(rng.integers(3)))} if n else ())))
        for n, kind in enumerate(kinds)
    )
    function = import_module("grader.tasks.lesson_19_compile.fewest_graphs").Function("planted", rows)
    assert function.judge(solve("19_compile", "fewest_graphs", [[kind, list(uses)] for kind, uses in rows])) is None
    fewest = function.cost
    costs = [function.cost for order in permutations(range(len(rows))) if function.judge(list(order)) is None]
    assert fewest == min(costs)
