"""The layouts of learning platforms give each hand-in its student, its numbers and its time."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, hand_in
from classroom import zipped as zipped_files

from grader.hand_ins.collect import Collection, collect
from grader.records import Sender, TimeSource
from harness.errors import UsageError

DOT = "01_dot.py"
SUBMITTERS = """---\r
submission_1:\r
  :submitters:\r
  - :name: Ren Ota\r
    :sid: '700123'\r
    :email: ren@example.edu\r
  - :name: "Jos\\u0065\\u0301 \\"P\\""\r
    :sid: [a, b]\r
    :email: jose@example.edu\r
  :created_at: 2026-11-20 18:03:11.501 Z\r
  :results: |\r
submission_9: a student's text\r
submission_2:\r
    submitters:\r
    - name: null\r
      sid: ~\r
      email: li@example.edu\r
submission_3:\r
  :submitters: []\r
  :created_at: 2026-11-20 18:03:11.501 Z\r
"""
Files = list[str | tuple[str, str]]
GRADES = ("Grades.csv", 'Identifier,Last modified (submission)\r\n"Participant 70123","20 November 2026, 6:03 PM"\r\n')
NAMED = f"56-901 - N01 - Bo - Li - Nov 20, 2026 603 PM - {DOT}"
COMMENT = ("HW1_ren_attempt_2026-11-20-18-03-11.txt", "Name: Ren Ota (ren)\n")
LAYOUTS: dict[str, tuple[Files, list[tuple[str, ...]]]] = {
    "Canvas": (
        ["otaren_LATE_9_12345_01_dot-2.py", "van_der_li_10_12346_01_dot.py", "anon_x7k2p_99_01_dot.py"],
        [("otaren_9", "otaren", "9"), ("van_der_li_10", "van_der_li", "10"), ("anon_x7k2p", "", "anon_x7k2p")],
    ),
    "Moodle": (
        ["Ren Ota_70123_assignsubmission_file_/01_dot.py", f"Team 1-Kim Li_70124_assignsubmission_file_{DOT}", GRADES],
        [("Ren Ota", "Ren Ota", "70123"), ("Team 1-Kim Li", "Kim Li", "70124")],
    ),
    "Gradescope": (
        [
            f"submission_1/src/{DOT}",
            f"submission_2/{DOT}",
            f"submission_3/{DOT}",
            ("submission_metadata.yml", SUBMITTERS),
        ],
        [
            ("Ren Ota", "Ren Ota", "700123", "ren@example.edu"),
            ('José "P"', 'José "P"', "jose@example.edu"),
            ("li@example.edu", "", "li@example.edu"),
            ("submission_3", ""),
        ],
    ),
    "Brightspace": (
        [
            f"55-901 - Ren Ota - 20 November, 2026 1803/{DOT}",
            ("index.html", ""),
            f"57-901 - Ren Ota - hier/{DOT}",
            NAMED,
        ],
        [("Ren Ota (55)", "Ren Ota", "55"), ("Bo - Li", "Bo - Li", "56", "N01"), ("Ren Ota (57)", "Ren Ota", "57")],
    ),
    "Blackboard": (
        [f"HW1_{login}_attempt_2026-11-20-18-03-11_{DOT}" for login in ("ren", "r_li")] + [COMMENT],
        [("ren", "Ren Ota", "ren"), ("r_li", "", "r_li")],
    ),
    "GitHub Classroom": (
        [f"hw1-renota/{DOT}", "hw1-renota/.git/HEAD", f"hw1-ada-l/a/{DOT}", "hw1-ada-l/.git/HEAD"],
        [("renota", "", "renota"), ("ada-l", "", "ada-l")],
    ),
    "one folder or zip for each student": ([f"ren/kit/lessons/exercises/{DOT}"], [("ren", "ren")]),
}
TIMED = {"Moodle": 1, "Gradescope": 3, "Brightspace": 2, "Blackboard": 2}
AT = datetime(2026, 11, 20, 18, 3, tzinfo=UTC)


def write(folder: Path, files: Files) -> Path:
    for name, text in ((one, "right") if isinstance(one, str) else one for one in files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def zipped(folder: Path) -> Path:
    """Return a zip of a folder beside it, in which the folder itself is the only entry."""
    with zipfile.ZipFile(made := folder.with_suffix(".zip"), "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return made


def found_in(folder: Path) -> Collection:
    return collect(folder, LESSONS, kit=KIT)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_platforms_folder_and_a_zip_of_it_give_the_same_people_and_times(tmp_path: Path, layout: str) -> None:
    people = [Sender(one[0], one[1], one[2:]) for one in LAYOUTS[layout][1]]
    folder = write(tmp_path / "hw1-submissions", LAYOUTS[layout][0])
    for place in (folder, zipped(folder)):
        found = found_in(place)
        assert found.layout == layout
        assert set(people) == {one for of in found.senders.values() for one in of}
        assert {one.student for one in found.submissions} == {one.label for one in people}
        times = [one.handed_in for one in found.submissions if one.time_source is TimeSource.PLATFORM]
        assert [at and at.replace(second=0) for at in times] == [AT] * TIMED.get(layout, 0)
        late = {one.student for one in found.submissions if one.time_source is TimeSource.LATE_MARK}
        assert late == ({"otaren_9"} if layout == "Canvas" else set())
        assert [one.path for one in found.left_out if one.misnamed] == []
        assert ("cannot be read, such as 'hier'" in "".join(found.notes)) == (layout == "Brightspace")


@pytest.mark.parametrize(
    ("files", "classes"),
    [
        (["week1/ren/01_dot.py", "week2/ren/01_dot.py"], ["week1", "week2"]),
        (["hw1/ren/01_dot.py", "hw1/ada/01_dot.py"], ["hw1"]),
        (["week1/li_1_2_01_dot.py", "week1/ren_2_3_01_dot.py", "b/li_1_4_01_dot.py"], ["b", "week1"]),
        (["Section 1/ren/01_dot.py", "Section 2/ada/01_dot.py"], ["'Section 1'", "'Section 2'"]),
        (["assignment_7_export/submission_metadata.yml"], ["assignment_7_export"]),
        (["week1/01_dot.py"], []),
        (["ren/hw1/01_dot.py", "ada/hw1/01_dot.py"], []),
        (["ada/ada_1_2_01_dot.py", "ada/01_dot.py", "bob/01_dot.py"], []),
        (["mallory/submission_metadata.yml", "ada/01_dot.py", "bob/01_dot.py", "li/01_dot.py"], []),
    ],
)
def test_a_folder_of_classes_names_each_command(tmp_path: Path, files: Files, classes: list[str]) -> None:
    folder = write(tmp_path / "given", files)
    if not classes:
        assert set(found_in(folder).students) == {str(one).partition("/")[0] for one in files}
        return
    with pytest.raises(UsageError, match=r"contains (folders of classes|the folder of a class)") as error:
        found_in(folder)
    for name in classes:
        quoted = f"'{folder}/{name[1:]}" if "'" in name else folder / name
        assert f"python -m grader run {quoted} --out grades-" in str(error.value)
    assert str(error.value).count("python -m grader") == len(classes)


def as_macos_writes(made: bytes) -> bytes:
    """Return a zip without the flag that its names are UTF-8."""
    for record, flag in ((b"PK\x03\x04", 3), (b"PK\x01\x02", 5)):
        first, *others = made.split(record)
        made = record.join([first, *(one[:flag] + b"\0" + one[flag + 1 :] for one in others)])
    return made


def test_a_class_zip_of_macos_holds_zips_and_a_folder_of_its_own_name(tmp_path: Path) -> None:
    folders = [("class/王/01_dot.py", b"right"), ("class/.ada/01_dot.py", b""), ("__MACOSX/x", b"")]
    whole = [*folders, ("class/Jose\u0301.zip", zipped_files([(DOT, b"right")]))]
    for files, students in ((whole, ("José", "王")), (folders[:1], ("王",))):
        (tmp_path / "class (1).zip").write_bytes(as_macos_writes(zipped_files(files)))
        found = found_in(tmp_path / "class (1).zip")
        assert (found.students, {str(one.source) for one in found.submissions}) == (students, {"right"})
        assert [one for one in found.notes if ".ada" in one] == [one for one in found.notes if ": ignored" in one]
        assert ("".join(found.notes).count(".ada: ignored")) == len(files) // 4


@pytest.mark.parametrize(
    "text", ["[" * 5000, "\0", "submission_1: 3", "submission_1:\n  :submitters: 7\n  :created_at: [x]"]
)
def test_a_damaged_list_of_submitters_costs_nobody_the_hand_in(tmp_path: Path, text: str) -> None:
    found = found_in(write(tmp_path, [f"submission_1/{DOT}", ("submission_metadata.yml", text)]))
    assert [(one.student, one.source) for one in found.submissions] == [("submission_1", "right")]


def test_the_platforms_time_counts_and_the_instructor_reads_where_sources_disagree(tmp_path: Path) -> None:
    folder = write(tmp_path, [f"5{n}-9 - Ren {n} - 20 November, 2026 1803/{DOT}" for n in range(8)])
    hand_in(folder / "ada", "2026-11-20T12-00-00")
    platform, own = found_in(folder).notes
    assert "8 files, such as 50-9 - Ren 0" in platform
    assert "the platform's time counts (Fri 20 Nov 2026 18:03 UTC), not the file's own time" in platform
    assert "ada/2026-11-20T12-00-00/01_dot.py: the time in the folder's name counts" in own
