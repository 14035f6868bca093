import pytest
import torch
from sessions import MadeUp

LESSON = MadeUp("03_cuda_sync")


@pytest.mark.skipif(torch.cuda.is_available(), reason="tests the text for machines without a GPU")
def test_the_lesson_begins_with_the_note_that_the_stream_is_simulated() -> None:
    assert LESSON.lesson.opening.startswith("Simulated: torch finds no CUDA on this machine")


@pytest.mark.parametrize(
    ("step", "kind", "turns", "standing", "says"),
    [
        ("launch_and_wait", "Launched", [(1e-4, 4e-2)] * 7, "held", "does not depend on how long the work takes"),
        ("launch_and_wait", "Launched", [(3e-2, 4e-2)] * 7, "refuted", "launches took a large part of the time"),
        ("own_clock", "Clocks", [(4.1e-2, 4e-2)] * 7, "held", "The first launch and the end of the wait are short"),
        ("own_clock", "Clocks", [(6e-2, 4e-2)] * 7, "refuted", "the two clocks differ"),
        ("own_clock", "Clocks", [(4e-2, 4e-2), (9e-2, 4e-2), (4e-2, 4e-2)], "inconclusive", "differ too much to show"),
        ("cold_and_warm", "Repeated", [(1e-5, 9e-5)] * 9, "held", "The two calls differ in the place of their numbers"),
        ("cold_and_warm", "Repeated", [(1e-5, 1e-5)] * 9, "refuted", "between warm and cold calls is small"),
        ("first_bmm", "", [5e-3] + [5e-5] * 9, "held", "includes this slow first call"),
        ("first_bmm", "", [5e-5] * 10, "refuted", "the first call was not slow"),
    ],
)
def test_what_came_out_is_what_is_explained(
    step: str, kind: str, turns: list[tuple[float, float]], standing: str, says: str
) -> None:
    LESSON.check(step, [getattr(LESSON, kind)(*turn) for turn in turns] if kind else turns, standing, says)
