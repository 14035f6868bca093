"""`fairclock login`, `submit` and `logout` with a real server, and with servers that fail or attack."""

import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import real_server
from commanding import CommandResult
from student_kit import at_a_terminal, exercise_of, in_kit, solve, student_kit

from grader.desk import course_server
from harness.storage.user_files import state_folder

COURSE = 'title = "Measuring"\ntimezone = "UTC"\n[lessons.04_autorange]\ndue = 2126-01-01\n'
TOKEN = "letters-that-no-screen-shows"  # noqa: S105 - of no server


@pytest.mark.long
@pytest.mark.sandbox
def test_a_student_logs_in_hands_in_and_follows_her_zip_until_its_points_are_there(tmp_path: Path) -> None:
    kit = student_kit(tmp_path)
    solve(exercise_of(kit))
    with real_server.served(tmp_path / "course", COURSE, ["José García"]) as server:
        link = f"{server.url}/login#{server.links['José García']}"
        ended = in_kit(kit, "login", link)
        assert f"Logged in as José García at {server.url}: Measuring" in ended.out, ended.err
        assert stat.S_IMODE((state_folder() / "login.json").stat().st_mode) == 0o600
        terminal = at_a_terminal(kit, "submit")
        terminal.expect("receipt 1,.*equal.to.that.of.your.zip: ?\\s*[0-9a-f]{64}")
        terminal.expect("04_autorange: 10 of 10 points")
        terminal.expect("To see your points later: fairclock login")
        terminal.wait()
        assert terminal.exitstatus == 0
        piped = in_kit(kit, "submit")
        assert (piped.code, "receipt 2," in piped.out, "10 of 10" in piped.out) == (0, True, False), "it does not wait"
        assert "  10 of 10 points, due" in in_kit(kit, "login").out
        login = course_server.read_login()
        assert login
        assert "Logged out" in in_kit(kit, "logout").out
        with pytest.raises(course_server.CourseServerError, match="not logged in"):
            login.server.ask("/api/course")
    ended = in_kit(kit, "login")
    assert (ended.code, "You are not logged in" in ended.err) == (2, True)


@dataclass(slots=True)
class Scripted:
    """A server that gives the same answer (status, headers, text) to each request to a path. It notes all requests."""

    answers: dict[str, tuple[int, dict[str, str], str]]
    port: int = 0
    seen: list[tuple[str, str | None]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def scripted(answers: dict[str, tuple[int, dict[str, str], str]]) -> Iterator[Scripted]:
    script = Scripted(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.seen.append((self.path, self.headers.get("Authorization")))
            status, headers, text = script.answers[self.path]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(text.encode())), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST  # noqa: N815 - the name that the standard library calls

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def submitted(kit: Path, url: str) -> CommandResult:
    course_server.keep_login(course_server.CourseLogin(url, TOKEN, "José 王", "Measuring"))
    solve(exercise_of(kit))
    ended = in_kit(kit, "submit", "4")
    assert TOKEN not in ended.out + ended.err
    assert (kit / "submission.zip").is_file()
    return ended


FAILURES: dict[str, tuple[int, dict[str, str], str, str]] = {
    "an expired login": (401, {}, '{"detail": "no"}', "Your login has ended. Open your personal link again"),
    "a large zip": (413, {}, '{"detail": "The file is larger than 64 MB."}', "The file is larger than 64 MB."),
    "a full disk": (507, {}, '{"detail": "The server\'s disk is full."}', "The server's disk is full."),
    "a starting server": (503, {}, "<html>", "does not accept requests now (503 Service Unavailable)"),
    "another website": (200, {}, "<html>Welcome to the hotel</html>", "does not answer as the server of a course"),
    "JSON of another kind": (201, {}, '["number"]', "has another version of fairclock"),
    "no JSON in an error": (500, {}, "oh", "does not accept requests now (500 Internal Server Error)"),
    "a text with a colour": (403, {}, '{"detail": "no\\u001b[31m"}', "Not handed in. no"),
    "other bytes": (
        201,
        {},
        '{"number": 7, "at": "2026-11-29T07:00:00+00:00", "sha256": "0"}',
        "Receipt 7 is for other bytes than submission.zip has.",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_hand_in_that_fails_is_one_sentence_and_the_zip_stays(
    tmp_path: Path, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course_server, "TRY_AGAIN_S", (0.0, 0.0))
    status, headers, text, sentence = FAILURES[failure]
    with scripted({"/api/hand-ins": (status, headers, text)}) as server:
        ended = submitted(student_kit(tmp_path), server.url)
    assert ended.code == 2
    assert sentence in ended.err
    assert len(ended.err.splitlines()) == 1
    assert "\x1b" not in ended.err
    assert len(server.seen) == (3 if failure == "a starting server" else 1)
    if failure != "other bytes":
        assert "Nothing was lost: submission.zip has your work." in ended.err


def test_a_server_that_is_away_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_server, "TRY_AGAIN_S", (0.0, 0.0))
    ended = submitted(student_kit(tmp_path), f"http://127.0.0.1:{real_server.free_port()}")
    assert ended.code == 2
    assert "does not answer (Connection refused). Nothing was lost: submission.zip has your work." in ended.err


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_token_is_not_sent_to_another_server(tmp_path: Path, status: int) -> None:
    with scripted({"/api/hand-ins": (200, {}, "{}")}) as other:
        with scripted({"/api/hand-ins": (status, {"Location": f"{other.url}/api/hand-ins"}, "")}) as server:
            ended = submitted(student_kit(tmp_path), server.url)
        assert f"refers to {other.url}. Get a link that begins with {other.url}." in ended.err
        assert other.seen == []
        assert server.seen == [("/api/hand-ins", f"Bearer {TOKEN}")]


@pytest.mark.parametrize(
    "link", ["", "ftp://x/login#t", "http://x", "https:///login#t", "file:///login#t", "http://x/login#"]
)
def test_what_is_no_personal_link_makes_no_request(link: str, tmp_path: Path) -> None:
    ended = in_kit(tmp_path, "login", link)
    assert ended.code == 2
    assert ("You are not logged in" if not link else "This is not a personal link.") in ended.err


def test_a_link_that_is_not_valid_keeps_no_login(tmp_path: Path) -> None:
    with scripted({"/api/login": (401, {}, '{"detail": "This link is not valid."}')}) as server:
        ended = in_kit(tmp_path, "login", f" {server.url}/login#{TOKEN} ")
    assert (ended.code, ended.err) == (2, "This link is not valid.\n")
    assert not (state_folder() / "login.json").exists()


def test_a_file_that_is_not_python_is_handed_in_only_on_request(tmp_path: Path) -> None:
    kit = student_kit(tmp_path)
    receipt = '{"number": 1, "at": "2026-11-29T07:00:00+00:00", "sha256": "0"}'
    with scripted({"/api/hand-ins": (201, {}, receipt)}) as server:
        course_server.keep_login(course_server.CourseLogin(server.url, TOKEN, "Ada", "Measuring"))
        exercise_of(kit).write_text("def f(:\n")
        ended = in_kit(kit, "submit")
        assert (ended.code, "fairclock submit --send" in ended.err, server.seen) == (1, True, [])
        in_kit(kit, "submit", "--no-send", "--no-grade")
        assert server.seen == []
        in_kit(kit, "submit", "--send")
        assert len(server.seen) == 1
