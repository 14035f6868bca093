"""Staff change the course file on pages: what the changed file means, keeps and refuses."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from served_course import COURSE, Served

from grader.course.course_file import parse
from grader.course.dates import Extension
from grader.course.entries import spelled
from grader.errors import UsageError
from grader.server import edits, kept_edits, staff_edits
from grader.server.edits import Edit, spelled_value

FIRST, LAST = datetime.fromisoformat("1971-01-01"), datetime.fromisoformat("2060-01-01")
IN_JULY = datetime.fromisoformat("2127-07-01T12:00")
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
LESSON = "04_autorange"
NAMES = ["Ren Ota", "José García", "a.b", 'q"x', "<b>", "x'y", "J\x7f", "700123", "*.py"]
LESSONS = ["04_autorange", "05_compare"]

VALUES = st.one_of(
    st.text(max_size=9),
    st.booleans(),
    st.integers(-9, 9),
    st.dates(date(1970, 1, 1), date(2999, 1, 1)),
    st.datetimes(FIRST, LAST, timezones=st.sampled_from([None, UTC])),
    st.lists(st.text(max_size=5), max_size=3),
)
LEAVES = st.dictionaries(st.sampled_from(["due", "closes", "weight"]), VALUES, max_size=2)
TABLES = st.dictionaries(st.sampled_from(NAMES + LESSONS), st.one_of(VALUES, LEAVES), max_size=3)
TOPS = ("title", "lessons", "extensions", "sections", "files", "late")
COURSES = st.dictionaries(st.sampled_from(TOPS), st.one_of(VALUES, LEAVES, TABLES), max_size=4)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spelled(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    return str(spelled_value(value))


def _leaves(table: Mapping[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, *path, key)
        else:
            yield (*path, key), value


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a text in which each table has one of the forms of TOML, and many lines have a comment."""
    lines: list[str] = []

    def emit(table: Mapping[str, Any], *path: str) -> None:
        below: list[str] = []
        for key, value in table.items():
            form = draw(st.sampled_from(["header", "inline", "dotted"])) if isinstance(value, dict) else "inline"
            note = f" # note {len(lines)}" if draw(st.booleans()) else ""
            if form == "header":
                below.append(key)
            elif form == "dotted" and value:
                lines.extend(f"{spelled(*of)} = {_inline(one)}{note}" for of, one in _leaves({key: value}))
            else:
                lines.append(f"{spelled(key)} = {_inline(value)}{note}")
        for key in below:
            lines.extend(["# above", f"[{spelled(*path, key)}] # header {len(lines)}"])
            emit(table[key], *path, key)

    emit(draw(COURSES))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


PATHS = st.lists(st.sampled_from([*TOPS, *NAMES, *LESSONS, "due"]), min_size=1, max_size=4).map(tuple)
EDITS = st.builds(Edit, PATHS, st.one_of(st.none(), VALUES.map(spelled_value)), st.just("grace"), st.just(NOW))


def _expected(table: dict[str, Any], path: tuple[str, ...], value: str | None) -> dict[str, Any]:
    key, *rest = path
    if rest:
        table[key] = _expected(dict(table.get(key, {})), tuple(rest), value)
    elif value is None:
        table.pop(key, None)
    else:
        table[key] = tomllib.loads(f"x = {value}")["x"]
    return {name: one for name, one in table.items() if one != {}}


def _full(table: Mapping[str, Any]) -> dict[str, Any]:
    inner = {key: _full(one) if isinstance(one, dict) else one for key, one in table.items()}
    return {key: one for key, one in inner.items() if one != {}}


def _applied(text: str, change: Edit) -> str | None:
    """Return the changed text, or None if the change would put a value in place of a table, or a table of a value."""
    try:
        return edits.applied(text, [change])
    except UsageError as error:
        if "table in the course file" in str(error):
            return None
        raise


@settings(max_examples=100)
@given(texts(), st.lists(EDITS, max_size=4))
@example('title."Ren Ota".due = ""', [Edit(("lessons",), '""', "grace", NOW)])  # no newline at the end
def test_a_change_sets_its_own_key_in_any_form_of_toml_and_keeps_the_rest(text: str, changes: list[Edit]) -> None:
    for change in changes:
        before = tomllib.loads(text)
        if (after := _applied(text, change)) is None:
            continue
        assert _full(tomllib.loads(after)) == _full(_expected(_full(before), change.path, change.value))
        if change.value is not None:
            comments = re.findall("# (?:note|header) .*|# above", text)
            assert re.findall("# (?:note|header) .*|# above", after) == comments
        text = after


def _of(served: Served) -> tuple[str, dict[str, Any]]:
    with served.course.opened() as opened:
        text = opened.book.course().text
        return text, tomllib.loads(text)


def _change(served: Served, *path: str, value: edits.Value | None) -> int:
    with served.course.opened() as opened:
        return staff_edits.change(served.course, opened, path, value, "grace", NOW)


