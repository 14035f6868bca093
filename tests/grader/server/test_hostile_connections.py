"""Attacks on the connections of a real server: slow, idle, endless, smuggled and too many requests."""

import contextlib
import json
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from attacking import SOLUTION
from real_server import RealServer, served

pytestmark = [pytest.mark.long, pytest.mark.sandbox]

COURSE = 'title = "Attacked"\ntimezone = "UTC"\n[lessons.04_autorange]\ndue = 2126-01-01\n'
STUDENTS = ("Ada", "Bob", "Eve", "Mallory")
MOST_S = 60.0
"""The seconds after which a test gives up waiting."""

HOST = b"Host: x\r\n"
TEXTS = b"Content-Type: application/x-www-form-urlencoded\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Return a real server, which all tests of this module attack."""
    with served(tmp_path_factory.mktemp("attacked") / "course", COURSE, STUDENTS) as one:
        yield one


def answer(server: RealServer, *parts: bytes) -> bytes:
    """Send these bytes over one connection, and return all bytes until the server closes it."""
    received = []
    with socket.create_connection(("127.0.0.1", server.port), MOST_S) as one:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                one.sendall(part)
        with contextlib.suppress(ConnectionError):
            while data := one.recv(1 << 16):
                received.append(data)
    return b"".join(received)


def statuses(data: bytes) -> list[int]:
    """Return the status of each answer in these bytes."""
    return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:]]


def until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        time.sleep(0.05)


SMUGGLED = {
    "two lengths": b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "a length and chunks": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n"
    + HOST
    + b"\r\n",
    "an unknown encoding": b"Transfer-Encoding: xchunked\r\n\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "a folded header": b"A: b\r\n Content-Length: 4\r\n\tx\0: y\r\n\r\n",
    "a huge header": b"A: " + b"a" * 300_000 + b"\r\n\r\n",
    "many headers": b"A: b\r\n" * 50_000 + b"\r\n",
}


@pytest.mark.parametrize("kind", SMUGGLED)
def test_an_ambiguous_or_huge_head_is_refused_and_ends_the_connection(server: RealServer, kind: str) -> None:
    assert statuses(answer(server, b"POST /login HTTP/1.1\r\n" + HOST + SMUGGLED[kind])) in ([400], [])


@pytest.mark.parametrize("target", [
    "*", "http://evil.example/", "/..%2f..%2fetc/passwd", "/%ff%00", "/./../", "//evil.example/",
    "/" + "a" * 9_000, "/?" + "a=1&" * 9_000,
])  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "CONNECT", "ODD"])
def test_an_odd_method_or_path_gets_no_page_and_echoes_no_cookie(server: RealServer, method: str, target: str) -> None:
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nCookie: fairclock=secret\r\nConnection: close\r\n\r\n"
    received = answer(server, head.encode())
    (status,) = statuses(received)
    assert status in {400, 404, 405} or (status == 303 and target.startswith("/?"))
    assert b"secret" not in received
    assert b"evil.example" not in received


def test_pipelined_requests_are_answered_in_order(server: RealServer) -> None:
    odd, last = (
        b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /login HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n",
    )
    assert statuses(answer(server, odd * 20 + last)) == [404] * 20 + [200]


@pytest.mark.parametrize("head", [
    b"", b"GET /login HTTP/1.1\r\nHost", b"POST /login HTTP/1.1\r\nContent-Length: 9\r\n" + HOST + TEXTS + b"\r\ntoken",
])  # fmt: skip
def test_a_client_that_never_finishes_its_request_is_dropped(server: RealServer, head: bytes) -> None:
    assert statuses(answer(server, head)) in ([], [408])


def test_a_client_that_reads_no_answer_is_dropped(server: RealServer) -> None:
    ask = b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n"
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", server.port))
        one.settimeout(1)
        with contextlib.suppress(OSError):
            one.sendall(ask * 2000)
        mine = one.getsockname()[1]
        until(lambda: mine not in peers(server))


def peers(server: RealServer) -> set[int]:
    """Return the ports of the clients of the server."""
    assert server.process
    found = psutil.Process(server.process.pid).net_connections("tcp")
    return {one.raddr.port for one in found if one.raddr and one.status == psutil.CONN_ESTABLISHED}


