import pytest
from playing import find_task, play

from grader import overlays, paths

TASK = find_task("02_timeit_vs_timer", "repair")
FUNCTIONS = ("time_sum", "time_multiply", "time_matmul", "time_sort", "time_hash")
STUB = paths.stub(TASK.lesson).read_text(encoding="utf-8")


def test_each_of_the_five_is_broken_in_the_stub_and_named_in_the_title() -> None:
    game = play(TASK, STUB, seed=1)
    for scenario, mismatch in zip(game.scenarios, game.mismatches, strict=True):
        assert scenario.function in FUNCTIONS
        assert mismatch is not None
        assert scenario.function in scenario.title


def test_a_known_wrong_answer_breaks_one_function_and_leaves_the_others_right() -> None:
    for path in TASK.wrong_answers:
        game = play(TASK, overlays.whole(path), seed=2)
        pairs = zip(game.scenarios, game.mismatches, strict=True)
        assert len({scenario.function for scenario, mismatch in pairs if mismatch}) == 1, path.stem


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_number_typed_in_from_the_first_scenario_is_wrong_in_the_second(function: str) -> None:
    scenarios = [scenario for scenario in play(TASK, TASK.baseline, seed=3).scenarios if scenario.function == function]
    typed_in = next(n / 1e8 for n in range(1, 10**6) if scenarios[0].judge(n / 1e8) is None)
    assert scenarios[1].judge(typed_in) is not None


def test_a_list_that_was_never_made_is_refused_in_one_sentence() -> None:
    scenario = next(
        scenario for scenario in play(TASK, TASK.baseline, seed=4).scenarios if scenario.function == "time_sort"
    )
    for arguments in ([], ["list 0"], [3], [["list 1"]], ["list 1", "list 2"]):
        with pytest.raises(ValueError, match="takes one list that make_list"):
            scenario.call("sort", arguments)
