"""Tests of the explanations of lesson 11, for made-up results."""

from collections import Counter
from typing import Any

import pytest
from sessions import MadeUp

from harness.machine.background_load import BackgroundLoad
from harness.profiles import BoardPages, Event, NamedModules, Operator, TensorBoard, Trace
from harness.profiles.tensorboard import RECORD
from lessons.engine.recorded_run import FILE

LESSON = MadeUp("11_torch_profiler")
UNCLEAR = "This run gives no clear answer."
TABLE = """\
----  --------  ---------  ----------  -------  ------------
Name  Self CPU  CPU total  # of Calls  CPU Mem  Self CPU Mem
a          1ms        2ms           3     4 B           5 B"""


def row(name: str, own_s: float, total_s: float, **more: object) -> Operator:
    return Operator(name, 1, own_s, total_s, **more)  # type: ignore[arg-type]


def event(name: str, start_us: float, duration_us: float) -> Event:
    return Event(name, "cpu_op", ("1", "1"), start_us, duration_us)


def test_a_top_row_of_own_time_and_a_network_that_learns_nothing_refute_all_claims() -> None:
    rows = (row("aten::conv2d", 9.0, 9.0), row("forward", 0.1, 1.0))
    words = ("Most of this row's total time is its own time", "The own time is 100 % of the total time.")
    LESSON.check("the_top_row", LESSON.Profiled([2.0, 2.0], rows, TABLE, 20.0, 0.0), "refuted", *words)


def test_sort_keys_that_agree_on_an_expensive_operator_refute_all_claims() -> None:
    heads = ("Name", "Self CPU", "CPU total", "CPU time avg", "# of Calls")
    lines = ("  ".join(f"{cell:>12}" for cell in line) for line in (heads, ("aten::mm", "3ms", "4ms", "2ms", "7")))
    tables = dict.fromkeys(LESSON.SORT_COLUMNS, "\n".join(["  ".join(["-" * 12] * len(heads)), *lines]))
    rows = (row("aten::mm", 3.0, 4.0), row("aten::add", 1.0, 1.0))
    found = LESSON.Sorted(tables, list(tables), rows, BackgroundLoad(0.0))
    words = ("The help text of table lists these keys.", "aten::mm has 1 call and 75 % of the time.")
    LESSON.check("the_sort_keys", found, "refuted", *words)
    assert LESSON.undocumented_keys(["count", "cpu_time"]).endswith("It leaves out `count`, `cpu_time`.")


def test_equal_rates_and_wrong_flops_refute_all_claims_about_shapes() -> None:
    shapes = tuple(row("aten::conv2d", 1.0, 1.0, flops=10**6, shapes="[1, 4, 8, 8]×[4, 4, 3, 3]") for _ in range(2))
    together = row("aten::conv2d", 3.0, 3.0, flops=2 * 10**6)
    LESSON.check("which_convolution", LESSON.Shapes(together, shapes), "refuted", "1 times.")
    assert LESSON.flops_by_hand("[2, 3, 8, 8]×[16, 3, 3, 3]") == 2 * 2 * 64 * 16 * 27
    doubled = "[2, 16, 8, 8]×[32, 16, 1, 1]"  # a stride of two
    assert LESSON.flops_by_hand(doubled) == 2 * 2 * 16 * 32 * 16


def test_a_cheap_mask_and_a_slow_sum_refute_all_claims_about_the_mask() -> None:
    rows = (row("aten::gt", 2.0, 2.0), row("aten::nonzero", 1.0, 1.0, own_bytes=10, stack=("a.py(3): other",)))
    found = LESSON.Masked(TABLE, rows, TABLE, 10, [3, 4], [0.2, 0.3], [0.5, 0.6])
    LESSON.check("who_asked", found, "refuted", "aten::gt takes 67 % of the operators' own time.")


def test_the_number_in_a_frame_is_explained_only_if_it_is_the_first_line_of_the_function() -> None:
    first = LESSON.Exceeds.count.__code__.co_firstlineno
    assert "line at which the function begins" in LESSON.line_of_a_frame((f"lesson.py({first}): count",))
    assert LESSON.line_of_a_frame((f"lesson.py({first + 1}): count",)) == ""


def test_time_without_a_stack_is_not_taken_for_time_of_the_forward_pass() -> None:
    places = {(6.0, 0.0): "a", (1.0, 2.0): "b", (1.0, 5.0): None, (5.0, 0.0): None}
    assert {each: LESSON.place_of_backward(10.0, *each) for each in places} == places


def test_stacks_without_keep_stacks_refute_all_claims_about_stacks() -> None:
    stacks = "a.py(1):_run;a.py(2):_step;b.py(3):_backward 4\na.py(1):_run 1\n"
    rows = (row("backward", 4e-6, 4e-6), row("other", 1e-3, 1e-3))
    found = LESSON.Stacks("a 1", stacks, rows, BackgroundLoad(0.0))
    words = ("this PyTorch no longer needs it", "is above the function that started the backward pass")
    LESSON.check("a_flame_graph", found, "refuted", *words)
    busy, words_ = (
        found._replace(others=BackgroundLoad(1.5)),
        "does not show to which functions the time of the backward",
    )
    LESSON.check("a_flame_graph", busy, {"backward-is-forward": "inconclusive"}, words_)
    none = LESSON.Stacks("", "", (row("backward", 1.0, 1.0),), BackgroundLoad(0.0))
    wanted = {"empty-unasked": "held", "hardly-any-lost": "refuted"}
    LESSON.check("a_flame_graph", none, wanted, absent=["time by stack"])


