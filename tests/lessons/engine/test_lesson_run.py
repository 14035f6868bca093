"""A run of a lesson in this process or in a notebook, and the progress that it leaves for the next run."""

import base64
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import small_lesson
from sessions import ROOT, Play, lesson_from

from harness.errors import UsageError
from lessons.engine import conditions, notebook, predict, recall
from lessons.engine.claim import Claim
from lessons.engine.conditions import TOO_BUSY, Conditions
from lessons.engine.document import RecallBlock
from lessons.engine.interval import ClaimStanding, Interval
from lessons.engine.notebook import Guide
from lessons.engine.notebook_screen import for_this_process, markdown
from lessons.engine.predict import PredictionResult
from lessons.engine.progress import ProgressFile, updated
from lessons.engine.record import LessonRecord, StepRecord, Unfinished
from lessons.engine.screen import Screen
from lessons.engine.templates import DocumentError


def test_a_lesson_shows_its_code_its_claims_and_its_key_points(prepare: Play) -> None:
    played = prepare()
    played.session.play()
    record, text = played.session.record(), played.out.getvalue()
    assert record.complete
    assert [(claim.id, claim.measured.middle, claim.standing) for claim in record.claims] == [
        ("twice-is-two", 2.0, ClaimStanding.HELD),
        ("root", 2.0, ClaimStanding.HELD),
    ]
    assert "1 of 2 · Twice" in text
    assert "   1 │ def double(number: float):" in text
    assert "   5 │     return double(number)" in text
    assert "   1 │ import math" in text
    assert "✓  twice one is two" in text
    assert "It is two." in text
    assert "That was four_times." in text
    assert "· three" in text
    assert "`" not in text
    assert "<title>three samples</title>" in played.saved["small_lesson-twice-samples"]


def test_a_fast_run_calls_the_step_with_its_fast_arguments(prepare: Play) -> None:
    played = prepare(fast=True)
    played.session.play()
    claims = played.session.record().claims
    assert (claims[0].measured.middle, claims[0].standing) == (1.0, ClaimStanding.REFUTED)


def test_noise_makes_only_the_claims_inconclusive_that_use_it(prepare: Play) -> None:
    played = prepare(noise=0.5)
    played.session.play()
    assert [claim.standing for claim in played.session.record().claims] == [
        ClaimStanding.HELD,
        ClaimStanding.INCONCLUSIVE,
    ]
    assert "the machine was too noisy" in " ".join(played.out.getvalue().split())


def test_predictions_are_compared_with_the_measurement_and_read_by_the_next_run(prepare: Play, state: Path) -> None:
    played = prepare(typed=["b", "7 units"])
    played.session.play()
    text = " ".join(played.out.getvalue().split())
    assert "Your answer: no. The right answer: yes." in text
    assert "And four times 2?" in text
    assert "Your answer: 7 units. It is close to 8 units." in text
    ProgressFile().save(played.session.record())
    assert [path.name for path in state.iterdir()] == ["progress.json"]
    progress = ProgressFile().load()["small_lesson"]
    assert (progress.complete, progress.held, list(progress.durations_s)) == (True, 2, ["default"])
    assert progress.claims == {"twice-is-two": "held", "root": "held"}
    first, second = progress.predictions["twice"], progress.predictions["four_times"]
    assert first == PredictionResult("Is `twice` more than once?", "no", "yes", right=False)
    assert second.right


def test_a_function_or_an_argument_that_the_document_names_and_the_file_lacks_is_reported(tmp_path: Path) -> None:
    words = "---\nobjective: None.\n---\n\n## One {#one}\n\n:::{run}\n:fast: seconds=1\n:::\n"
    for code, message in (
        ("", "has no function one"),
        ("def one(): return 1", "one has no parameter seconds with a default"),
        ("def one(seconds=2): return 1", "has no function one_figures"),
    ):
        with pytest.raises(DocumentError, match=rf"broken\.md, line 5: .*{message}"):
            lesson_from(tmp_path, "broken", code, words)


def test_a_machine_that_is_too_busy_for_the_control_still_runs_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_busy(**_: float) -> None:
        raise UsageError("Each block was interrupted.")

    monkeypatch.setattr(conditions, "aa_control", too_busy)
    measured = Conditions.measure(fast=True)
    assert measured.noise == TOO_BUSY
    assert "too busy" in measured.describe()


def test_a_damaged_file_is_renamed_and_reported(state: Path, record: LessonRecord) -> None:
    state.mkdir()
    right: dict[str, object] = {"last_run_utc": "", "complete": True, "steps_done": 1, "claims": {}, "predictions": {}}
    right |= {"durations_s": {}, "left": {"steps": 1, "claims": {}}}
    wrong: tuple[dict[str, object], ...] = ({"claims": {"a": "maybe"}}, {"steps_done": "x"}, {"left": {"steps": None}})
    files = [json.dumps({"format": 1, "lessons": {"a": right | field}}).encode() for field in ({}, *wrong)]
    (state / "progress.json").write_bytes(files[0])
    assert list(ProgressFile().load()) == ["a"]
    for damage in (b"{", b"null", b'{"format": 99, "lessons": {}}', b"\xff", *files[1:]):
        (state / "progress.json").write_bytes(damage)
        progress = ProgressFile()
        assert progress.load() == {}
        assert "was damaged. It was renamed to" in progress.warning
        assert (state / "progress.damaged.json").read_bytes() == damage
    progress.save(record)
    assert list(ProgressFile().load()) == ["small_lesson"]


