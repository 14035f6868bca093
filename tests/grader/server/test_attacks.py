"""Attacks on the logins and pages of the server: forged forms and tokens, other people's receipts, hostile texts."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import served_course
from attacking import ADA, GRACE, JOSE, MARKUP, REN, SOLUTION, hand_in, program, routes, secret_of, unchanged
from served_course import Served

from grader.server import accounts, app, clock
from grader.server.clock import ServerClock

FORGERIES = {
    "no secret": {},
    "a secret of another login": {"secret": "other"},
    "a secret that is not ASCII": {"secret": "\N{SNOWMAN}"},
    "another site by Sec-Fetch-Site": {"sec-fetch-site": "cross-site"},
    "a sister site by Sec-Fetch-Site": {"sec-fetch-site": "same-site"},
    "another site by Origin": {"origin": "https://evil.example"},
    "a sandboxed frame by Origin": {"origin": "null"},
}


def test_a_form_of_another_website_changes_nothing_on_any_route(served: Served) -> None:
    browser, other = served.browser(GRACE), secret_of(served.browser(JOSE))
    forms = [path for path in routes(served, "POST") if path != "/login" and not path.startswith("/api/")]
    assert {"/hand-ins", "/logout"} <= {*forms}
    with unchanged(served):
        for (name, forgery), path in product(FORGERIES.items(), forms):
            headers = {header: text for header, text in forgery.items() if header != "secret"}
            sent = forgery.get("secret", secret_of(browser) if headers else "").replace("other", other)
            answer = browser.post(path, data={"secret": sent}, headers=headers, follow_redirects=False)
            assert answer.status_code == 403, (name, path)
    assert browser.get("/class").status_code == 200


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "cross-site"}, {"origin": "null"}, {"origin": "http://e.x"}])
def test_another_website_cannot_log_a_browser_in_as_the_attacker(served: Served, headers: dict[str, str]) -> None:
    browser, token = served.browser(), served.link(REN)
    with unchanged(served):
        assert browser.post("/login", data={"token": token}, headers=headers).status_code == 403
    assert not browser.cookies


def test_routes_for_programs_ignore_the_cookie_of_a_browser(served: Served) -> None:
    browser = served.browser(REN)
    with unchanged(served):
        assert browser.post("/api/hand-ins", files={"file": ("04_autorange.py", SOLUTION)}).status_code == 401
    assert hand_in(browser).status_code == 303
    assert browser.get("/api/receipts/1").status_code == 401


def test_without_a_login_every_page_refuses_and_every_form_changes_nothing(served: Served) -> None:
    stranger = served.browser()
    free = {"/login", "/logout", "/api/login", "/api/logout"}
    with unchanged(served):
        for path in {*routes(served, "POST")} - free:
            assert stranger.post(path).status_code in {401, 422}, path
    for path in {*routes(served, "GET")} - {*free, "/"}:
        assert stranger.get(path).status_code == 401, path


def test_a_receipt_of_another_student_looks_like_one_that_does_not_exist(served: Served) -> None:
    assert hand_in(served.browser(REN)).headers["location"] == "/receipts/1"
    for other, path in ((served.browser(JOSE), "/receipts/"), (program(served, JOSE), "/api/receipts/")):
        theirs, missing = other.get(f"{path}1"), other.get(f"{path}2")
        assert theirs.status_code == missing.status_code == 404
        assert theirs.text == missing.text


def test_a_number_that_no_receipt_can_have_is_not_found(served: Served) -> None:
    browser, client = served.browser(REN), program(served, REN)
    hand_in(browser)
    for number in ("9" * 20, "9" * 5000, "-1", "1.5", "1e3", "0x1", "1%00", "%2e%2e", "1 OR 1=1"):
        assert browser.get(f"/receipts/{number}").status_code == 404, number
        assert client.get(f"/api/receipts/{number}").status_code == 404, number


def test_tokens_that_are_forged_expired_revoked_or_for_another_use_let_nobody_in(served: Served) -> None:
    link, browser = served.link(REN), served.browser(REN)
    cookie, bearer = browser.cookies["fairclock"], program(served, REN).headers["authorization"].removeprefix("Bearer ")
    digest = hashlib.sha256(cookie.encode()).hexdigest()

    def is_in(cookie: str = "", bearer: str = "") -> bool:
        client = served.browser()
        client.headers |= {"cookie": f"fairclock={cookie}"} if cookie else {"authorization": f"Bearer {bearer}"}
        return bool(client.get("/report").status_code == 200)

    assert is_in(cookie=cookie)
    assert is_in(bearer=bearer)
    for wrong in (link, bearer, digest, cookie[:-1], f"{cookie}x", "' OR 1=1 --", "%00", "\udcff", "x" * 20_000):
        assert not is_in(cookie=wrong.encode("latin-1", "replace").decode("latin-1")), wrong
    for wrong in (link, cookie, digest, ""):
        assert not is_in(bearer=wrong), wrong
    for wrong in (cookie, bearer, digest, "", "\N{SNOWMAN}", "\0"):
        assert served.browser().post("/login", data={"token": wrong}).status_code in {401, 422}
    served.service.clock = ServerClock(datetime.now(UTC) + timedelta(days=31))
    assert not is_in(cookie=cookie)
    assert is_in(bearer=bearer)
    with served.course.opened() as opened, opened.book.transaction() as db:
        accounts.revoke(db, REN, is_staff=False)
    assert not is_in(bearer=bearer)
    assert served.browser().post("/login", data={"token": link}).status_code == 401


def test_a_login_has_a_new_token_and_ends_the_earlier_one_of_the_browser(served: Served) -> None:
    browser = served.browser(REN)
    browser.cookies.set("fairclock", "chosen-by-an-attacker", domain="testserver.local", path="/")
    before = served.browser(REN)
    old = before.cookies["fairclock"]
    before.post("/login", data={"token": served.link(REN)})
    assert before.cookies["fairclock"] != old
    before.cookies.clear()
    assert before.get("/report", headers={"cookie": f"fairclock={old}"}).status_code == 401


def test_the_cookie_is_hidden_from_scripts_and_other_sites_and_bound_to_https(tmp_path: Path) -> None:
    served = served_course.serve(tmp_path)
    served.service.url = "https://course.example"
    secure = replace(served, app=app.build(served.service), made=[])
    with secure.browser() as browser:
        answer = browser.post("/login", data={"token": secure.link(REN)}, follow_redirects=False)
        flags = answer.headers["set-cookie"].split("; ")
        assert flags[0].startswith("__Host-fairclock=")
        assert {"HttpOnly", "SameSite=lax", "Secure", "Path=/"} <= {*flags}
        assert not any(one.startswith("Domain") for one in flags)
        assert "max-age" in answer.headers["strict-transport-security"]
        ended = browser.post("/logout", data={"secret": secret_of(browser)}, follow_redirects=False)
        assert "Secure" in ended.headers["set-cookie"]
        assert "__Host-fairclock" not in browser.cookies


def test_no_answer_names_the_host_that_the_client_named(served: Served) -> None:
    for browser in (served.browser(), served.browser(REN)):
        for path in [*routes(served, "GET"), "/report/", "/receipts/", "//evil.example", "/login?next=//evil.example"]:
            headers = {"host": "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https"}
            answer = browser.get(path, headers=headers, follow_redirects=False)
            assert "evil.example" not in answer.headers.get("location", ""), path
            assert "evil.example" not in answer.text, path


def test_every_answer_forbids_frames_guessed_types_and_foreign_scripts(served: Served) -> None:
    hand_in(served.browser(ADA), MARKUP)
    for browser in (served.browser(), served.browser(ADA), program(served, ADA)):
        for path in [*routes(served, "GET"), "/nowhere", "/receipts/x", "/hand-ins"]:
            answer = browser.get(path, follow_redirects=False)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], path
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            if answer.headers.get("content-type", "").startswith("text/html"):
                head = answer.text.partition('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'')
                assert head[1], path
                assert "<script" not in head[0]
                assert "<b>L</b>" not in answer.text
                assert "<img src=x" not in answer.text
            else:
                assert "default-src 'none'" in answer.headers["content-security-policy"], path


def test_a_clock_that_is_set_back_never_makes_a_hand_in_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    last = datetime.now(UTC) + timedelta(hours=5)
    assert ServerClock.after(last).now() >= last
    running = ServerClock()
    before = running.now()

    class SetBack(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime(2001, 1, 1, tzinfo=tz)

    monkeypatch.setattr(clock, "datetime", SetBack)
    assert running.now() >= before
    assert ServerClock.after(before).now() >= before
