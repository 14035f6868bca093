"""The SQL tables and queries of the database with a class's grades.

`hand_ins` has one row per attempt, `gradings` one per grading, and `verdicts` one per task of a grading. A grading
belongs to the content of a file, so all students who handed in the same content share the grading. The view `attempts`
joins the three tables for people: one row per task of each graded attempt.
"""

from typing import Final

from grader.trials.faults import NOT_WRITTEN

SCHEMA: Final = "5"
"""The version of the database's tables. A database with an older version is upgraded. A newer version is refused."""

HAND_INS: Final = """
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    content TEXT NOT NULL, refused INTEGER NOT NULL, handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, content)
)"""
LEFT_OUT: Final = """
CREATE TABLE left_out (
    student TEXT NOT NULL, path TEXT NOT NULL, lesson TEXT NOT NULL, why TEXT NOT NULL, misnamed INTEGER NOT NULL
)"""
INDICES: Final = """
CREATE UNIQUE INDEX one_grade ON gradings (lesson, content, kit, regrade) WHERE NOT faulted;
CREATE INDEX by_content ON gradings (lesson, content)"""
ATTEMPTS_VIEW: Final = """
CREATE VIEW attempts AS SELECT
    h.student, h.lesson, task, h.sha256, status, points, max_points, cost, ratio, low, high, rounds_played, tier,
    undecided, rationale, help, rounds, control, environment, kit, sandboxed, missing_layers, started_utc,
    finished_utc, duration_s, h.path, g.id AS grading
    FROM hand_ins AS h JOIN gradings AS g ON g.lesson = h.lesson AND g.content = h.content
    JOIN verdicts ON verdicts.grading = g.id ORDER BY g.id, h.student, position"""

TABLES: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE students (name TEXT PRIMARY KEY);
CREATE TABLE tasks (
    lesson TEXT NOT NULL, task TEXT NOT NULL UNIQUE, points REAL NOT NULL, counts INTEGER NOT NULL DEFAULT 1
);
{HAND_INS};
CREATE TABLE notes (note TEXT NOT NULL);
{LEFT_OUT};
CREATE TABLE gradings (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    source TEXT, refusal TEXT NOT NULL,
    kit TEXT NOT NULL, sandboxed INTEGER NOT NULL, environment TEXT NOT NULL, notes TEXT NOT NULL,
    missing_layers TEXT NOT NULL,
    started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL, duration_s REAL NOT NULL, faulted INTEGER NOT NULL,
    regrade INTEGER NOT NULL DEFAULT 0, content TEXT NOT NULL DEFAULT ''
);
{INDICES};
CREATE TABLE verdicts (
    grading INTEGER NOT NULL REFERENCES gradings (id), position INTEGER NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL, max_points REAL NOT NULL, cost TEXT,
    ratio REAL, low REAL, high REAL, rounds_played INTEGER, tier INTEGER, undecided INTEGER,
    cases_passed INTEGER NOT NULL, cases INTEGER NOT NULL,
    rationale TEXT NOT NULL, help TEXT NOT NULL, output_tail TEXT NOT NULL, rounds TEXT NOT NULL,
    control TEXT NOT NULL,
    PRIMARY KEY (grading, position), UNIQUE (grading, task)
);
{ATTEMPTS_VIEW};
"""

INSERT_GRADING: Final = "INSERT INTO gradings VALUES (NULL" + ", ?" * 17 + ")"
INSERT_VERDICT: Final = "INSERT INTO verdicts VALUES (?" + ", ?" * 19 + ")"
INSERT_LEFT_OUT: Final = "INSERT INTO left_out VALUES (?, ?, ?, ?, ?)"

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

_ATTEMPTS: Final = """
SELECT hand_ins.*, grade.id AS grading, grade.regrade,
    CASE WHEN grade.faulted THEN NULL ELSE (SELECT sum(points) FROM verdicts WHERE grading = grade.id) END AS points,
    coalesce((SELECT min(help = '{untouched}') FROM verdicts WHERE grading = grade.id), 0) AS untouched
