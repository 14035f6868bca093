"""Turn a journal of this kit into one that an older kit would have written."""

import sqlite3
from contextlib import closing
from pathlib import Path

from grader.class_run import journal

TO_SCHEMA_4 = """
DROP VIEW attempts;
CREATE TABLE pairs AS SELECT row_number() OVER (ORDER BY g.id, h.student) AS id, g.id AS shared, h.student, h.path
    FROM hand_ins AS h JOIN gradings AS g ON g.lesson = h.lesson AND g.content = h.content;
CREATE TABLE shared AS SELECT * FROM gradings;
CREATE TABLE shared_verdicts AS SELECT * FROM verdicts;
DROP TABLE verdicts;
DROP TABLE gradings;
CREATE TABLE gradings (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    source TEXT, refusal TEXT NOT NULL,
    kit TEXT NOT NULL, sandboxed INTEGER NOT NULL, environment TEXT NOT NULL, notes TEXT NOT NULL,
    missing_layers TEXT NOT NULL,
    started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL, duration_s REAL NOT NULL, faulted INTEGER NOT NULL,
    regrade INTEGER NOT NULL DEFAULT 0
);
INSERT INTO gradings SELECT pairs.id, pairs.student, lesson, pairs.path, sha256, source, refusal, kit, sandboxed,
    environment, notes, missing_layers, started_utc, finished_utc, duration_s, faulted, regrade
    FROM pairs JOIN shared ON shared.id = pairs.shared;
CREATE UNIQUE INDEX one_grade ON gradings (student, lesson, sha256, kit, regrade) WHERE NOT faulted;
CREATE INDEX by_hand_in ON gradings (student, lesson, sha256);
CREATE TABLE verdicts (
    grading INTEGER NOT NULL REFERENCES gradings (id), position INTEGER NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL, max_points REAL NOT NULL, cost TEXT,
    ratio REAL, low REAL, high REAL, rounds_played INTEGER, tier INTEGER, undecided INTEGER,
    cases_passed INTEGER NOT NULL, cases INTEGER NOT NULL,
    rationale TEXT NOT NULL, help TEXT NOT NULL, output_tail TEXT NOT NULL, rounds TEXT NOT NULL,
    control TEXT NOT NULL,
    PRIMARY KEY (grading, position), UNIQUE (grading, task)
);
INSERT INTO verdicts SELECT pairs.id, position, task, status, points, max_points, cost, ratio, low, high, rounds_played,
    tier, undecided, cases_passed, cases, rationale, help, output_tail, rounds, control
    FROM pairs JOIN shared_verdicts ON shared_verdicts.grading = pairs.shared;
DROP TABLE pairs;
DROP TABLE shared;
DROP TABLE shared_verdicts;
DROP TABLE left_out;
ALTER TABLE tasks DROP COLUMN counts;
CREATE TABLE newer AS SELECT * FROM hand_ins;
DROP TABLE hand_ins;
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, sha256)
);
INSERT INTO hand_ins SELECT student, lesson, path, sha256, handed_in_utc, there FROM newer;
DROP TABLE newer;
CREATE VIEW attempts AS SELECT
    student, lesson, task, sha256, status, points, max_points, cost, ratio, low, high, rounds_played, tier,
    undecided, rationale, help, rounds, control, environment, kit, sandboxed, missing_layers, started_utc,
    finished_utc, duration_s, path
    FROM verdicts JOIN gradings ON gradings.id = verdicts.grading ORDER BY gradings.id, position;
DELETE FROM meta WHERE key = 'leaderboard';
UPDATE meta SET value = '4' WHERE key = 'schema';
"""
"""In this schema, each student had a separate grade, also for content that other students had handed in."""

_FROM_4_TO_3 = """
UPDATE meta SET value = '3' WHERE key = 'schema';
CREATE TABLE newer AS SELECT * FROM hand_ins;
DROP TABLE hand_ins;
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    PRIMARY KEY (student, lesson)
);
INSERT INTO hand_ins SELECT student, lesson, path, sha256 FROM newer;
DROP TABLE newer;
DROP INDEX one_grade;
ALTER TABLE gradings DROP COLUMN regrade;
CREATE UNIQUE INDEX one_grade ON gradings (student, lesson, sha256, kit) WHERE NOT faulted;
"""
TO_SCHEMA_3 = TO_SCHEMA_4 + _FROM_4_TO_3
"""In this schema, each student had one attempt per lesson, without a time."""


def make_older(out: Path, script: str) -> None:
    """Turn the journal in `out` into one of an older kit."""
    with closing(sqlite3.connect(out / journal.FILE)) as db:
        db.executescript(script)