def run_of(record: LessonRecord, *measured: float, complete: bool = True) -> LessonRecord:
    """Return a lesson's run with one step per value. The claim of a step holds if the step's value is 1."""
    steps = [
        StepRecord(f"s{n}", "", 0.1, None, (Claim(f"c{n}", "", 1, 1).settled(Interval.exact(value)),))
        for n, value in enumerate(measured)
    ]
    return replace(record, steps=tuple(steps), complete=complete, earlier=None)


@pytest.fixture
def record(prepare: Play) -> LessonRecord:
    return prepare().session.record()


def test_the_best_complete_run_is_kept_and_else_the_unfinished_run_with_the_most_steps(record: LessonRecord) -> None:
    part = updated(None, run_of(record, 1, 1, complete=False))
    assert (part.complete, part.left) == (False, Unfinished(2, {"c0": "held", "c1": "held"}))
    near = updated(part, run_of(record, 0, complete=False))
    assert (near.left, near.steps_done) == (part.left, 2)
    whole = updated(part, run_of(record, 0, 0, 1))
    assert (whole.held, whole.left) == (1, None)
    again = updated(whole, run_of(record, 1, 1, complete=False))
    assert (again.held, again.measured) == (1, 3)
    best = updated(whole, run_of(record, 1, 1, 0))
    assert best.held == updated(best, run_of(record, 1, 0, 0)).held == 2
    assert updated(best, run_of(record, 1, 1, 1)).held == 3


def test_a_run_that_continues_another_counts_its_steps_too_but_not_its_time(record: LessonRecord) -> None:
    left = Unfinished(2, {"c7": "held", "c8": "refuted"})
    before = updated(None, run_of(record, 1, 1, complete=False))
    done = updated(before, replace(run_of(record, 1), earlier=left, started_at=2))
    assert (done.complete, done.durations_s) == (True, {})
    assert done.claims == {"c7": "held", "c8": "refuted", "c0": "held"}
    short, usual = (updated(done, replace(run_of(record, 1), fast=fast)) for fast in (True, False))
    assert (list(short.durations_s), list(usual.durations_s)) == (["fast"], ["default"])


def test_a_restarted_run_drops_the_unfinished_run_after_its_first_step(record: LessonRecord) -> None:
    ProgressFile().save(run_of(record, 1, 1, complete=False))
    ProgressFile().save(run_of(record, 0, complete=False), restarted=True)
    left = ProgressFile().load()["small_lesson"].left
    assert left is not None
    assert left.steps == 1


def test_a_run_that_starts_at_a_later_step_changes_only_the_answers(record: LessonRecord) -> None:
    answered = PredictionResult("?", "no", "yes", right=False)
    part = run_of(record, 0, complete=False)
    part = replace(part, started_at=1, steps=(replace(part.steps[0], prediction=answered),))
    whole = updated(None, run_of(record, 1, 1))
    assert updated(whole, part) == replace(whole, predictions={"s0": answered})
    first = updated(None, part)
    assert (first.complete, first.steps_done, first.left, first.claims) == (False, 0, None, {})


def test_the_cells_are_the_sources_of_the_steps(tmp_path: Path) -> None:
    notebook.write(small_lesson.lesson, tmp_path / "small.ipynb", fast=False)
    whole = json.loads((tmp_path / "small.ipynb").read_bytes())
    cells = {cell["id"]: "".join(cell["source"]) for cell in whole["cells"]}
    first, second = small_lesson.lesson.steps
    assert cells["twice-code"] == "\n\n\n".join(first.codes)
    assert cells["four_times-code"] == second.codes[0]
    assert cells["twice-run"] == "guide.run(twice)"
    assert "- a  yes\n- b  no" in cells["twice-question-words"]
    assert "four_times-question-words" not in cells, "its question contains an earlier result"
    assert "`fairclock lessons glossary TERM`" in next(iter(cells.values()))
    assert "choose the kernel fairclock" in cells["kernel"]
    assert cells["imports"].startswith("import math\n")
    assert "Samples" not in cells["imports"]


@pytest.fixture
def guide(monkeypatch: pytest.MonkeyPatch) -> Guide:
    monkeypatch.setitem(sys.modules, "lessons.small_lesson", small_lesson)
    return Guide("lessons.small_lesson")


