"""Reports as rows of the database: what comes back, also from rows of earlier versions."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from classroom import KIT, TASKS, collected, grade, hand_in

from grader.class_run import journal
from grader.class_run.journal import Graded
from grader.records import Control

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def test_a_control_comes_back_and_an_older_one_has_no_limit(tmp_path: Path) -> None:
    hand_in(tmp_path / "hw1", "ada")
    found = collected(tmp_path / "hw1")
    control = Control(1.0, 1.05, 0.05, holds=True, voided=1, benefit=1.02, most_ratio=120.0, impossible=True)
    report = grade(found.submissions[0])
    verdict = replace(report.verdicts[0], attempt=replace(report.verdicts[0].attempt, control=control))
    with journal.claim(tmp_path / "out", tmp_path / "hw1", kit=KIT) as book:
        book.enrol(found, TASKS)
        book.add(Graded(replace(report, verdicts=(verdict,)), NOON, NOON))
        assert book.reports()[0].verdicts[0].attempt.control == control
        with sqlite3.connect(tmp_path / "out" / journal.FILE) as older:
            older.execute("UPDATE verdicts SET control = json_remove(control, '$.most_ratio', '$.impossible')")
        older.close()
        assert book.reports()[0].verdicts[0].attempt.control == replace(control, most_ratio=None, impossible=False)