def test_a_trace_that_differs_from_the_table_refutes_all_claims_about_it() -> None:
    trace = Trace((event("aten::conv2d", 0, 5), event("aten::add", 3, 9)), Counter(X=2))
    found = LESSON.Exported(trace, row("aten::conv2d", 1.0, 1.0), NamedModules(3, ""))
    words = ("In this run the file contains names of modules", "The file contains 2 events and 0 arrows.")
    LESSON.check("the_trace", found, "refuted", *words)


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


def test_a_call_within_a_call_is_drawn_deeper() -> None:
    inside = (event("a", 0, 9), event("b", 1, 5), event("c", 2, 3), event("d", 7, 1))
    assert [LESSON.depth_of(each, inside) for each in inside] == [0, 1, 2, 1]


def scheduled(board: TensorBoard) -> Any:
    """Return a result in which the traces differ from the schedule."""
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))
    return LESSON.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], board)


def test_the_lesson_prints_what_tensorboard_shows() -> None:
    step = "not_all_of_it"
    LESSON.check(step, scheduled(TensorBoard()), "refuted", UNCLEAR)
    short = TensorBoard("a short run", "", "")
    LESSON.check(step, scheduled(short), {"board-shows": "skipped"}, "installs TensorBoard and its plugin")
    shown = TensorBoard("", "2.21.0", "0.4.3", 9, ("run",), ("rank0",), ("Overview", "Operator", "Trace"))
    words = "Its workers are rank0. Its views are Overview, Operator, Trace."
    LESSON.check(step, scheduled(shown), {"board-shows": "held"}, words)
    other = TensorBoard("", "2.21.0", "0.4.3", 9, ("run",), ("rank1",), ("Trace",))
    LESSON.check(step, scheduled(other), {"board-shows": "refuted"}, "Its workers are rank1.")


def test_without_tensorboard_the_lesson_shows_the_recorded_pages_with_versions_and_date() -> None:
    pages = BoardPages.load(LESSON.lesson.recorded)
    printed, _ = LESSON.explained("not_all_of_it", scheduled(TensorBoard("TensorBoard")))
    assert f"TensorBoard {pages.board} with version {pages.plugin} of the plugin showed them on {pages.date}" in printed
    assert f"torch {pages.environment.torch} and Python {pages.environment.python}" in printed
    for view in pages.views:
        assert f"{view.name}: {view.title or view.note}"[:60] in printed
        assert (f"{view.name}: a picture of the page" in printed) == bool(view.picture)


def test_the_recorded_pages_are_complete_small_and_name_no_path() -> None:
    folder = LESSON.lesson.recorded
    pages = BoardPages.load(folder)
    assert [view.name for view in pages.views if not view.rows] == ["Kernel"]
    pictures = {view.picture for view in pages.views if view.picture}
    assert {path.name for path in folder.iterdir()} == {FILE, RECORD, "trace.json.gz", *pictures}
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    assert '"/' not in (folder / RECORD).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("loads", "waits", "standing", "words"),
    [
        (0, [0.2, 0.01, 0.03, 0.0], "held", "Only as time in which the training waits for batches."),
        (24, [0.2, 0.08, 0.07, 0.0], "refuted", "As one event for each image."),
    ],
)
def test_the_loading_is_found_in_the_profile_of_the_training_or_of_the_workers(
    loads: int, waits: list[float], standing: str, words: str
) -> None:
    files = {} if loads else {"worker0.1.json": 4, "worker0.3.json": 8, "worker1.2.json": 12}
    alone = LESSON.Run(24 - loads, [0.08, 0.08, 0.08, 0.0])
    LESSON.check("loading", LESSON.Loaded(24, alone, LESSON.Run(loads, waits), files), standing, words)
    assert LESSON.batches_of(files, "worker0") == ((0, 0) if loads else (2, 12))


def test_a_profile_of_both_threads_or_of_one_only_is_explained() -> None:
    LESSON.check("two_threads", LESSON.Threads(5, 10, {1: 5, 2: 10}, {1: 15}), "refuted", "15.")
    wanted = {"only-one-thread": "held", "all-threads": "skipped"}
    LESSON.check("two_threads", LESSON.Threads(5, 10, {1: 5}, None), wanted, "does not have")


def test_the_cost_of_the_profiler_is_explained_as_it_was_measured() -> None:
    step, times = "what_asking_changes", LESSON.Times
    large = {"many small": times(1.0, 1.0, 0.9), "training": times(1.0, 1.0, 1.0), "few large": times(1.0, 2.0, 2.0)}
    words = "A few large products. The largest ratio in the column “with ÷ without” is 2×."
    LESSON.check(step, LESSON.Costs([large] * 9, 1.0, 0.5), "refuted", words)
    apart = [dict.fromkeys(large, each) for each in (times(1.0, 0.5, 0.2), times(1.0, 3.0, 9.0)) * 4]
    printed, standings = LESSON.explained(step, LESSON.Costs(apart, 1.0, 2.0))
    assert standings.pop("paid-afterwards") == "held"
    assert set(standings.values()) == {"inconclusive"}
    assert UNCLEAR in printed
