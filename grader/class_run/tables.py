"""The SQL tables and queries of the database with a class's grades.

`hand_ins` has one row per attempt, `gradings` one per grading, and `verdicts` one per task of a grading. A grading
belongs to the content of a file, so all students who handed in the same content share the grading. The view `attempts`
joins the three tables for people: one row per task of each graded attempt.
"""

from typing import Final

SCHEMA: Final = "5"
"""The version of the database's tables. A database with another version is refused."""

TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE students (name TEXT PRIMARY KEY);
CREATE TABLE tasks (
    lesson TEXT NOT NULL, task TEXT NOT NULL UNIQUE, points REAL NOT NULL, counts INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    content TEXT NOT NULL, refused INTEGER NOT NULL, handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, content)
);
CREATE TABLE notes (note TEXT NOT NULL);
CREATE TABLE left_out (
    student TEXT NOT NULL, path TEXT NOT NULL, lesson TEXT NOT NULL, why TEXT NOT NULL, misnamed INTEGER NOT NULL
);
CREATE TABLE gradings (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    source TEXT, refusal TEXT NOT NULL,
    kit TEXT NOT NULL, sandboxed INTEGER NOT NULL, environment TEXT NOT NULL, notes TEXT NOT NULL,
    missing_layers TEXT NOT NULL,
    started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL, duration_s REAL NOT NULL, faulted INTEGER NOT NULL,
    regrade INTEGER NOT NULL, content TEXT NOT NULL
);
CREATE UNIQUE INDEX one_grade ON gradings (lesson, content, kit, regrade) WHERE NOT faulted;
CREATE INDEX by_content ON gradings (lesson, content);
CREATE TABLE verdicts (
    grading INTEGER NOT NULL REFERENCES gradings (id), position INTEGER NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL, max_points REAL NOT NULL, cost TEXT,
    ratio REAL, low REAL, high REAL, rounds_played INTEGER, tier INTEGER, undecided INTEGER,
    cases_passed INTEGER NOT NULL, cases INTEGER NOT NULL,
    rationale TEXT NOT NULL, help TEXT NOT NULL, output_tail TEXT NOT NULL, rounds TEXT NOT NULL,
    control TEXT NOT NULL,
    PRIMARY KEY (grading, position), UNIQUE (grading, task)
);
CREATE VIEW attempts AS SELECT
    h.student, h.lesson, task, h.sha256, status, points, max_points, cost, ratio, low, high, rounds_played, tier,
    undecided, rationale, help, rounds, control, environment, kit, sandboxed, missing_layers, started_utc,
    finished_utc, duration_s, h.path, g.id AS grading
    FROM hand_ins AS h JOIN gradings AS g ON g.lesson = h.lesson AND g.content = h.content
    JOIN verdicts ON verdicts.grading = g.id ORDER BY g.id, h.student, position;
"""

TASKS: Final = "SELECT lesson, task, points FROM tasks WHERE counts ORDER BY lesson, rowid"
ALL_TASKS: Final = "SELECT lesson, task, points FROM tasks ORDER BY lesson, rowid"
TIMES_GRADED: Final = "SELECT count(*) FROM gradings WHERE lesson = ? AND content = ?"
GRADING: Final = "SELECT * FROM gradings WHERE id = ?"

HAND_IN: Final = """
INSERT INTO hand_ins VALUES (?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (student, lesson, content) DO UPDATE SET
    path = excluded.path, there = 1,
    handed_in_utc = CASE WHEN ? OR handed_in_utc IS NULL THEN excluded.handed_in_utc
        ELSE min(handed_in_utc, coalesce(excluded.handed_in_utc, handed_in_utc)) END
"""
"""An SQL statement that stores an attempt.

If the same file was found several times, the earliest time counts, because a later copy is not a later attempt. The
last parameter is true if a folder's name gives the time. Then this time replaces all other times.
"""

ATTEMPTS: Final = """
SELECT hand_ins.*, grade.id AS grading, grade.regrade,
    CASE WHEN grade.faulted THEN NULL ELSE (SELECT sum(points) FROM verdicts WHERE grading = grade.id) END AS points,
    coalesce((SELECT min(help = ?) FROM verdicts WHERE grading = grade.id), 0) AS untouched
FROM hand_ins LEFT JOIN gradings AS grade ON grade.id = (
    SELECT id FROM gradings AS g WHERE g.lesson = hand_ins.lesson AND g.content = hand_ins.content
    ORDER BY faulted, regrade DESC, id DESC LIMIT 1
) WHERE hand_ins.student IN (SELECT name FROM students WHERE name = coalesce(?, name))
AND hand_ins.lesson IN (SELECT lesson FROM tasks WHERE counts)
ORDER BY hand_ins.student, hand_ins.lesson, handed_in_utc
"""
"""An SQL query for all attempts of the class, or of one student, each with the newest grade of its file.

Its parameters are the advice to a student who has written nothing, and the student or NULL.
A grade after an internal error is only used if no other grade exists.
"""

VERDICTS: Final = "SELECT * FROM verdicts WHERE grading = ? ORDER BY position"
VERDICTS_WITHOUT_ROUNDS: Final = """
SELECT task, status, points, max_points, cost, ratio, low, high, rounds_played, tier, undecided, cases_passed, cases,
rationale, help, output_tail, '[]' AS rounds, control FROM verdicts WHERE grading = ? ORDER BY position
"""
