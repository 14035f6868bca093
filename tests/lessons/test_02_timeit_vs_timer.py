import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from lessons.engine import notebook
from lessons.engine.lesson import Lesson
from lessons.engine.predict import Answer

ROOT = Path(__file__).parent.parent.parent
LONGEST_LINE = 80 - len("   1 │ ")
Row = list[float]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.02_timeit_vs_timer")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command: Sequence[str | Path] = (sys.executable, "-W", "error", "-m", "lessons.02_timeit_vs_timer", *arguments)
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_fast_run_settles_every_claim_and_what_must_hold_held(lesson: Lesson, tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    done = run("--no-input", "--fast", "--json", file)
    record = json.loads(file.read_text(encoding="utf-8"))
    declared = [id_ for step in lesson.steps for id_ in step.claims]
    assert done.stderr == ""
    assert record["complete"]
    assert [claim["id"] for claim in record["claims"]] == declared
    assert len(declared) == len(set(declared)) >= 5
    certain = {
        "autorange-steps",
        "prints-the-best",
        "timer-warms-up",
        "timer-one-thread",
        "one-sample",
        "no-spread",
        "profile-says-where",
    }
    assert {claim["verdict"] for claim in record["claims"] if claim["id"] in certain} == {"held"}


def test_the_steps_are_listed_with_their_claims(lesson: Lesson) -> None:
    out = run("--list-steps").stdout
    for step in lesson.steps:
        assert step.title in out
        assert all(id_ in out for id_ in step.claims)


def test_all_teaching_code_fits_a_terminal_of_80_columns(lesson: Lesson) -> None:
    for step in lesson.steps:
        for code in (step.code, step.given_code):
            lines = code.splitlines()
            assert max(map(len, lines), default=0) <= LONGEST_LINE, step.name
            assert len(lines) <= 24, step.name


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)
    assert len(lesson.key_points) == 3
    assert lesson.references


def test_what_the_command_line_prints_is_read_in_every_unit(module: ModuleType) -> None:
    printed = "raw times: 1.5 sec, 20 msec, 300 usec, 4e+03 nsec\n\n200 loops, best of 4: 20 nsec per loop\n"
    loops, figure_s, raw_s = module.read_printed(printed)
    assert (loops, figure_s) == (200, pytest.approx(20e-9))
    assert raw_s == pytest.approx([1.5, 0.02, 300e-6, 4e-6])


def test_a_warning_of_timeit_does_not_count_as_raw_times(module: ModuleType) -> None:
    printed = (
        "raw times: 9 msec, 2 msec\n\n10 loops, best of 2: 200 usec per loop\n"
        ":0: UserWarning: The test results are likely unreliable. The worst time (900 usec) was more than four "
        "times slower than the best time (200 usec).\n"
    )
    assert module.read_printed(printed) == (10, pytest.approx(200e-6), pytest.approx([9e-3, 2e-3]))


@pytest.mark.parametrize(
    ("one", "full", "noise", "key"),
    [
        ([2.0, 2.1, 1.9], [0.5, 0.6, 0.4], 0.0, "c"),
        ([2.0, 2.1, 1.9], [0.5, 1.1, 0.4], 0.0, "b"),
        ([2.0, 2.1, 1.9], [3.0, 3.1, 2.9], 0.0, "b"),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], 0.0, "a"),
        ([2.0, 2.1, 1.9], [2.0, 2.2, 1.9], 0.3, "unclear"),
        ([2.0, 2.1, 1.9], [2.0, 4.2, 1.9], 0.0, "unclear"),
        ([2.0, 2.1, 1.9], [1.2, 2.1, 1.9], 0.0, "unclear"),
    ],
)
def test_what_threads_change_is_said_only_as_far_as_all_turns_say_it(
    module: ModuleType, one: Row, full: Row, noise: float, key: str
) -> None:
    assert module.outcome(one, full, noise) == key
    assert key in module.WHY_THREADS


def test_one_turn_in_nine_may_disagree_and_one_in_three_may_not(module: ModuleType) -> None:
    wider, steady, hit = [4.0], [2.0], [40.0]
    assert module.outcome(steady * 9, wider * 8 + hit, 0.0) == "b"
    assert module.outcome(steady * 9, wider * 7 + steady * 2, 0.0) == "unclear"
    assert module.outcome(steady * 3, wider * 2 + steady, 0.0) == "unclear"


Explain = Callable[..., tuple[str, dict[str, str]]]


@pytest.fixture
def explain_threads(prepare: Callable[..., object], module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Explain planted turns, as after the prediction "a"; return what was printed and how the claims fared."""

    def explain(turns: list[dict[str, Row]], threads: int) -> tuple[str, dict[str, str]]:
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        played = prepare(module.lesson)
        step = module.one_thread_or_all
        page = played.session._page(step)  # type: ignore[attr-defined]
        page.prediction, page.answer = step.predict, Answer("a", "yes, by as much")
        module.explain_threads(page, turns)
        printed = " ".join(played.out.getvalue().split())  # type: ignore[attr-defined]
        return printed, {claim.id: str(claim.standing) for claim in page.claims}

    return explain


def test_a_winner_that_changes_with_the_threads_is_announced(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [1e-4, 2e-4, 1e-4], "bmm": [2e-4, 1e-4, 2e-4]}] * 3
    printed, standings = explain_threads(turns, 4)
    assert "It was no, the other." in printed
    assert "the winner changes" in printed
    assert set(standings.values()) == {"held"}


def test_threads_that_make_it_slower_refute_the_claim_and_are_explained(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [9e-3, 1e-4, 9e-3], "bmm": [18e-3, 2e-4, 18e-3]}] * 3
    printed, standings = explain_threads(turns, 2)
    assert "You said yes, by as much, and so it is." in printed
    assert "mul_sum takes 90× as long with 2 threads" in printed
    assert standings == {
        "one-thread-is-slower": "refuted",
        "same-threads-agree": "held",
        "threads-decide": "refuted",
    }


def test_a_single_thread_leaves_the_claims_open(explain_threads: Explain) -> None:
    turns = [{"mul_sum": [1e-4, 1e-4, 1e-4], "bmm": [2e-4, 2e-4, 2e-4]}] * 3
    printed, standings = explain_threads(turns, 1)
    assert "This run could not tell" in printed
    assert "a single thread here" in printed
    assert set(standings.values()) == {"inconclusive"}


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom_in_a_fresh_kernel(lesson: Lesson, tmp_path: Path) -> None:
    path = tmp_path / "02_timeit_vs_timer.ipynb"
    notebook.write(lesson, path, fast=True)
    whole = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, timeout=300, kernel_name="python3", resources=resources).execute()
    for step in lesson.steps:
        (cell,) = (cell for cell in whole.cells if cell.id == f"{step.name}-run")
        printed = re.sub(r"\x1b\[[0-9;]*m", "", "".join(output.get("text", "") for output in cell.outputs))
        assert len(re.findall(r"^ *[✓✗?] ", printed, re.MULTILINE)) == len(step.claims), step.name
