from sessions import MadeUp

LESSON = MadeUp("07_fuzzing")


def turned(turns: dict[int, list[tuple[float, float]]]) -> dict[int, list[object]]:
    """Return the given pairs of seconds, by size, as `Turn` objects of the lesson."""
    return {n: [LESSON.Turn(*each) for each in rounds] for n, rounds in turns.items()}


def test_a_machine_on_which_transposing_costs_nothing_refutes_the_claims_about_it() -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 2e-3)] * 3, 2048: [(2e-3, 2.1e-3)] * 3})
    words = "the time per number at size 2048 was less than 1.10× the time at size 2000"
    LESSON.check("the_input_that_hurts", turns, "refuted", "Less than 2×.", "1.05× to 1.05×.", words)


def test_turns_that_disagree_decide_no_claim_and_no_text() -> None:
    turns = turned({512: [(1e-4, 1e-4)] * 3, 2000: [(2e-3, 8e-3), (2e-3, 12e-3)], 2048: [(2e-3, 4e-3), (2e-3, 3e-2)]})
    words = ("gives no clear answer", "does not show clearly whether size 2000")
    LESSON.check("the_input_that_hurts", turns, "inconclusive", *words)