def test_a_change_holds_at_once_survives_another_file_and_can_be_undone(served: Served) -> None:
    first = _change(served, "extensions", "Ren Ota", LESSON, value="2 days")
    second = _change(served, "extensions", "Ren Ota", LESSON, value=datetime(2127, 7, 1, 10, tzinfo=UTC))
    assert _of(served)[1]["extensions"] == {"Ren Ota": {LESSON: IN_JULY}}, "in the course's zone"
    note = '# by hand\n[extensions."ren@uni.example"] # his address\n05_compare = 2127-01-02 # a note\n'
    served.course.course_file.write_text(COURSE + note, encoding="utf-8")
    served.course.prepare()
    text, values = _of(served)
    assert values["extensions"] == {"ren@uni.example": {LESSON: IN_JULY, "05_compare": date(2127, 1, 2)}}
    assert text.startswith(COURSE)
    assert all(line in text for line in note.splitlines())
    with served.course.opened() as opened:
        staff_edits.undo(served.course, opened, second, "linus", NOW)
        assert opened.book.course().extensions["Ren Ota"][LESSON] == Extension(timedelta(days=2))
        staff_edits.undo(served.course, opened, first, "linus", NOW)
        assert opened.book.course().text == served.course.course_file.read_text(encoding="utf-8")
        with pytest.raises(UsageError, match="no change 1 that can be undone"):
            staff_edits.undo(served.course, opened, first, "linus", NOW)
        assert [(one.number, one.state, one.by) for one in kept_edits.history(opened.db)] == [
            (1, "undone", "grace"),
            (2, "undone", "grace"),
        ]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("extensions", "Ren Ota", LESSON), "soon", 'extensions."Ren Ota".04_autorange is wrong; write a date'),
        (("extensions", "Nobody <b>", LESSON), "2 days", "There is no student 'Nobody <b>'"),
        (("extensions", "Ren Ota", LESSON), date(2026, 1, 1), "write a date after the due date"),
        (("lessons", LESSON, "closes"), date(2026, 1, 1), "write a date after the due date"),
        (("lessons", "04_autorang", "due"), date(2126, 1, 1), "write lessons.04_autorange"),
        (("title", "x"), "y", "title is not a table"),
        (("sections", "monday", "lessons", LESSON, "due"), date(2127, 1, 1), "no student is in the section 'monday'"),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_is_stored(
    served: Served, path: tuple[str, ...], value: edits.Value, says: str
) -> None:
    before = _of(served)
    with pytest.raises(UsageError, match="^The change was not stored. .*" + re.escape(says)):
        _change(served, *path, value=value)
    assert _of(served) == before
    with served.course.opened() as opened:
        assert kept_edits.history(opened.db) == ()


def test_a_conflict_with_a_changed_file_names_the_change_and_who_made_it(served: Served) -> None:
    _change(served, "title", value="Other")
    _change(served, "lessons", LESSON, "closes", value=date(2127, 1, 5))
    served.course.course_file.write_text(COURSE.replace("2126-12-20", "2127-06-01"), encoding="utf-8")
    says = r"change 2 \(`lessons.04_autorange.closes = 2127-01-05`, by grace on 2026-09-01 12:00 UTC\) do not fit"
    with pytest.raises(UsageError, match=says):
        served.course.prepare()
    served.course.course_file.write_text('title = "x', encoding="utf-8")
    with pytest.raises(UsageError, match="is not TOML"):
        served.course.prepare()


def test_changes_that_are_written_back_hold_in_the_file_alone(served: Served, tmp_path: Path) -> None:
    _change(served, "lessons", LESSON, "closes", value=date(2127, 1, 5))
    undone = _change(served, "title", value="Other")
    _change(served, "extensions", "José García", "all", value="1 week")
    with served.course.opened() as opened:
        staff_edits.undo(served.course, opened, undone, "grace", NOW)
        before = opened.book.course()
        assert staff_edits.write_back(served.course, opened, "grace", NOW) == ("course.toml",)
        assert served.course.course_file.read_text(encoding="utf-8") == before.text == opened.book.course().text
        assert [one.state for one in kept_edits.history(opened.db)] == ["written", "undone", "written"]
        assert staff_edits.write_back(served.course, opened, "grace", NOW) == ()
        with pytest.raises(UsageError, match="no change 1 that can be undone"):
            staff_edits.undo(served.course, opened, 1, "grace", NOW)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@given(st.datetimes(FIRST, LAST, timezones=st.just(UTC)))
def test_a_moment_is_stored_as_the_same_moment_also_when_the_clock_changes(at: datetime) -> None:
    for zone in ('timezone = "Europe/Berlin"\n', 'timezone = "America/New_York"\n', ""):
        course = parse(zone, "course.toml")
        value = spelled_value(kept_edits.in_zone(at, course))
        due = parse(f"{zone}[lessons.x]\ndue = {value}", "course.toml").lessons["x"].due
        assert due
        assert due.utc == at