FROM hand_ins LEFT JOIN gradings AS grade ON grade.id = (
    SELECT id FROM gradings AS g WHERE g.lesson = hand_ins.lesson AND g.content = hand_ins.content
    ORDER BY faulted, regrade DESC, id DESC LIMIT 1
) WHERE hand_ins.student {whose} AND hand_ins.lesson IN (SELECT lesson FROM tasks WHERE counts)
ORDER BY hand_ins.student, hand_ins.lesson, handed_in_utc
"""
ATTEMPTS: Final = _ATTEMPTS.format(whose="IN (SELECT name FROM students)", untouched=NOT_WRITTEN)
"""An SQL query for all attempts of the class, each with the newest grade of its file. A grade after an internal error
is only used if no other grade exists.
"""
ATTEMPTS_OF: Final = _ATTEMPTS.format(whose="= ?", untouched=NOT_WRITTEN)
"""An SQL query for all attempts of one student, each with the newest grade of its file."""

VERDICTS: Final = "SELECT * FROM verdicts WHERE grading = ? ORDER BY position"
VERDICTS_WITHOUT_ROUNDS: Final = """
SELECT task, status, points, max_points, cost, ratio, low, high, rounds_played, tier, undecided, cases_passed, cases,
rationale, help, output_tail, '[]' AS rounds, control FROM verdicts WHERE grading = ? ORDER BY position
"""

REMEMBER_BOARD: Final = "INSERT OR IGNORE INTO meta VALUES ('leaderboard', ?)"

_KIND: Final = "CASE WHEN path LIKE '%.ipynb' THEN 'ipynb:' ELSE 'py:' END || sha256"

UPGRADE: Final = {
    "3": """
CREATE TABLE older AS SELECT * FROM hand_ins;
DROP TABLE hand_ins;
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    handed_in_utc TEXT, there INTEGER NOT NULL,
    PRIMARY KEY (student, lesson, sha256)
);
INSERT INTO hand_ins SELECT student, lesson, path, sha256, NULL, 1 FROM older;
DROP TABLE older;
DROP INDEX one_grade;
ALTER TABLE gradings ADD COLUMN regrade INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX one_grade ON gradings (student, lesson, sha256, kit, regrade) WHERE NOT faulted;
UPDATE meta SET value = '4' WHERE key = 'schema';
""",
    "4": f"""
DROP VIEW IF EXISTS attempts;
DROP INDEX one_grade;
DROP INDEX IF EXISTS by_hand_in;
ALTER TABLE tasks ADD COLUMN counts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE gradings ADD COLUMN content TEXT NOT NULL DEFAULT '';
UPDATE gradings SET content = CASE WHEN source IS NOT NULL THEN {_KIND}
    WHEN refusal = '' THEN 'unread:' || student || ':' || sha256 ELSE 'refused:' || student || ':' || sha256 END;
CREATE TABLE latest AS SELECT max(id) AS id FROM gradings WHERE NOT faulted GROUP BY student, lesson, content;
CREATE TABLE numbered AS SELECT id, row_number() OVER (
    PARTITION BY lesson, content ORDER BY id IN (SELECT id FROM latest),
    (SELECT sum(points) FROM verdicts WHERE grading = gradings.id), id) - 1 AS number FROM gradings WHERE NOT faulted;
UPDATE gradings SET regrade = (SELECT number FROM numbered WHERE numbered.id = gradings.id) WHERE NOT faulted;
DROP TABLE latest;
DROP TABLE numbered;
{INDICES};
CREATE TABLE older AS SELECT * FROM hand_ins;
DROP TABLE hand_ins;
{HAND_INS};
INSERT INTO hand_ins SELECT older.student, older.lesson, older.path, older.sha256,
    coalesce(g.content, CASE WHEN older.path LIKE '%.ipynb' THEN 'ipynb:' ELSE 'py:' END || older.sha256),
    coalesce(g.refusal != '', 0), handed_in_utc, there
    FROM older LEFT JOIN gradings AS g ON g.id = (SELECT id FROM gradings AS one WHERE one.student = older.student
        AND one.lesson = older.lesson AND one.sha256 = older.sha256 ORDER BY faulted, id DESC LIMIT 1);
DROP TABLE older;
{LEFT_OUT};
{ATTEMPTS_VIEW};
UPDATE meta SET value = '5' WHERE key = 'schema';
""",  # noqa: S608 - made of the constants above
}
"""SQL statements that upgrade a database from the version in the key to the next version.

Version 4 graded equal files once per student. After the upgrade, these students share the grade with the most points.
"""
