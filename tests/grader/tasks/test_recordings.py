"""Recorded data of tasks, renamed in each scenario, and tasks with timed values: what is drawn, and right answers."""

import dis
import json
import shutil
import sys
from importlib import import_module
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import find_task, play
from torch.profiler import ProfilerActivity, profile

from grader import paths
from grader.tasks import recordings
from harness.bytecode import instructions
from harness.bytecode.instructions import plain_instructions
from harness.memory.allocations import lacking_memray

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


blocks = import_module("grader.tasks.lesson_17_peaks_and_leaks.at_peak")
opcodes = import_module("grader.tasks.lesson_13_bytecode.pairs")
programs = import_module("grader.tasks.lesson_13_bytecode.run")
stacks = import_module("grader.tasks.lesson_11_torch_profiler.fold")
trees = import_module("grader.tasks.lesson_09_cprofile.own_time")


def test_the_examples_in_the_exercises_have_the_answers_that_are_shown() -> None:
    tree = trees.CallTree("", "", ((0, "main", 1, 10), (1, "load", 2, 20), (2, "parse", 9, 40), (1, "parse", 3, 30)))
    assert tree.arguments == ([[0, "main", 1, 100], [1, "load", 2, 60], [2, "parse", 9, 40], [1, "parse", 3, 30]],)
    assert tree.right == [["parse", 12, 70, 70], ["load", 2, 20, 60], ["main", 1, 10, 100]]
    given = ("train forward conv", 30), ("train backward", 50), ("train forward", 10), ("train", 5)
    boxes = [[0, "train", 0, 95], [1, "backward", 5, 50], [1, "forward", 55, 40], [2, "conv", 65, 30]]
    assert stacks.Stacks("", "", tuple((tuple(frames.split()), us) for frames, us in given)).right == boxes
    events = (("alloc", 7, 300, "load"), ("alloc", 9, 100, "parse"), ("free", 7, 0, ""), ("alloc", 7, 400, "parse"))
    assert blocks.Blocks("", "", events).right == [["parse", 500]]


def test_a_number_of_another_type_is_wrong() -> None:
    scenario = opcodes.draw_timed(np.random.default_rng(5))[0]
    assert scenario.judge([[first, second, float(times)] for first, second, times in scenario.right]) is not None
    case = next(case for case in programs.draw_cases(np.random.default_rng(5)) if "a < b," in case.title)
    assert (case.right, case.judge(True)) == (True, None)
    assert case.judge(1) is not None


def test_a_program_is_recorded_as_its_call_tree() -> None:
    record = import_module("grader.tasks.lesson_09_cprofile.record")

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    (called,) = list(record.traced(lambda: fib(3)).called.values())[:1]
    nodes = [(depth, name.partition(":")[2], calls) for depth, name, calls, _ in called.nodes()]
    assert nodes == [(0, "<lambda>", 1), (1, "fib", 1), (2, "fib", 2), (3, "fib", 2)]


def test_own_times_of_a_real_trace_are_those_of_the_profiler_s_table(tmp_path: Path) -> None:
    step = import_module("grader.tasks.lesson_11_torch_profiler.record").Step()
    step()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        step()
    found.export_chrome_trace(str(tmp_path / "step.json"))
    events = json.loads((tmp_path / "step.json").read_text(encoding="utf-8"))["traceEvents"]
    for event in events:
        event.update({name: round(1000 * event[name]) for name in ("ts", "dur") if name in event})
    names: dict[str, object] = {}
    exec(paths.solution("11_torch_profiler").read_text(encoding="utf-8"), names)  # noqa: S102 - the kit's solution
    self_times = names["self_times"]
    assert callable(self_times)
    rows = {name: (calls, own_ns) for name, calls, own_ns in self_times(events)}
    table: dict[str, tuple[int, float]] = {}
    for each in found.key_averages():  # a name may have several rows, as a label and as an operator
        calls, own_us = table.get(each.key, (0, 0.0))
        table[each.key] = calls + each.count, own_us + each.self_cpu_time_total
    assert set(rows) - set(table) == {"PyTorch Profiler (0)"}  # an event of the profiler itself
    for name, (calls, own_us) in table.items():
        assert rows[name][1] == pytest.approx(1000 * own_us, abs=20 * calls + 1), name
        assert rows[name][0] >= calls  # the table merges an event with an event of the same name that it contains


def test_programs_have_jumps_in_both_directions_all_kinds_of_operators_and_small_results() -> None:
    drawn = [case for seed in range(8) for case in programs.draw_cases(np.random.default_rng(seed))]
    drawn += [case for seed in range(8) for case in programs.draw_timed(np.random.default_rng(seed))]
    rows = [(at, one) for case in drawn for at, one in enumerate(plain_instructions(case._called().__code__))]
    names = {one.name for _, one in rows}
    assert {"COPY", "SWAP", "UNARY_NEGATIVE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"} <= names
    jumps = [(at, int(one.argument or 0)) for at, one in rows if "JUMP" in one.name]
    assert {to < at for at, to in jumps} == {True, False}
    assert max(abs(case.right) for case in drawn) < 1e12


def test_programs_and_opcodes_are_those_of_the_running_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name in opcodes.NAMES if name not in dis.opmap] == []
    this = f"compiled by Python {sys.version_info.major}.{sys.version_info.minor}"
    assert {case.title.endswith(this) for case in programs.draw_cases(np.random.default_rng(1))} == {True}
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    assert f"{this} (checked on 3.3 to 3.3)" in programs.draw_cases(np.random.default_rng(1))[0].title


def test_no_address_is_used_by_two_blocks_at_once() -> None:
    for case in blocks.draw_cases(np.random.default_rng(3)):
        in_use: set[int] = set()
        for kind, address, n_bytes, _ in case.events:
            assert kind == "free" or (address not in in_use and n_bytes > 0), case.title
            (in_use.add if kind == "alloc" else in_use.discard)(address)


@pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
def test_a_program_is_recorded_as_its_allocations_and_frees() -> None:
    record = import_module("grader.tasks.lesson_17_peaks_and_leaks.record")

    def keep_and_drop() -> bytearray:
        kept = bytearray(3000)
        for _ in range(3):
            bytearray(2000)
        return kept

    events = record.recorded(keep_and_drop)
    large = [i for i, event in enumerate(events) if event[3] == "keep_and_drop" and event[2] > 1900]
    assert [events[i][2] // 1000 for i in large] == [3, 2, 2, 2]
    frees = [("free", events[i][1], 0, "") for i in large]
    freed = [free in events[i:j] for free, i, j in zip(frees, large, [*large[1:], None], strict=True)]
    assert freed == [False, True, True, True]
