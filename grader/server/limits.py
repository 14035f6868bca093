"""Limits on what a client may send: the size of a request, the time that it may take, and the number of one login."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.errors import FairclockError
from grader.server.accounts import Role
from grader.server.requests import Service, instructor, logged_in, student, token_of
from harness.rendering import units

MAX_BYTES: Final = 64_000_000
"""The maximum size of an upload. A zip of all exercises has 0.1 MB, and one with notebooks full of plots 20 MB."""

MAX_S: Final = 120.0
"""The maximum number of seconds in which an upload must arrive."""

SMALL_BYTES: Final = 100_000
"""The maximum size of all other requests, and of each text in a form."""

SMALL_S: Final = 20.0
"""The maximum number of seconds in which all other requests must arrive."""

UPLOADS: Final = frozenset({"/hand-ins", "/api/hand-ins"})
EXPORTS: Final = "/exports"
MAX_EXPORT_BYTES: Final = 5_000_000
"""The maximum size of a file of another platform that an instructor has filled in. For 300 students, it has 0.1 MB."""

STREAMS: Final = frozenset({"/events"})
"""The paths whose answers last until the client leaves. They are counted apart from other requests."""

AT_ONCE: Final = 8
"""The maximum number of requests of one login that are answered at the same time. Browsers send up to 6."""

MOST_FILES: Final = 50
"""The maximum number of files in one upload, and of files of one student that wait to be read."""

MOST_IN_A_DAY: Final = 500
MOST_BYTES_IN_A_DAY: Final = 500_000_000
"""The maximum number of files, and of their bytes, that one student can hand in within 24 hours."""

MultiPartParser.spool_max_size = SMALL_BYTES  # a larger file goes to an unnamed temporary file, not to memory


class RequestLimits:
    """Middleware that ends requests that are too large, arrive too slowly, or are too many of one person."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._turns: WeakValueDictionary[tuple[str, bool], asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on to the application, with a limited body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            await _end(400, "A request has a Content-Length or a Transfer-Encoding.", scope, receive, send)
            return
        scope.setdefault("state", {})["arrived"] = self._service.clock.now()
        now_s = asyncio.get_running_loop().time()
        body = _Body(receive, SMALL_BYTES, now_s + SMALL_S)
        if scope["path"] in UPLOADS and scope["method"] == "POST":
            body.most, body.refusal = MAX_BYTES, await run_in_threadpool(self._refusal, Request(scope))
            if body.refusal is None:
                body.ends_s = now_s + MAX_S
                scope["state"]["may_be_slow"] = True
        if scope["path"] == EXPORTS and await run_in_threadpool(self._is_instructor, Request(scope)):
            body.most = MAX_EXPORT_BYTES
        token, is_stream = token_of(Request(scope))[0], scope["path"] in STREAMS
        if not token:
            await self._app(scope, body.receive, send)
            return
        turns = self._turns.setdefault((token, is_stream), asyncio.Semaphore(AT_ONCE))
        try:
            async with asyncio.timeout_at(now_s if is_stream and turns.locked() else body.ends_s):
                await turns.acquire()
        except TimeoutError:
            sentence = "You make too many requests at the same time. Wait for their answers, and try again."
            await _end(429, sentence, scope, receive, send)
            return
        try:
            await self._app(scope, body.receive, send)
        finally:
            turns.release()

    def _is_instructor(self, request: Request) -> bool:
        with suppress(HTTPException, FairclockError), self._service.course.opened() as opened:
            return instructor(logged_in(request, opened)).account.role is Role.INSTRUCTOR
        return False

    def _refusal(self, request: Request) -> HTTPException | None:
        """Return why this client may not upload a file, before its file is received, or None."""
        try:
            with self._service.course.opened() as opened:
                name = student(logged_in(request, opened)).account.name
                since = (self._service.clock.now() - timedelta(days=1)).isoformat()
                query = (
                    "SELECT count(*), total(size), total(NOT is_read) FROM receipts WHERE student = ? AND at_utc > ?"
                )
                files, size, unread = opened.db.execute(query, [name, since]).fetchone()
        except HTTPException as refusal:
            return refusal
        except FairclockError:
            return None  # the route finds the same problem, and explains it
        if unread >= MOST_FILES:
            sentence = f"{units.some(int(unread), 'file')} of yours wait to be read. Try again in a minute."
        elif files >= MOST_IN_A_DAY or size >= MOST_BYTES_IN_A_DAY:
            sentence = (
                f"You handed in {units.some(files, 'file')} within 24 hours. The limit is {MOST_IN_A_DAY} files, and "
                f"{MOST_BYTES_IN_A_DAY // 1_000_000} MB. Ask your teacher."
            )
        else:
            return None
        return HTTPException(429, f"This file was not handed in. {sentence} Keep your file.", {"Retry-After": "60"})


@dataclass(slots=True)
class _Body:
    """The body of a request, of at most `most` bytes, which must arrive before `ends_s`.

    With a `refusal`, the body is received and dropped, because browsers show no answer before their file is sent.
    """

    source: Receive
    most: int
    ends_s: float
    refusal: HTTPException | None = None
    seen: int = 0
    is_whole: bool = False

    async def receive(self) -> Message:
        """Return the next part of the body. Raise `HTTPException` if a limit is passed."""
        if self.refusal and not self.is_whole:
            await self._drop(self.refusal)
        message = await self._next()
        if self.seen > self.most:
            await self._drop(HTTPException(413, TOO_LARGE if self.most == MAX_BYTES else "The request is too large."))
        return message

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout_at(None if self.is_whole else self.ends_s):
                message = await self.source()
        except TimeoutError:
            sentence = (
                "Your request arrived too slowly, so the server did not accept it. Keep your file, and try again."
            )
            raise HTTPException(408, sentence, _CLOSE) from None
        if message["type"] == "http.request":
            self.seen += len(message.get("body", b""))
        self.is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def _drop(self, refusal: HTTPException) -> None:
        """Drop the rest of the body, at most `most` bytes, and raise the refusal."""
        ends = self.seen + self.most
        while not self.is_whole and self.seen <= ends:
            await self._next()
        raise HTTPException(refusal.status_code, refusal.detail, {**(refusal.headers or {}), **_CLOSE})


async def _end(status: int, sentence: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer without a look at the request, and close the connection."""
    await PlainTextResponse(sentence, status, _CLOSE)(scope, receive, send)


_CLOSE: Final = {"Connection": "close"}
TOO_LARGE: Final = (
    f"The file is larger than {MAX_BYTES // 1_000_000} MB. Hand in only the exercises; `fairclock submit` packs them."
)
