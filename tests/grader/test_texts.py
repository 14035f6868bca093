"""No text from outside acts on a reader: not in a report, not in an export, and not on a terminal."""

import json
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from classroom import hand_in, run
from commanding import said, tree
from exported import CANVAS, MOODLE
from hypothesis import given
from hypothesis import strategies as st

from harness.rendering.texts import shown

NASTY = (
    "\x1b[31mred\x1b]8;;http://evil\x1b\\link\x07",
    "\u202egnp.exe\u2066\u2069",
    "ad\u200ba\u2060\ufeff\xad\U000e0041",
    "line\u2028paragraph\u2029next\x85row\nagain",
    "\x7f\x9b2J\x08\x0c\r",
    "\ue000\U0010fffd\ufffe\ufdd0\U0001ffff",
    "=cmd|'/c calc'!A1\t,\"\n",
    "[bold]markup[/bold] [/wrong] :warning: {{ 7 * 7 }} ]]> <script>alert(1)</script> &amp;",
    "\u3164\u034f\u115f",
)
KEPT = (
    "two\nlines\tand a tab",
    "\u0645\u06cc\u200c\u062e",
    "👩🏽\u200d🔬 🏴\u200d☠\ufe0f ❤\ufe0f 1\ufe0f⃣",
    "\u0d15\u0d4d\u200d",
    "葛\U000e0100",
    "Zoë e\u0301",
)


def acting(text: str) -> set[str]:
    """Return the characters of a text that act on its reader, or that no reader sees."""
    text = text.replace("\r\n", "\n")
    unseen = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    nothing = {char for char in text if ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF}
    return (
        nothing
        | {char for char in text if unicodedata.category(char) in unseen} - {"\n", "\t"}
        | (set(text) & {*NASTY[-1]})
    )


@given(st.text(st.characters(exclude_characters="\u200c\u200d")) | st.sampled_from(NASTY))
def test_a_shown_text_has_no_character_that_acts_and_can_be_written(text: str) -> None:
    assert not acting(shown(text))
    assert shown(shown(text)).encode() == shown(text).encode()
    assert shown(text, lines=False).isprintable() or "\t" not in shown(text, lines=False)
    assert "\n" not in shown(text, lines=False)


def test_letters_and_emoji_keep_the_joiners_that_they_need_and_no_others() -> None:
    assert [shown(text) for text in KEPT] == [*KEPT]
    assert shown("a\u200db\u200cc \u200d👩 a\ufe0f") == r"a\u200db\u200cc \u200d👩 a\ufe0f"


def test_nothing_shown_has_a_character_that_acts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "hw \x1b[2J\u202e", tmp_path / "out"
    for text in NASTY:
        name = text.replace("/", "÷")
        hand_in(folder, name, f"wrong {text}")
        (folder / name / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
        hand_in(folder, name, f"cheat {text}", "02_timer")
    _, progress = run(folder, out)
    (tmp_path / "c.csv").write_text(CANVAS, encoding="utf-8")
    (tmp_path / "m.csv").write_text(MOODLE, encoding="utf-8")
    told = [progress]
    for words in (
        ("report", out, "--leaderboard", "--leaderboard-names", "students"),
        *(("export", out, f"--{form}") for form in ("junit", "nbgrader")),
        *(("export", out, f"--{form}", tmp_path / f"{form[0]}.csv", "--scale") for form in ("canvas", "moodle")),
        ("run", folder, "--out", tmp_path / "other", "--dry-run"),
        ("report", folder / "no\x1b[1m such\u202e"),
    ):
        ended = said(capsys, *words)
        assert "nternal error" not in ended.err
        told += [ended.out, ended.err]
    assert not acting("".join(told))
    written = tree(out)
    assert {path.rpartition(".")[2] for path in written} == {"html", "json", "csv", "xml", "sqlite", "seed"}
    for path, data in written.items():
        assert path.endswith(".sqlite") or not acting(path + data.decode("utf-8-sig")), path
    fields: list[tuple[str, object]] = []

    def kept(pairs: list[tuple[str, object]]) -> dict[str, object]:
        fields.extend(pairs)
        return dict(pairs)

    for path, data in written.items():
        if path.endswith(".json"):
            json.loads(data, object_pairs_hook=kept)
    texts = {(name, value) for name, value in fields if isinstance(value, str)}
    assert not acting("".join(value for name, value in texts if name != "student"))
    students = {unicodedata.normalize("NFC", text.replace("/", "÷")) for text in NASTY}
    assert {value for name, value in texts if name == "student"} == students, "programs get the exact name"
    assert len(ET.fromstring(written["junit.xml"])) == len(NASTY)  # noqa: S314 - written by the kit
