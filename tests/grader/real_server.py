"""A real server of a course in a process of its own, and clients that talk to it over the network."""

import csv
import http.client
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class RealServer:
    """The server of the course in `folder`. `links` has the token of each person's link, by name."""

    folder: Path
    port: int
    links: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def invite(self) -> None:
        """Make a link for everybody."""
        file = self.folder.parent / f"{self.folder.name}-links.csv"
        fairclock("serve", "invite", str(self.folder), "--url", self.url, "--out", str(file), "--force")
        with file.open(encoding="utf-8", newline="") as rows:
            self.links |= {row["name"]: row["link"].partition("#")[2] for row in csv.DictReader(rows)}

    def start(self, *options: str) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-m", "grader", "serve", str(self.folder), "--port", str(self.port), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", self.port), 1)):
                return
            time.sleep(0.05)
        raise AssertionError(f"the server did not start (exit status {self.process.poll()})")

    def kill(self) -> None:
        """End the server as the kernel does when memory runs out."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """End the server as Ctrl-C does."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def program(self, name: str) -> "Client":
        """Return a client that is logged in as this person, as `fairclock submit` is."""
        client = Client(self.port)
        status, answer = client.request("POST", "/api/login", json.dumps({"token": self.links[name]}), {})
        assert status == http.client.OK, answer
        return Client(self.port, {"Authorization": f"Bearer {json.loads(answer)['token']}"})


@dataclass(frozen=True, slots=True)
class Client:
    """Makes requests with these headers, each over a connection of its own."""

    port: int
    headers: Mapping[str, str] = field(default_factory=dict)

    def request(self, method: str, path: str, body: bytes | str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        plain = {"Content-Type": "application/json"} if isinstance(body, str) and body else {}
        with closing(connection):
            connection.request(method, path, body, {**plain, **self.headers, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def cookie(self, path: str, form: bytes, headers: Mapping[str, str]) -> str:
        """Send a form, and return the cookie that the answer sets."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("POST", path, form, {**headers})
            return (connection.getresponse().getheader("set-cookie") or "").partition(";")[0]

    def get(self, path: str) -> tuple[int, bytes]:
        return self.request("GET", path, b"", {})

    def hand_in(self, name: str, data: bytes, lesson: str = "") -> tuple[int, Any]:
        """Hand in one file. Return the status and the receipt, or the text of the error."""
        edge = uuid.uuid4().hex
        form = [f'--{edge}\r\nContent-Disposition: form-data; name="lesson"\r\n\r\n{lesson}\r\n'.encode()]
        about = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        form += [about.encode(), data, f"\r\n--{edge}--\r\n".encode()]
        kind = {"Content-Type": f"multipart/form-data; boundary={edge}"}
        status, answer = self.request("POST", "/api/hand-ins", b"".join(form), kind)
        return status, json.loads(answer) if status == http.client.CREATED else answer.decode()


def fairclock(*arguments: str) -> str:
    """Run a command of the grader, which must succeed. Return what it printed."""
    command = [sys.executable, "-m", "grader", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@contextmanager
def served(folder: Path, course: str, students: Sequence[str], *options: str) -> Iterator[RealServer]:
    """Run the server of a course with these students during the `with` block. Everybody has a link."""
    folder.mkdir(exist_ok=True)
    (folder / "course.toml").write_text(course, encoding="utf-8")
    lines = ("id,name,email", *(f"{1000 + n},{name},s{n}@uni.example" for n, name in enumerate(students)))
    (folder / "students.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    server = RealServer(folder, free_port())
    server.invite()
    server.start(*options)
    try:
        yield server
    finally:
        server.stop()
        if server.process and server.process.poll() is None:
            os.kill(server.process.pid, 9)


def free_port() -> int:
    """Return a port of this machine that no program uses now."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
