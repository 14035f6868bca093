"""Hand-ins that do harm before their code runs: archives, notebooks, files and names.

In the files of `tests/exploits/handed_in`, each function `attack_…` makes one hand-in, or one for each of several
names. It gets a path in a class folder and the text of a right exercise. The real command grades all of them in one
class with honest students. With `-m long`, the class also has exploits that reach for other submissions, and honest
files; `test_exploits` checks each of these files alone. The last line of each docstring gives the expected verdict.
"""

import csv
import json
import os
import shutil
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
from commanding import CLASS, Outcome, golden, grader, nothing_left_running, outcomes, tree, verdicts
from outline import Outline
from promises import EXPLOITS, Promised, hand_in, listening, promised, promised_attacks
from promises import HONEST as WELL_MEANT

from grader.course.roll import folder_name

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

HONEST = ("ada", "hana")
LESSON = "04_autorange"
LOUD = (
    "31_reads_secrets",
    "33_sends_secrets_out",
    "36_writes_results",
    "40_daemon",
    "48_burns_beside_the_baseline",
    "49_poisons_caches",
    "51_attacks_its_parent",
    "51_kills_everybody",
)
"""Exploits that try to reach other submissions, files, processes and listening programs."""
QUIET = (
    "many_samples",
    "not_begun",
    "own_output_buffer",
    "prints_a_lot",
    "right_and_fast",
    "right_and_slow",
    "temporary_files",
    "threads_openly",
    "warms_up_at_import",
    "wrong",
)
"""Honest files that are graded beside them, by the real rules."""
TRACES = [Path("/tmp") / f"fairclock-exploit-{row}" for row in (38, 52, 53)]  # noqa: S108 - where exploits write


@dataclass(frozen=True)
class Harmful:
    """A class of harmful hand-ins after it was graded."""

    folder: Path
    out: Path
    made: dict[str, Promised]
    found: dict[str, dict[str, Outcome]]


FILES = [promised(EXPLOITS / f"{name}.py") for name in LOUD] + [promised(WELL_MEANT / f"{name}.py") for name in QUIET]


@pytest.mark.parametrize("more", [[], pytest.param(FILES, marks=pytest.mark.long)], ids=["handed in", "and run"])
def test_a_class_of_hand_ins_made_to_do_harm(tmp_path: Path, more: list[Promised]) -> None:
    harmful = graded(tmp_path / "class", more)
    each_earns_what_it_must_and_says_which_rule_it_met(harmful)
    honest_neighbours_keep_their_grades(harmful)
    nothing_is_written_but_the_reports(harmful)
    each_student_has_a_folder_and_results_of_their_own(harmful)
    no_name_is_a_formula_or_a_row_of_its_own_in_the_gradebook(harmful)
    no_name_is_an_element_of_a_page_or_turns_its_text_around(harmful)


def graded(folder: Path, more: list[Promised]) -> Harmful:
    for student in HONEST:
        (folder / student).mkdir(parents=True)
        for file in (CLASS / student).glob(f"{LESSON}.*"):
            shutil.copy(file, folder / student)
    made: dict[str, Promised] = {}
    for promise, attack in promised_attacks().items():
        names = hand_in(folder, promise.name, attack)
        made |= {unicodedata.normalize("NFC", name): promise for name in names}  # as reports write the name
    for one in more:
        (folder / one.name).mkdir()
        shutil.copy(one.path, folder / one.name / f"{one.lesson}.py")
        made[one.name] = one
    out = folder.parent / "grades"
    before = _inventory(folder)
    lessons = [word for lesson in {LESSON, *(one.lesson for one in more)} for word in ("--lessons", lesson)]
    with nothing_left_running(), listening() as heard:
        ended = grader("run", folder, "--out", out, "--jobs", "2", *lessons)
    assert ended.code == 0, ended.err
    assert not heard
    assert _inventory(folder) == before
    return Harmful(folder, out, made, outcomes(out))


def each_earns_what_it_must_and_says_which_rule_it_met(harmful: Harmful) -> None:
    assert {promise.name for promise in harmful.made.values()} >= {promise.name for promise in promised_attacks()}
    broken = [
        promise.broken_by_outcome(harmful.found[student][promise.task.full_name])
        for student, promise in harmful.made.items()
    ]
    assert [one for one in broken if one] == []


def honest_neighbours_keep_their_grades(harmful: Harmful) -> None:
    expected = {name: {task: one for task, one in golden()[name].items() if task.startswith(LESSON)} for name in HONEST}
    assert verdicts({name: harmful.found[name] for name in HONEST}) == expected


def nothing_is_written_but_the_reports(harmful: Harmful) -> None:
    assert sorted(path.name for path in harmful.out.parent.iterdir()) == ["class", "grades"]
    written = tree(harmful.out)
    assert {name for name in written if "/" not in name} == {"report.html", "gradebook.csv", "grades.sqlite", ".seed"}
    assert {name.partition("/")[2] for name in written if "/" in name} == {"report.html", "results.json"}
    assert not [path for path in TRACES if path.exists()]
    assert not [name for name, data in written.items() if b"by 36_writes_results" in data and "sqlite" not in name]


def each_student_has_a_folder_and_results_of_their_own(harmful: Harmful) -> None:
    students = {*harmful.made, *HONEST}
    folders = {folder_name(student): student for student in students}
    assert len({unicodedata.normalize("NFKC", name).casefold() for name in folders}) == len(students)
    for folder, student in folders.items():
        results = json.loads((harmful.out / folder / "results.json").read_text(encoding="utf-8"))
        assert results["extra_data"]["student"] == student
        assert results["score"] == sum(one.points for one in harmful.found[student].values())
        assert all(name.isprintable() for name in (folder, *(test["name"] for test in results["tests"])))


def no_name_is_a_formula_or_a_row_of_its_own_in_the_gradebook(harmful: Harmful) -> None:
    with (harmful.out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    assert {len(row) for row in table} == {len(table[0])}
    assert len(table) == 2 + len(harmful.made) + len(HONEST)
    cells = [cell for row in table[2:] for cell in row]
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}]


def no_name_is_an_element_of_a_page_or_turns_its_text_around(harmful: Harmful) -> None:
    for student in ("", *harmful.made):
        raw = (harmful.out / (folder_name(student) if student else "") / "report.html").read_text(encoding="utf-8")
        page = Outline(raw)
        foreign = [tag for tag in page.tags if tag in {"script", "img", "iframe", "object"}]
        assert foreign == ([] if student else ["script"]), "the class page has its own script, which sorts tables"
        assert [name for name, _ in page.attributes if name.startswith("on")] == []
        controls = {char for char in raw if unicodedata.category(char) == "Cc"} - {"\n", "\t"}
        assert not controls, "a page must not contain control characters"
        assert not set(raw) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068"), "or reverse its text"
    text = Outline((harmful.out / "report.html").read_text(encoding="utf-8")).text
    assert "<script>alert(1)" in text, "the page shows the name unchanged, as text"
    assert "{{ 7 * 7 }}" in text


def _inventory(folder: Path) -> dict[str, tuple[int, int]]:
    """Return everything below a folder, with kind and size. Some of it cannot be read."""
    found = {}
    for place, folders, files in os.walk(os.fsencode(folder)):
        for name in folders + files:
            about = os.lstat(os.path.join(place, name))  # noqa: PTH118 - names here may be no text
            found[os.fsdecode(os.path.join(place, name))] = about.st_mode, about.st_size  # noqa: PTH118
    return found
