"""The tables that the server adds to the database of grades, `grades/grades.sqlite`."""

from typing import Final

TABLES: Final = """
CREATE TABLE IF NOT EXISTS tokens (
    sha256 TEXT PRIMARY KEY, person TEXT NOT NULL, is_staff INTEGER NOT NULL, use TEXT NOT NULL,
    made_utc TEXT NOT NULL, expires_utc TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tokens_of ON tokens (person);
CREATE TABLE IF NOT EXISTS receipts (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, lesson TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, at_utc TEXT NOT NULL, is_read INTEGER NOT NULL DEFAULT 0,
    found TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS receipts_of ON receipts (student);
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, lesson TEXT NOT NULL, sentence TEXT NOT NULL, at_utc TEXT NOT NULL,
    answer TEXT NOT NULL DEFAULT '', answered_by TEXT NOT NULL DEFAULT '', answered_utc TEXT
);
CREATE TABLE IF NOT EXISTS regrades (
    lesson TEXT NOT NULL, content TEXT NOT NULL, asked_by TEXT NOT NULL, asked_utc TEXT NOT NULL,
    PRIMARY KEY (lesson, content)
);
CREATE TABLE IF NOT EXISTS edits (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, value TEXT, by TEXT NOT NULL, at_utc TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'holds', ended_by TEXT NOT NULL DEFAULT '', ended_utc TEXT
);
CREATE TABLE IF NOT EXISTS staff_actions (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, what TEXT NOT NULL, student TEXT NOT NULL, at_utc TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS in_lanes (lesson TEXT NOT NULL, content TEXT NOT NULL, started_utc TEXT NOT NULL);
"""
"""`tokens` holds the SHA-256 of each login link, browser session and program login (`use`).

`receipts` has one row for each file that arrived: `path` is its path below `hand-ins`, and `found` has what was read in
it. `requests` are the students' requests for another grading. `regrades` are
the gradings that staff asked for and that wait. `in_lanes` are the hand-ins that are graded now. `edits` are the
changes of the course file and the roster that staff made on pages: the path of keys in JSON, and the value in TOML, or
NULL if it was removed. Their state is "holds", "undone", or "written" into the file.
`staff_actions` has a sentence on each change by staff that no other table explains; `student` is "" for the class.
"""
