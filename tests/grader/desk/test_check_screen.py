"""The screen of `check`: what stands first, what fits in a small terminal, and what a watched file repeats."""

from collections.abc import Sequence
from dataclasses import replace

from classroom import ENVIRONMENT
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from grader import catalogue
from grader.desk import check_screen
from grader.desk.check_screen import ScreenLine
from grader.records import Attempt, Report, Speed, Status, Submission, Verdict
from grader.trials.faults import NOT_WRITTEN
from harness.rendering.wrapping import wrapped

LESSONS = ("02_timeit_vs_timer", "04_autorange", "14_extensions")
NASTY = st.one_of(
    st.sampled_from(
        ["", "x" * 10_000, "漢字" * 900, "a\n" * 300, "/a/very/long/path" * 40, "\t\t\tx", " " * 200 + "end"]
    ),
    st.text(max_size=90),
)
"""Texts of a submission: exceptions, printed lines, paths and values."""
ATTEMPTS = st.builds(
    Attempt,
    st.sampled_from(Status),
    rationale=NASTY,
    help=NASTY | st.just(NOT_WRITTEN),
    speed=st.none() | st.builds(Speed, st.just(1.4), st.just(1.3), st.just(1.5), st.just(35), st.integers(0, 2)),
    output_tail=NASTY,
)


def report(
    lesson: str, attempts: Sequence[Attempt], points: Sequence[float] = (0, 0), notes: tuple[str, ...] = ()
) -> Report:
    pairs = zip(catalogue.load().tasks(lesson), attempts, points, strict=False)
    verdicts = tuple(Verdict(task.full_name, each, task.points, task.cost, attempt) for task, attempt, each in pairs)
    submission = Submission("you", lesson, f"{lesson}.py", "00ff", "x = 1")
    return Report(submission, verdicts, ENVIRONMENT, sandboxed=True, duration_s=1.0, remarks=notes)


def rows(lines: Sequence[ScreenLine]) -> list[str]:
    return [row for line in lines for row in wrapped(line.text, check_screen.COLUMNS, line.indent)]


@settings(max_examples=40)
@given(
    st.sampled_from(LESSONS), st.tuples(ATTEMPTS, ATTEMPTS), st.tuples(*[st.sampled_from((0, 4, 10))] * 2), st.data()
)
def test_any_report_fits_in_24_rows_of_80_columns_the_points_first(
    lesson: str, attempts: tuple[Attempt, Attempt], points: tuple[float, float], data: st.DataObject
) -> None:
    made = report(lesson, attempts, points, tuple(data.draw(st.lists(NASTY, max_size=4))))
    hints = {task.full_name: list(task.hints) for task in catalogue.load().tasks(lesson)}
    short, whole = (rows(check_screen.screen(made, hints, verbose=verbose)) for verbose in (False, True))
    assert len(short) <= check_screen.ROWS - 2, "the typed command stands above, and the prompt below"
    assert max(map(cell_len, short)) <= check_screen.COLUMNS
    assert f"{sum(verdict.points for verdict in made.verdicts):g} / " in short[0]
    lost = [row for row in short if row not in whole and "--verbose" not in row]
    assert lost == [], "without --verbose, there is nothing else"
    assert len(short) >= min(len(whole), 20) or any("--verbose" in row for row in short)


def test_a_watched_file_repeats_only_what_changed() -> None:
    stub = Attempt(Status.RAISED, "repair still raises NotImplementedError (line 41 of the file).", NOT_WRITTEN)
    slow = Attempt(Status.PASSED, "Right. Next tier: 2×.", speed=Speed(1.4, 1.3, 1.5, 35, 0))
    made = report("02_timeit_vs_timer", (slow, stub), (4, 0))
    before = {verdict.task: verdict for verdict in made.verdicts}
    moved = replace(stub, rationale=stub.rationale.replace("41", "43"))
    noisy = replace(slow, speed=Speed(1.5, 1.4, 1.6, 35, 0), rationale="Right. Next tier: 2.0×.")
    (nothing,) = check_screen.screen(report("02_timeit_vs_timer", (noisy, moved), (4, 0)), {}, before=before)
    assert nothing.text == "Nothing changed: 4 / 20 points"
    faster = replace(slow, speed=Speed(2.4, 2.3, 2.5, 35, 1))
    lines = rows(check_screen.screen(report("02_timeit_vs_timer", (faster, moved), (7, 0)), {}, before=before))
    assert lines[1].startswith(" 7 / 10 (before: 4)  02_timeit_vs_timer · time_per_call: right, tier 1 of ")
    assert "repair" not in " ".join(lines)
