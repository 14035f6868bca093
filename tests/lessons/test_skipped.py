import json
import sys

import pytest
from sessions import Play

from lessons.__main__ import progress_words
from lessons.engine import Choice, Lesson, Page
from lessons.engine.notebook import Guide
from lessons.engine.progress import Progress

lesson = Lesson(__file__, title="Half a machine", objective="None.", minutes=1)


@lesson.step(
    "A missing part",
    predict=Choice("Yes?", {"a": "yes"}),
    claims={"there": "one is one", "not-there": "a counter counts"},
)
def count() -> int:
    return 1


@count.observe
def explain(page: Page, result: int) -> None:
    page.reveal(None, "There is no counter here.")
    page.claim("there", result, 1, 1)
    page.skip("not-there", "no counter here: apt install counter")


def test_a_skipped_claim_is_shown_with_its_own_mark_and_what_brings_the_part(prepare: Play) -> None:
    played = prepare(lesson, width=100)
    played.session.play()
    printed = " ".join(played.out.getvalue().split())
    assert "✓ one is one" in printed
    assert "– a counter counts skipped: no counter here:" in printed


def test_the_json_record_says_skipped_and_gives_no_value(prepare: Play) -> None:
    played = prepare(lesson)
    played.session.play()
    sentences = dict(lesson.steps[0].claims)
    claim = json.loads(json.dumps(played.session.record().to_json(sentences), allow_nan=False))["claims"][1]
    assert (claim["verdict"], claim["reason"]) == ("skipped", "no counter here: apt install counter")
    assert claim["measured"] is claim["low"] is claim["high"] is None


def test_progress_counts_a_skipped_claim_as_neither_held_nor_refuted(prepare: Play) -> None:
    played = prepare(lesson)
    played.session.play()
    Progress().keep(played.session.record())
    standings = Progress().load()["test_skipped"]
    assert standings.claims == {"there": "held", "not-there": "skipped"}
    assert (standings.held, standings.asked) == (1, 1)
    assert progress_words(standings).endswith("1/1 held, 1 skipped")


def test_a_notebook_shows_a_skipped_claim(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "lessons.test_skipped", sys.modules[__name__])
    Guide("lessons.test_skipped").observe("count", count())
    assert "–" in capsys.readouterr().out


def test_a_claim_never_declared_cannot_be_skipped(prepare: Play) -> None:
    page = prepare(lesson).session._page(lesson.steps[0])
    with pytest.raises(ValueError, match="not declared"):
        page.skip("other", "no counter here")