def test_an_upload_without_a_login_is_never_stored(server: RealServer) -> None:
    head = b"POST /hand-ins HTTP/1.1\r\n" + HOST + FORM
    chunk = b"186a0\r\n" + bytes(100_000) + b"\r\n"
    before = temporary_bytes(server)
    endless = answer(server, head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 3000)
    whole = answer(server, head + b"Content-Length: 10000000\r\n\r\n", bytes(10_000_000))
    assert statuses(endless) in ([401], [])
    assert statuses(whole) == [401]
    assert temporary_bytes(server) == before


def temporary_bytes(server: RealServer) -> int:
    """Return the size of all files that the server has open and that have no name any more."""
    assert server.process
    folder, total = Path(f"/proc/{server.process.pid}/fd"), 0
    for one in folder.iterdir():
        with contextlib.suppress(OSError):
            total += one.stat().st_size if "(deleted)" in str(one.readlink()) else 0
    return total


def test_an_upload_that_its_client_ends_early_leaves_nothing(server: RealServer) -> None:
    token = server.program("Ada").headers["Authorization"].encode()
    before, files = temporary_bytes(server), sorted(server.folder.rglob("*.py"))
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n' + bytes(5_000_000)
    head = b"POST /api/hand-ins HTTP/1.1\r\nAuthorization: " + token + b"\r\nContent-Length: 60000000\r\n" + HOST + FORM
    with socket.create_connection(("127.0.0.1", server.port), MOST_S) as one:
        one.sendall(head + b"\r\n" + part)
        until(lambda: temporary_bytes(server) > before)
    until(lambda: temporary_bytes(server) == before)
    assert sorted(server.folder.rglob("*.py")) == files


def test_idle_connections_keep_no_student_out(server: RealServer) -> None:
    ada = server.program("Ada")
    with contextlib.ExitStack() as stack:
        for _ in range(2_500):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), MOST_S))
            with contextlib.suppress(OSError):
                one.sendall(b"GET /login HTTP/1.1\r\n")
        assert ada.get("/")[0] == 200
        assert ada.hand_in("04_autorange.py", SOLUTION)[0] == 201
        assert len(peers(server)) < 2_000


def test_fifty_equal_hand_ins_at_the_same_moment_are_one_attempt(server: RealServer) -> None:
    bob = server.program("Bob")
    with ThreadPoolExecutor(50) as threads:
        given = list(threads.map(lambda _: bob.hand_in("04_autorange.py", SOLUTION), range(50)))
    assert Counter(status for status, _ in given) == {201: 50}
    assert len({receipt["number"] for _, receipt in given}) == 50
    assert count(server, "receipts WHERE student = 'Bob'") == 50
    until(lambda: count(server, "hand_ins WHERE student = 'Bob'") == 1)


def test_a_student_who_floods_the_server_delays_nobody_else(server: RealServer) -> None:
    mallory, eve, given = server.program("Mallory"), server.program("Eve"), Counter[int]()
    ended = threading.Event()

    def flood(of: int) -> None:
        for number in range(100):
            if not ended.is_set():
                given[mallory.hand_in("04_autorange.py", SOLUTION + b"\n# %d %d" % (of, number))[0]] += 1

    with ThreadPoolExecutor(6) as threads:
        running = [threads.submit(flood, of) for of in range(6)]
        until(lambda: given[429] > 0)
        status, receipt = eve.hand_in("04_autorange.py", SOLUTION + b"\n# eve")
        assert status == 201
        until(lambda: json.loads(eve.get(f"/api/receipts/{receipt['number']}")[1])["found"] is not None)
        assert count(server, "receipts WHERE student = 'Mallory' AND NOT is_read") > 0
        ended.set()
        for one in running:
            one.result()
    assert set(given) == {201, 429}


def count(server: RealServer, rows: str) -> int:
    """Return the number of these rows of the database."""
    with contextlib.closing(sqlite3.connect(server.folder / "grades" / "grades.sqlite")) as db:
        (number,) = db.execute(f"SELECT count(*) FROM {rows}").fetchone()  # noqa: S608
        return int(number)
