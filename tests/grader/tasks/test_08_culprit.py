import shutil
from importlib import import_module
from pathlib import Path

import pytest
from playing import find_task, play

from grader import paths

recorded = import_module("grader.tasks.lesson_08_callgrind.recorded")
record = import_module("grader.tasks.lesson_08_callgrind.record")
scenarios_ = import_module("grader.tasks.lesson_08_callgrind.scenarios")
TASK = find_task("08_callgrind", "culprit")
NOTHING = "def culprit(before, after):\n    pass\n"
SOLUTION = paths.solution("08_callgrind").read_text(encoding="utf-8")


def drawn(seed: int = 3) -> tuple[object, ...]:
    return play(TASK, NOTHING, seed).scenarios


def test_each_version_of_the_program_is_met_once_and_each_culprit_is_another() -> None:
    counts = recorded.load()
    assert set(counts) == {0, *recorded.CULPRITS}
    assert set(recorded.CULPRITS.values()) <= set(recorded.OWN)
    assert len(drawn()) == len(recorded.CULPRITS)


def test_recorded_counts_have_every_function_of_the_program() -> None:
    for counts in recorded.load().values():
        for count in counts:
            assert count.keys() >= set(recorded.OWN) | {"main"}
            assert all(calls >= 1 and 0 <= own <= inclusive for calls, own, inclusive in count.values())


def test_the_culprit_is_in_both_counts_and_its_name_gives_nothing_away() -> None:
    for scenario in scenarios_.draw_scenarios(scenarios_.np.random.default_rng(0)):
        before, after = ({str(row[0]) for row in count} for count in (scenario.before, scenario.after))
        assert scenario.truth in before
        assert {name.partition(".")[0] for name in after} >= {scenario.truth}
        assert not before & set(recorded.OWN)


def test_in_each_draw_the_culprit_is_cloned_under_every_ending() -> None:
    scenarios = scenarios_.draw_scenarios(scenarios_.np.random.default_rng(0))
    clones = [
        str(row[0]) for scenario in scenarios for row in scenario.after if str(row[0]).startswith(f"{scenario.truth}.")
    ]
    assert sorted("." + clone.partition(".")[2] for clone in clones) == sorted(scenarios_.CLONED)


def test_a_clone_is_asked_for_by_the_name_it_had_before() -> None:
    scenario = scenarios_.draw_scenarios(scenarios_.np.random.default_rng(3))[5]
    mismatch = scenario.judge(f"{scenario.truth}.isra.0")
    assert mismatch is not None
    assert "as it is in `before`" in mismatch.remark


@pytest.mark.long
@pytest.mark.valgrind
def test_counts_recorded_anew_have_the_same_culprits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing: install it with `apt-get install gcc`")
    monkeypatch.setattr(recorded, "COUNTS", tmp_path / "counts.json")
    recorded.COUNTS.write_text(record.as_text(record.record()), encoding="utf-8")
    recorded.load.cache_clear()
    try:
        assert play(TASK, SOLUTION, seed=1).right
    finally:
        recorded.load.cache_clear()
