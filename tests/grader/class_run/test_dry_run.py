"""`run --dry-run` lists who handed in what, from where and when, and grades and writes nothing."""

import os
from datetime import UTC, datetime
from pathlib import Path

from classroom import zipped
from commanding import grader

EXERCISE = "def blocked_autorange(run, clock, min_run_time):\n    pass\n"
EARLIER_S = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC).timestamp()  # other dates are shown in fewer characters


def test_a_dry_run_lists_hand_ins_and_what_is_left_aside_and_writes_nothing(tmp_path: Path) -> None:
    course = tmp_path / "course.toml"
    course.write_text('timezone = "Europe/Berlin"\nstudents = ["zoe"]\n')
    for name, text in (
        ("hw1/55-9 - Ren Ota - 20 November, 2026 1803/04_autorange.py", EXERCISE),
        ("hw1/bob/hw\x1b.py", EXERCISE),
        ("hw1/li/report.pdf", "%PDF"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "hw1" / "ada.zip").write_bytes(zipped([("../04_autorange.py", b"")]))
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (EARLIER_S, EARLIER_S))
    before = sorted(tmp_path.rglob("*"))
    ended = grader("run", tmp_path / "hw1", "--dry-run", "--course", course)
    assert (ended.code, ended.err, sorted(tmp_path.rglob("*"))) == (0, "", before)
    first, counts, *rest = ended.out.splitlines()
    assert first.endswith("was read as one folder or zip for each student (3), Brightspace (1).")
    assert counts.startswith("4 students, 2 attempts at 1 lesson, 1 attempt refused, 2 students without an exercise, ")
    assert "1 missing" in counts
    rows = {line.split("  ")[1]: line for line in rest if line.startswith("  ")}
    assert "Fri 20 Nov 2026 18:03 CET     platform" in rows["Ren Ota"]
    assert "leads out of it" in rows["ada"]
    assert 'To grade it, add "hw\\u001b.py" = "04_autorange" under [files]' in rows["bob"]
    assert "report.pdf" in rows["li"]
    assert "\x1b" not in ended.out
