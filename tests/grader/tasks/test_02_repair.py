from playing import find_task, play

from grader import overlays

TASK = find_task("02_timeit_vs_timer", "repair")


def test_a_known_wrong_answer_breaks_one_function_and_leaves_the_others_right() -> None:
    for path in TASK.wrong_answers:
        game = play(TASK, overlays.whole(path), seed=2)
        pairs = zip(game.scenarios, game.mismatches, strict=True)
        assert len({scenario.function for scenario, mismatch in pairs if mismatch}) == 1, path.stem
