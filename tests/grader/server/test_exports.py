"""An instructor exports points for other systems and the pages of students, as files to download."""

import csv
import html
import io
import tempfile
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest
import served_course
from served_course import Served
from starlette.testclient import TestClient
from test_staff import GRACE, TASK, send

from grader.server import limits

pytestmark = pytest.mark.long

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,04_autorange (9001),Essay (9002)\n"
    "    Points Possible,,,,,10.00,5.00\n"
    '"Ota, Ren",101,700123,ren@uni.example,,,3\n'
    '"García, José",102,700124,jose@uni.example,,,4\n'
    '"Stranger, A",103,9,stranger@uni.example,,,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)\n"
    "Participant 1,Ren Ota,ren@uni.example,Submitted,,10.00,-\n"
    "Participant 2,José García,jose@uni.example,Submitted,,10.00,-\n"
)


@pytest.fixture
def grace(served: Served) -> TestClient:
    served.hand_in("Ren Ota", "half")
    served.grade()
    grace = served.browser(GRACE)
    assert send(grace, "/students/José García/marks", seen="0", task=TASK, points="9")[0] == 200
    return grace


def export(grace: TestClient, form: str, file: str = "", **more: str) -> tuple[int, str]:
    """Make an export, with a file of another platform. Return the status and the text of the page."""
    data = {"secret": served_course.secret(grace), "form": form, **more}
    answer = grace.post("/exports", data=data, files={"file": (f"{form} export.csv", file.encode())})
    return answer.status_code, html.unescape(answer.text)


def test_each_format_is_made_and_downloaded(grace: TestClient) -> None:
    for form, file, name in (
        ("canvas", CANVAS, "canvas.csv"),
        ("moodle", MOODLE, "moodle.csv"),
        ("nbgrader", "", "nbgrader.csv"),
        ("gradebook", "", "gradebook.csv"),
    ):
        status, page = export(grace, form, file, lesson="04_autorange")
        assert (status, f"Download {name}" in page) == (200, True), page
        assert "Stranger" in page or form != "canvas"
        answer = grace.get(f"/exports/{name}")
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        found = [row for row in csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))) if "Ota" in str(row)]
        assert "5" in {cell.removesuffix(".0").removesuffix(".00") for cell in found[0]}, (name, found)
    assert export(grace, "junit")[0] == 200
    assert len(ET.fromstring(grace.get("/exports/junit.xml").content)) == 3  # noqa: S314 - our own file
    assert export(grace, "pages")[0] == 200
    with ZipFile(io.BytesIO(grace.get("/exports/pages.zip").content)) as pages:
        assert b"5 of 10" in pages.read("700123/report.html")


def test_a_wrong_file_is_explained_and_its_place_on_the_server_is_not(grace: TestClient) -> None:
    for file, why in (("", "Choose the file of the platform"), ("a,b\n1,2\n", "canvas export.csv"), ("\0", "canvas")):
        status, page = export(grace, "canvas", file)
        assert (status, why in page, tempfile.gettempdir() in page) == (422, True, False), page
    assert export(grace, "moodle", CANVAS)[0] == 422
    assert export(grace, "../grades")[0] == 422
    assert grace.get("/exports/grades.sqlite").status_code == 404
    assert grace.get("/exports/.seed").status_code == 404


def test_only_an_instructor_may_send_a_large_file(served: Served, grace: TestClient) -> None:
    large = "Student,ID\n" + "x" * limits.SMALL_BYTES
    assert export(grace, "canvas", large)[0] == 422
    assert export(grace, "canvas", "x" * limits.MAX_EXPORT_BYTES)[0] == 413
    for name in ("Ren Ota", "tim@uni.example"):
        browser = served.browser(name)
        answer = browser.post("/exports", files={"file": ("a.csv", large.encode())}, data={"form": "canvas"})
        assert answer.status_code == 413
