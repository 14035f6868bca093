"""Make requests to the server of a course, and keep the login of the student. Only the standard library is needed."""

import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from grader.errors import FairclockError, UsageError
from harness.storage.user_files import state_folder, write_state

TRY_AGAIN_S: Final = (1.0, 2.0, 4.0, 8.0)
"""The waits between requests that are made again if the server does not answer."""

_TIMEOUT_S: Final = 130.0  # the server ends a request that arrives more slowly
_BUSY: Final = frozenset({429, 502, 503, 504})
_MOST_BYTES: Final = 10_000_000


class CourseServerError(FairclockError):
    """A server did not do what a request asks for. `status` is that of HTTP, or 0 without one.

    If `is_away`, there was no answer, and the same request may work later. Otherwise, the message is the server's own.
    """

    def __init__(self, sentence: str, status: int = 0, *, is_away: bool = False) -> None:
        super().__init__(sentence)
        self.status = status
        self.is_away = is_away


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because another server must not get the token."""

    def redirect_request(self, *_: object) -> None:
        """Return no request, so that the redirect is an error."""


@dataclass(frozen=True, slots=True)
class CourseServer:
    """The server of a course at `url`, and the token of a login there, or "" before the login."""

    url: str
    token: str = field(default="", repr=False)

    def ask(self, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        """Return the JSON that the server answers to a GET request, or with a `body` of type `kind` to a POST request.

        If the server does not answer, or is busy, make the request again after each wait of `TRY_AGAIN_S`. Raise
        `CourseServerError` if there is still no answer, or if the server refuses the request.
        """
        headers = {"Accept": "application/json"}
        headers |= {"Content-Type": kind} if body is not None else {}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        for wait_s in (*TRY_AGAIN_S, None):
            try:
                return self._answer(urllib.request.Request(self.url + path, body, headers))  # noqa: S310 - `at` checks
            except CourseServerError as error:
                if wait_s is None or not error.is_away:
                    raise
                time.sleep(wait_s)
        raise AssertionError

    def upload(self, path: str, name: str, data: bytes) -> Any:
        """Return the JSON that the server answers to a form with one file, as `ask` does."""
        plain = "".join(one if one.isprintable() and one not in '"\\' else "_" for one in name)
        mark = uuid.uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
        head += "Content-Type: application/octet-stream\r\n\r\n"
        body = head.encode(errors="replace") + data + f"\r\n--{mark}--\r\n".encode()
        return self.ask(path, body, f"multipart/form-data; boundary={mark}")

    def _answer(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_S) as response:
                return _json(response)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                why = f"The certificate of {self.url} is not valid ({reason.verify_message}), so nothing was sent."
                raise CourseServerError(f"{why} Ask your teacher.") from None
            why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
            raise CourseServerError(f"{self.url} does not answer ({why}).", is_away=True) from None
        except ValueError:
            raise CourseServerError(f"{self.url} does not answer as the server of a course. Check the link.") from None

    def _refused(self, error: urllib.error.HTTPError) -> CourseServerError:
        if error.code < HTTPStatus.BAD_REQUEST:
            to = urlsplit(error.headers.get("Location", ""))
            where = f"{to.scheme}://{to.netloc}" if to.netloc else "another page"
            return CourseServerError(f"{self.url} refers to {where}. Get a link that begins with {where}.", error.code)
        try:
            detail = _json(error)["detail"]
        except (OSError, HTTPException, ValueError, TypeError, KeyError):
            detail = f"{self.url} does not accept requests now ({error.code} {error.reason})."
        return CourseServerError(str(detail), error.code, is_away=error.code in _BUSY)


def _json(response: IO[bytes]) -> Any:
    data = response.read(_MOST_BYTES)
    return json.loads(data) if data else None


@dataclass(frozen=True, slots=True)
class CourseLogin:
    """The login of a student at the server of a course: the address, the token, and the names of both."""

    url: str
    token: str = field(repr=False)
    student: str
    title: str

    @property
    def server(self) -> CourseServer:
        """The server, which gets the token with each request."""
        return CourseServer(self.url, self.token)


def at(link: str) -> CourseServer:
    """Return the server of a personal link, with the token of the link. Raise `UsageError` for another link."""
    url, found, token = link.strip().strip("<>").partition("/login#")
    parts = urlsplit(url)
    if not (found and token and parts.hostname and parts.scheme in {"http", "https"}):
        raise UsageError(
            "This is not a personal link. It looks like https://ADDRESS/login#LETTERS. Copy all of it, and put it "
            "between quotes: fairclock login 'LINK'"
        )
    return CourseServer(url, token)


def _file() -> Path:
    return state_folder() / "login.json"


def read_login() -> CourseLogin | None:
    """Return the login that is kept on this machine, or None. Raise `UsageError` if its file cannot be read."""
    try:
        return CourseLogin(**json.loads(_file().read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"Your login in {_file()} cannot be read ({error}). Log in again: fairclock login LINK"
        ) from None


def keep_login(login: CourseLogin) -> None:
    """Store the login in a file that only the user can read."""
    write_state(_file(), json.dumps(asdict(login)), "login")


def remove_login() -> None:
    """Delete the login from this machine."""
    _file().unlink(missing_ok=True)
