import json
import sys

import pytest
from sessions import Play

from lessons.engine import Choice, Claim, Lesson, Page
from lessons.engine.listing import claims_words
from lessons.engine.notebook import Guide
from lessons.engine.progress import ProgressFile

lesson = Lesson(__file__, objective="None.")


@lesson.step("A missing part", predict=Choice("Yes?", {"a": "yes"}), expected="a")
def count() -> int:
    return 1


THERE = count.claim("there", "one is one", equals=1)
NOT_THERE = count.claim("not-there", "a counter counts", equals=1)


@count.explain
def _(page: Page, result: int) -> None:
    page.reveal(None, "There is no counter here.")
    page.settle(THERE, result)
    page.skip(NOT_THERE, "no counter here: apt install counter")
    page.say(NOT_THERE.words(held="It counts.", refuted="It does not count.", unclear="Unclear."))


def test_a_skipped_claim_names_the_missing_part_and_counts_as_neither_held_nor_refuted(prepare: Play) -> None:
    played = prepare(lesson, width=100)
    played.session.play()
    printed = " ".join(played.out.getvalue().split())
    assert "✓ one is one" in printed
    assert "– a counter counts skipped: no counter here:" in printed
    assert "ount." not in printed.replace("a counter counts", "")
    claim = json.loads(json.dumps(played.session.record().to_json(), allow_nan=False))["claims"][1]
    assert (claim["verdict"], claim["reason"]) == ("skipped", "no counter here: apt install counter")
    assert claim["measured"] is claim["low"] is claim["high"] is None
    ProgressFile().save(played.session.record())
    progress = ProgressFile().load()["test_skipped"]
    assert progress.claims == {"there": "held", "not-there": "skipped"}
    assert (progress.held, progress.measured) == (1, 1)
    assert claims_words(progress) == "1/1, 1 skipped"


def test_a_notebook_shows_a_skipped_claim(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "lessons.test_skipped", sys.modules[__name__])
    Guide("lessons.test_skipped").explain("count", count())
    assert "–" in capsys.readouterr().out


def test_a_claim_that_is_not_declared_cannot_be_skipped(prepare: Play) -> None:
    page = prepare(lesson).session._page(lesson.steps[0])
    with pytest.raises(ValueError, match="not declared"):
        page.skip(Claim("other", "one is two"), "no counter here")
