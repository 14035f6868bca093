"""Tests of the explanations of lesson 11, for made-up results."""

import gzip
import importlib
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import torch
from sessions import Play, explained

from harness.machine.background_load import BackgroundLoad
from harness.profiles import VIEWS, BoardPages, Event, NamedModules, Operator, TensorBoard, Trace, tensorboard_recorder
from harness.profiles.tensorboard_pages import NUMBERS
from harness.profiles.tensorboard_recorder import TRACE
from lessons.engine.lesson import Lesson
from lessons.engine.recorded_run import FILE

TABLE = """\
----  --------  ---------  ----------  -------  ------------
Name  Self CPU  CPU total  # of Calls  CPU Mem  Self CPU Mem
a          1ms        2ms           3     4 B           5 B"""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.11_torch_profiler")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def row(name: str, own_s: float, total_s: float, **more: object) -> Operator:
    return Operator(name, 1, own_s, total_s, **more)  # type: ignore[arg-type]


def test_each_step_has_a_question(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


def test_a_top_row_of_own_time_and_a_network_that_learns_nothing_refute_all_claims(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    rows = (row("aten::conv2d", 9.0, 9.0), row("forward", 0.1, 1.0))
    found = module.Profiled([2.0, 2.0], rows, TABLE, 20.0, 0.0)
    printed, standings = explained(prepare, lesson, "the_top_row", found)
    assert set(standings.values()) == {"refuted"}
    assert "Most of this row's total time is its own time" in printed
    assert "Measured Three quarters or more. The own time is 100 % of the total time." in printed


def table_with(name: str) -> str:
    heads = ("Name", "Self CPU", "CPU total", "CPU time avg", "# of Calls")
    lines = (heads, (name, "3ms", "4ms", "2ms", "7"))
    rule = "  ".join(["-" * 12] * len(heads))
    return "\n".join([rule, *("  ".join(f"{cell:>12}" for cell in line) for line in lines)])


def test_sort_keys_that_agree_on_an_expensive_operator_refute_all_claims(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    tables = dict.fromkeys(module.SORT_COLUMNS, table_with("aten::mm"))
    found = module.Sorted(
        tables, list(tables), (row("aten::mm", 3.0, 4.0), row("aten::add", 1.0, 1.0)), BackgroundLoad(0.0)
    )
    printed, standings = explained(prepare, lesson, "the_sort_keys", found)
    assert set(standings.values()) == {"refuted"}
    assert "The help text of table lists these keys." in printed
    assert "Measured 40 % or more. aten::mm has 1 call and 75 % of the time." in printed


def test_a_sort_key_that_the_help_leaves_out_is_named(module: ModuleType) -> None:
    assert module.undocumented_keys(["count", "cpu_time"]).endswith("It leaves out `count`, `cpu_time`.")


def test_equal_rates_and_wrong_flops_refute_all_claims_about_shapes(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    shapes = tuple(row("aten::conv2d", 1.0, 1.0, flops=10**6, shapes="[1, 4, 8, 8]×[4, 4, 3, 3]") for _ in range(2))
    together = row("aten::conv2d", 3.0, 3.0, flops=2 * 10**6)
    printed, standings = explained(prepare, lesson, "which_convolution", module.Shapes(together, shapes))
    assert set(standings.values()) == {"refuted"}
    assert "Measured 1 times." in printed


def test_operations_by_hand_use_a_stride_of_two_for_doubled_channels(module: ModuleType) -> None:
    assert module.flops_by_hand("[2, 3, 8, 8]×[16, 3, 3, 3]") == 2 * 2 * 64 * 16 * 27
    assert module.flops_by_hand("[2, 16, 8, 8]×[32, 16, 1, 1]") == 2 * 2 * 16 * 32 * 16


def test_a_cheap_mask_and_a_slow_sum_refute_all_claims_about_the_mask(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    rows = (row("aten::gt", 2.0, 2.0), row("aten::nonzero", 1.0, 1.0, own_bytes=10, stack=("a.py(3): other",)))
    found = module.Masked(TABLE, rows, TABLE, 10, [3, 4], [0.2, 0.3], [0.5, 0.6])
    printed, standings = explained(prepare, lesson, "who_asked", found)
    assert set(standings.values()) == {"refuted"}
    assert "Measured The comparison. aten::gt takes 67 % of the operators' own time." in printed


def test_the_number_in_a_frame_is_explained_only_if_it_is_the_first_line_of_the_function(module: ModuleType) -> None:
    first = module.Exceeds.count.__code__.co_firstlineno
    assert "line at which the function begins" in module.line_of_a_frame((f"lesson.py({first}): count",))
    assert module.line_of_a_frame((f"lesson.py({first + 1}): count",)) == ""


def test_the_questions_state_the_numbers_of_shapes_and_layers_of_the_network(
    lesson: Lesson, module: ModuleType
) -> None:
    network = module.small_resnet()
    layers = [each for each in network.modules() if not list(each.children())]
    trace = next(step for step in lesson.steps if step.name == "the_trace")
    assert f"The network has {len(layers)} layers" in " ".join(trace.introduction.split())
    shapes, convolutions = set(), 0
    for each in layers:
        if isinstance(each, torch.nn.Conv2d):
            convolutions += 1
            each.register_forward_pre_hook(lambda layer, args: shapes.add((*args[0].shape, *layer.weight.shape)))
    network(torch.zeros(2, 3, 32, 32))
    assert (convolutions, len(shapes)) == (10, 9)


@pytest.mark.parametrize(
    ("above_s", "lost_s", "letter"), [(6.0, 0.0, "a"), (1.0, 2.0, "b"), (1.0, 5.0, None), (5.0, 0.0, None)]
)
def test_time_without_a_stack_is_not_taken_for_time_of_the_forward_pass(
    module: ModuleType, above_s: float, lost_s: float, letter: str | None
) -> None:
    assert module.place_of_backward(10.0, above_s, lost_s) == letter


def test_stacks_without_keep_stacks_refute_all_claims_about_stacks(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    stacks = "a.py(1):_run;a.py(2):_step;b.py(3):_backward 4\na.py(1):_run 1\n"
    rows = (row("backward", 4e-6, 4e-6), row("other", 1e-3, 1e-3))
    found = module.Stacks("a 1", stacks, rows, BackgroundLoad(0.0))
    printed, standings = explained(prepare, lesson, "a_flame_graph", found)
    assert set(standings.values()) == {"refuted"}
    assert "this PyTorch no longer needs it" in printed
    assert "is above the function that started the backward pass" in printed
    printed, standings = explained(prepare, lesson, "a_flame_graph", found._replace(others=BackgroundLoad(1.5)))
    assert standings["backward-is-forward"] == "inconclusive"
    assert "does not show to which functions the time of the backward pass belongs" in printed


def test_no_stacks_at_all_leave_no_picture_and_no_error(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    found = module.Stacks("", "", (row("backward", 1.0, 1.0),), BackgroundLoad(0.0))
    printed, standings = explained(prepare, lesson, "a_flame_graph", found)
    assert standings["empty-unasked"] == "held"
    assert standings["hardly-any-lost"] == "refuted"
    assert "time by stack" not in printed


def event(name: str, start_us: float, duration_us: float) -> Event:
    return Event(name, "cpu_op", ("1", "1"), start_us, duration_us)


def test_a_trace_that_differs_from_the_table_refutes_all_claims_about_it(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    trace = Trace((event("aten::conv2d", 0, 5), event("aten::add", 3, 9)), Counter(X=2))
    found = module.Exported(trace, row("aten::conv2d", 1.0, 1.0), NamedModules(3, ""))
    printed, standings = explained(prepare, lesson, "the_trace", found)
    assert set(standings.values()) == {"refuted"}
    assert "In this run the file contains names of modules" in printed
    assert "Measured Less than 100. The file contains 2 events and 0 arrows." in printed


def test_a_torch_that_deprecates_with_modules_is_named(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    trace = Trace((event("aten::conv2d", 0, 5),), Counter(X=1))
    calls = row("aten::conv2d", 5e-6, 5e-6)
    silent, _ = explained(prepare, lesson, "the_trace", module.Exported(trace, calls, NamedModules(0, "")))
    warned, standings = explained(
        prepare, lesson, "the_trace", module.Exported(trace, calls, NamedModules(0, "with_modules is deprecated"))
    )
    assert standings["modules-need-script"] == "held"
    assert f"The installed torch, {module.TORCH}, warns" in warned
    assert "This torch" not in silent


def test_a_torch_without_with_modules_skips_its_claim(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    trace = Trace((event("aten::conv2d", 0, 5),), Counter(X=1))
    found = module.Exported(trace, row("aten::conv2d", 5e-6, 5e-6), NamedModules(None, ""))
    printed, standings = explained(prepare, lesson, "the_trace", found)
    assert standings["modules-need-script"] == "skipped"
    assert "which this torch no longer has" in printed


def test_a_call_within_a_call_is_drawn_deeper(module: ModuleType) -> None:
    inside = (event("a", 0, 9), event("b", 1, 5), event("c", 2, 3), event("d", 7, 1))
    assert [module.depth_of(each, inside) for each in inside] == [0, 1, 2, 1]


def test_traces_that_differ_from_the_schedule_refute_all_claims_about_it(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))
    found = module.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], TensorBoard())
    printed, standings = explained(prepare, lesson, "not_all_of_it", found)
    assert set(standings.values()) == {"refuted"}
    assert "This run gives no clear answer." in printed


@pytest.mark.parametrize(
    ("board", "standing", "words"),
    [
        (TensorBoard("a short run", "", ""), "skipped", "installs TensorBoard and its plugin"),
        (
            TensorBoard("", "2.21.0", "0.4.3", 9, ("run",), ("rank0",), ("Overview", "Operator", "Trace")),
            "held",
            "Its workers are rank0. Its views are Overview, Operator, Trace.",
        ),
        (TensorBoard("", "2.21.0", "0.4.3", 9, ("run",), ("rank1",), ("Trace",)), "refuted", "Its workers are rank1."),
    ],
)
def test_the_lesson_prints_what_tensorboard_shows(
    prepare: Play, lesson: Lesson, module: ModuleType, board: TensorBoard, standing: str, words: str
) -> None:
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))
    found = module.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], board)
    printed, standings = explained(prepare, lesson, "not_all_of_it", found)
    assert standings["board-shows"] == standing
    assert words in printed


def test_without_tensorboard_the_lesson_shows_the_recorded_pages_with_versions_and_date(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    pages = BoardPages.load(lesson.recorded)
    trace = Trace((event("ProfilerStep#5", 0, 5),), Counter(X=1))
    found = module.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], TensorBoard("TensorBoard"))
    printed, _ = explained(prepare, lesson, "not_all_of_it", found)
    assert f"TensorBoard {pages.board} with version {pages.plugin} of the plugin showed them on {pages.date}" in printed
    assert f"torch {pages.environment.torch} and Python {pages.environment.python}" in printed
    assert pages.environment.cpu in printed
    for view in pages.views:
        assert f"{view.name}: {view.title or view.note}"[:60] in printed
        assert (f"{view.name}: a picture of the page" in printed) == bool(view.picture)
    ran = module.Scheduled(["NONE", "RECORD"], [trace], ["lesson.json"], 3, 0, [5, 5], TensorBoard())
    assert "a picture of the page" not in explained(prepare, lesson, "not_all_of_it", ran)[0]


def test_the_recorded_pages_are_complete_small_and_name_no_path(lesson: Lesson) -> None:
    pages = BoardPages.load(lesson.recorded)
    assert tuple(view.name for view in pages.views) == VIEWS
    assert [view.name for view in pages.views if not view.rows] == ["Kernel"]
    pictures = {view.picture for view in pages.views if view.picture}
    assert {path.name for path in lesson.recorded.iterdir()} == {FILE, NUMBERS, TRACE, *pictures}
    assert all((lesson.recorded / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    assert sum(path.stat().st_size for path in lesson.recorded.iterdir()) < 600_000
    assert '"/' not in (lesson.recorded / NUMBERS).read_text(encoding="utf-8")


def test_the_recorded_pages_are_part_of_the_wheel(lesson: Lesson) -> None:
    lessons = Path(lesson.file).parent
    project = tomllib.loads((lessons.parent / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["lessons"]
    packed = {path for pattern in patterns for path in lessons.glob(pattern)}
    assert set(lesson.recorded.iterdir()) <= packed


def test_each_view_is_recorded_from_a_run_that_is_written(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def record(folder: Path, writers: dict[str, object], runs: dict[str, str]) -> list[Path]:
        assert tuple(runs) == VIEWS
        assert set(runs.values()) == set(writers)
        return [folder]

    monkeypatch.setattr(tensorboard_recorder, "record_pages", record)
    assert lesson.recorder is not None
    assert lesson.recorder(tmp_path) == [tmp_path]


@pytest.mark.slow
def test_the_traces_for_the_record_contain_what_the_views_need(module: ModuleType, tmp_path: Path) -> None:
    contents = {}
    for kind, write in (
        ("memory", module.write_trace),
        ("stacks", module.write_stacks),
        ("two", module.write_two_traces),
    ):
        (tmp_path / kind).mkdir()
        write(tmp_path / kind)
        contents[kind] = [gzip.decompress(path.read_bytes()) for path in sorted((tmp_path / kind).iterdir())]
    assert b"[memory]" in contents["memory"][0]
    assert b"nn.Module: Block_0" in contents["stacks"][0]
    assert [text.count(b'"rank": ') for text in contents["two"]] == [1, 1]
    assert all(b"gloo:all_reduce" in text for text in contents["two"])


@pytest.mark.parametrize(
    ("loads", "waits", "standing", "words"),
    [
        (0, [0.2, 0.01, 0.03, 0.0], "held", "Measured Only as time in which the training waits for batches."),
        (24, [0.2, 0.08, 0.07, 0.0], "refuted", "Measured As one event for each image."),
    ],
)
def test_the_loading_is_found_in_the_profile_of_the_training_or_of_the_workers(
    prepare: Play, lesson: Lesson, module: ModuleType, loads: int, waits: list[float], standing: str, words: str
) -> None:
    files = {} if loads else {"worker0.1.json": 4, "worker0.3.json": 8, "worker1.2.json": 12}
    alone = module.Run(24 - loads, [0.08, 0.08, 0.08, 0.0])
    found = module.Loaded(24, alone, module.Run(loads, waits), files)
    printed, standings = explained(prepare, lesson, "loading", found)
    assert set(standings.values()) == {standing}
    assert words in printed
    assert module.batches_of(files, "worker0") == ((0, 0) if loads else (2, 12))


def test_a_profile_of_both_threads_refutes_that_only_one_is_recorded(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    printed, standings = explained(prepare, lesson, "two_threads", module.Threads(5, 10, {1: 5, 2: 10}, {1: 15}))
    assert standings == {"only-one-thread": "refuted", "all-threads": "refuted"}
    assert "Measured 15." in printed


def test_a_torch_that_records_only_its_own_thread_skips_the_claim_about_all_threads(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    printed, standings = explained(prepare, lesson, "two_threads", module.Threads(5, 10, {1: 5}, None))
    assert standings == {"only-one-thread": "held", "all-threads": "skipped"}
    assert "does not have" in printed


def test_a_profiler_that_slows_only_large_products_refutes_all_claims_about_its_cost(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    times = {"many small": (1.0, 1.0, 0.9), "training": (1.0, 1.0, 1.0), "few large": (1.0, 2.0, 2.0)}
    turn = {kind: module.Times(*each) for kind, each in times.items()}
    printed, standings = explained(prepare, lesson, "what_asking_changes", module.Costs([turn] * 9, 1.0, 0.5))
    assert set(standings.values()) == {"refuted"}
    assert "Measured A few large products. The largest ratio in the column “with ÷ without” is 2×." in printed


def test_rounds_that_do_not_agree_decide_nothing_about_the_cost(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    times = (module.Times(1.0, 0.5, 0.2), module.Times(1.0, 3.0, 9.0))
    turns = [dict.fromkeys(("many small", "training", "few large"), each) for each in times * 4]
    printed, standings = explained(prepare, lesson, "what_asking_changes", module.Costs(turns, 1.0, 2.0))
    assert standings.pop("paid-afterwards") == "held"
    assert set(standings.values()) == {"inconclusive"}
    assert "This run gives no clear answer." in printed
