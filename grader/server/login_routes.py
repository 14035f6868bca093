"""Log in with a personal link, and log out.

A link is `URL/login#TOKEN`. Browsers do not send the part after `#`, so the token reaches no log and no `Referer`. The
page's script sends it in a form; without JavaScript, the person copies it into the form.
"""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grader.server import accounts
from grader.server.accounts import LASTS, Use
from grader.server.requests import Opened, OwnForm, OwnSite, Visitor, page, service_of, token_of

router = APIRouter()

INVALID = "This link is not valid. It may have expired, or a newer one replaced it. Ask your teacher for a new link."


@router.get("/login", response_class=HTMLResponse)
def login_page(request: Request) -> Response:
    """Show the form for the token of a personal link."""
    return page(request, "login.html")


@router.post("/login", response_class=RedirectResponse, status_code=303, dependencies=[OwnSite])
def log_in(request: Request, opened: Opened, token: Annotated[str, Form(max_length=300)]) -> Response:
    """Log a browser in with the token of a personal link."""
    new = exchanged(request, opened, token, Use.BROWSER)
    earlier, use = token_of(request)
    if use is Use.BROWSER:
        with opened.book.transaction() as db:
            accounts.withdraw(db, earlier)
    response = RedirectResponse("/", 303)
    _set_cookie(request, response, new, LASTS[Use.BROWSER])
    return response


@router.post("/logout", response_class=RedirectResponse, status_code=303, dependencies=[OwnForm])
def log_out(request: Request, opened: Opened, login: Visitor) -> Response:
    """Log the browser out. The personal link stays valid."""
    if login:
        with opened.book.transaction() as db:
            accounts.withdraw(db, login.token)
    response = RedirectResponse("/login", 303)
    _set_cookie(request, response, "", timedelta())
    return response


def _set_cookie(request: Request, response: Response, token: str, lasts: timedelta) -> None:
    """Store the token in the browser. Scripts cannot read it, and other websites cannot send it with a form."""
    service, seconds = service_of(request), int(lasts.total_seconds())
    response.set_cookie(
        service.cookie, token, max_age=seconds, httponly=True, samesite="lax", secure=service.is_secure, path="/"
    )


def exchanged(request: Request, opened: Opened, token: str, use: Use) -> str:
    """Return a new token of the person with the token of a link. Raise an error if the link is not valid."""
    now = service_of(request).clock.now()
    given = token.strip().rpartition("#")[2]
    found = accounts.owner(opened.db, given, Use.LINK, now)
    account = accounts.find(*found, opened.book.course(), opened.book.roster()) if found else None
    if account is None:
        raise HTTPException(401, INVALID)
    with opened.book.transaction() as db:
        return accounts.issue(db, account, use, now)