def test_a_prediction_typed_into_a_cell_is_judged_and_saved(
    guide: Guide, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guide.run(twice)
    assert "Measured Yes." in text(capsys)
    guide.predict("twice", answer="perhaps")
    guide.run(twice)
    out = capsys.readouterr().out
    assert "perhaps is not one of the answers. Type a or b" in out
    assert "This step ran before in this kernel" in out
    assert "Your answer" not in out
    guide.predict("twice", answer="b")
    assert "Your answer: no." in capsys.readouterr().out
    guide.run(twice)
    assert "Your answer: no. The right answer: yes." in capsys.readouterr().out
    guide.predict("four_times", answer=7)
    guide.run(four_times)
    assert "Your answer: 7 units. It is close to 8 units." in capsys.readouterr().out
    guide.finish()
    assert "1 of 2 predictions right" in capsys.readouterr().out
    progress = ProgressFile(state).load()["small_lesson"]
    assert (progress.complete, progress.predictions["twice"].right) == (True, False)


def test_a_cell_that_did_not_run_or_was_interrupted_is_named(guide: Guide, capsys: pytest.CaptureFixture[str]) -> None:
    def twice() -> float:
        return double(1.0)  # type: ignore[name-defined,no-any-return]  # noqa: F821

    guide.predict("four_times")
    assert "Step 1 runs again" in capsys.readouterr().out
    guide.run(twice)
    assert "The cell that defines double has not run, so the lesson's own code runs instead." in text(capsys)

    def interrupted() -> None:
        raise KeyboardInterrupt

    interrupted.__name__ = "twice"
    guide.run(interrupted)
    assert "You interrupted this step." in text(capsys)
    guide.finish()
    assert "These steps have not run: Four times." in text(capsys)


def test_a_notebook_asks_only_about_a_lesson_that_was_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lessons.small_lesson", small_lesson)
    monkeypatch.setattr(recall, "about_last_lesson", lambda name, done: (name, QUESTIONS) if name in done else ("", ()))
    guide = Guide("lessons.small_lesson")
    assert "Questions about lesson" not in capsys.readouterr().out
    guide.run(twice)
    Guide("lessons.small_lesson")
    printed = capsys.readouterr().out
    assert "Questions about lesson small_lesson" in printed
    assert printed.index("How many?") < printed.index("One is enough.")


QUESTIONS = (RecallBlock(predict.Choice("How many?", {"a": "one", "b": "two"}), "a", "One is enough.", "one"),)


def text(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def twice(number: float = 1.0) -> float:
    return small_lesson.double(number)


def four_times() -> float:
    return math.sqrt(4.0) * small_lesson.double(2.0)


CODE = """
from pathlib import Path
from harness.rendering.tables import Table
from lessons.engine.api import ClaimStanding
from lessons.engine.notebook_screen import for_this_process
screen = for_this_process()
screen.say("a `word` with *emphasis*")
screen.ask("How *many*?", "a  one     b  two")
screen.reveal("Your answer: `x`.", right=True)
with screen.quoted("On a machine, this step showed:"):
    screen.say("Two.")
screen.photo(Path("lessons/recorded/11_torch_profiler/overview.png"), "A `picture`")
screen.picture("|#", "<svg/>", "A *drawing*")
screen.table(Table.of("`Sizes`", {"name": None, "n": None}, [("<a>", 2)]))
screen.picture("\\033[1mbold\\033[0m", "", "Printed")
screen.claim(ClaimStanding.HELD, "`a` is 1", "2 s", "")
"""


def test_marks_stay_and_angle_brackets_begin_no_html() -> None:
    assert markdown("*a* <b> `<c>`") == "*a* &lt;b> `<c>`"
    assert type(for_this_process()) is Screen, "outside of a notebook"


@pytest.mark.long
def test_in_a_notebook_paragraphs_are_markdown() -> None:
    import nbformat  # slow to import
    from nbclient import NotebookClient

    cell = nbformat.v4.new_code_cell(CODE)  # type: ignore[no-untyped-call]
    whole = nbformat.v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    here = {"metadata": {"path": str(ROOT)}}
    NotebookClient(whole, startup_timeout=300, kernel_name="python3", resources=here).execute()
    shown = [output["data"] for output in whole.cells[0].outputs]
    assert [data["text/markdown"] for data in shown if "text/markdown" in data] == [
        "a `word` with *emphasis*",
        "**Predict** How *many*?",
        "- a  one\n- b  two",
        "**Measured** Your answer: `x`.",
        "> **Recorded** On a machine, this step showed:",
        "> Two.",
        "A `picture`",
        "A *drawing*",
        "Printed",
        "✓ `a` is 1 (2 s)",
    ]
    photo, drawing, table, printed = (data["text/html"] for data in shown if "text/html" in data)
    recorded = (ROOT / "lessons" / "recorded" / "11_torch_profiler" / "overview.png").read_bytes()
    assert photo == f'<img alt="A picture" src="data:image/png;base64,{base64.b64encode(recorded).decode()}">'
    assert drawing == '<img alt="A drawing" src="data:image/svg+xml;base64,PHN2Zy8+">'
    assert "<caption>Sizes</caption>" in table
    assert "&lt;a&gt;</td>" in table
    assert printed == "<pre>bold</pre>"
