"""Tests of the explanations of lesson 11, for made-up results."""

from collections import Counter
from typing import Any

from sessions import MadeUp

from harness.machine.background_load import BackgroundLoad
from harness.profiles.kineto import Event, NamedModules, Operator, Trace
from harness.profiles.servers import BoardPages, TensorBoard

LESSON = MadeUp("11_torch_profiler")


def row(name: str, own_s: float, total_s: float) -> Operator:
    return Operator(name, 1, own_s, total_s)


def event(name: str, start_us: float, duration_us: float) -> Event:
    return Event(name, "cpu_op", ("1", "1"), start_us, duration_us)


def test_stacks_without_keep_stacks_refute_all_claims_about_stacks() -> None:
    stacks = "a.py(1):_run;a.py(2):_step;b.py(3):_backward 4\na.py(1):_run 1\n"
    rows = (row("backward", 4e-6, 4e-6), row("other", 1e-3, 1e-3))
    found = LESSON.Stacks("a 1", stacks, rows, BackgroundLoad(0.0))
    words = ("this PyTorch no longer needs it", "is above the function that started the backward pass")
    LESSON.check("a_flame_graph", found, "refuted", *words)
    busy = found._replace(others=BackgroundLoad(1.5))
    unclear = "does not show to which functions the time of the backward"
    LESSON.check("a_flame_graph", busy, {"backward-is-forward": "inconclusive"}, unclear)
    none = LESSON.Stacks("", "", (row("backward", 1.0, 1.0),), BackgroundLoad(0.0))
    wanted = {"empty-unasked": "held", "hardly-any-lost": "refuted"}
    LESSON.check("a_flame_graph", none, wanted, absent=["time by stack"])


def test_a_torch_that_deprecates_or_lacks_with_modules_is_named() -> None:
    def exported(modules: NamedModules) -> Any:
        return LESSON.Exported(
            Trace((event("aten::conv2d", 0, 5),), Counter(X=1)), row("aten::conv2d", 5e-6, 5e-6), modules
        )

    held, skipped = ({"modules-need-script": each} for each in ("held", "skipped"))
    warns = f"The installed torch, {LESSON.TORCH}, warns"
    LESSON.check("the_trace", exported(NamedModules(0, "")), held, absent=[warns])
    LESSON.check("the_trace", exported(NamedModules(0, "with_modules is deprecated")), held, warns)
    LESSON.check("the_trace", exported(NamedModules(None, "")), skipped, "which this torch no longer has")


def scheduled(board: TensorBoard) -> Any:
    """Return a result in which the traces differ from the schedule."""
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))
    return LESSON.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], board)


def test_without_tensorboard_the_lesson_shows_the_recorded_pages_with_versions_and_date() -> None:
    pages = BoardPages.load(LESSON.lesson.recorded)
    printed, _ = LESSON.explained("not_all_of_it", scheduled(TensorBoard("TensorBoard")))
    assert f"TensorBoard {pages.board} with version {pages.plugin} of the plugin showed them on {pages.date}" in printed
    assert f"torch {pages.environment.torch} and Python {pages.environment.python}" in printed
    for view in pages.views:
        assert f"{view.name}: {view.title or view.note}"[:60] in printed
        assert (f"{view.name}: a picture of the page" in printed) == bool(view.picture)
