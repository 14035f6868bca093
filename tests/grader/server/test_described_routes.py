"""Requests that schemathesis makes from the description of the web application: valid, wrong and hostile ones."""

import os
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
import schemathesis
from attacking import ADA, REN, hand_in, program, secret_of
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import one_of
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served_course import Served

EXAMPLES: Final = int(os.environ.get("FAIRCLOCK_REQUESTS", "4"))
"""The number of requests for each route, each kind of data, and each person."""

PEOPLE: Final = ("", REN, "tim@uni.example", "grace@uni.example", "a program")
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


KNOWN: Final = {"student": REN, "name": REN, "number": 1, "lesson": "04_autorange"}
"""Parameters of paths for which there is a page."""


@pytest.mark.long
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_fails_on_the_server_and_all_answers_are_as_described(
    served: Served, person: str, mode: GenerationMode
) -> None:
    for name in (REN, ADA):
        hand_in(served.browser(name))
    headers, secret = login(served, person)
    schema: Any = schemathesis.openapi.from_asgi("/openapi.json", served.app)
    random.seed(7)
    statuses: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path in {"/events", "/logout", "/api/logout"}:  # an answer without end, and the end of the login
            continue

        known = {one.name: KNOWN[one.name] for one in operation.path_parameters}

        @seed(7)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            derandomize=False,
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(case=one_of(operation.as_strategy(generation_mode=mode), operation.as_strategy(path_parameters=known)))
        def ask(case: Any) -> None:
            if isinstance(case.body, dict):
                case.body["secret"] = secret
            answer = case.call(headers=headers)
            statuses[answer.status_code] += 1
            case.validate_response(answer, checks=CHECKS)

        with suppress(Unsatisfiable):  # a route without parameters, for which no request is wrong
            ask()
    print(person or "a stranger", mode, dict(statuses))
    assert statuses.total() > EXAMPLES


def login(served: Served, person: str) -> tuple[Mapping[str, str], str]:
    """Return the headers of a person who is logged in, and the secret of the forms."""
    if not person:
        return {}, ""
    if person == "a program":
        return {"Authorization": program(served, REN).headers["authorization"]}, ""
    browser = served.browser(person)
    return {"Cookie": f"fairclock={browser.cookies['fairclock']}"}, secret_of(browser)
