import inspect
from contextlib import contextmanager
from pathlib import Path

import pytest
import small_lesson

from lessons.engine.source import code_of, imports_of, prose_of


def test_the_code_shown_is_the_source_without_docstring_and_engine_decorators() -> None:
    assert small_lesson.twice.code == "def twice(number: float = 1.0) -> float:\n    return double(number)"
    assert small_lesson.twice.code.splitlines()[-1] in inspect.getsource(small_lesson.twice.function)
    assert small_lesson.twice.given_code == "def double(number: float) -> float:\n    return 2 * number"


def test_the_code_shown_does_what_the_step_does() -> None:
    namespace: dict[str, object] = {}
    exec(f"{small_lesson.twice.given_code}\n\n{small_lesson.twice.code}\n\nresult = twice()", namespace)  # noqa: S102
    assert namespace["result"] == small_lesson.twice()


def test_the_introduction_is_the_docstring_in_paragraphs() -> None:
    assert prose_of(small_lesson.twice.function) == "Double a number.\n\nThat is all there is to it."


def test_decorators_that_are_not_the_engines_are_part_of_the_code() -> None:
    @contextmanager
    def nothing():  # type: ignore[no-untyped-def]  # noqa: ANN202 - its text is what is tested
        yield

    assert code_of(nothing).startswith("@contextmanager\ndef nothing")


def test_what_has_no_body_has_no_code() -> None:
    function = lambda: None  # noqa: E731 - the only kind of function without a name
    with pytest.raises(TypeError, match="neither a function nor a class"):
        code_of(function)


def test_only_the_imports_that_teaching_code_uses_go_with_it() -> None:
    file = Path(small_lesson.__file__)
    assert imports_of(file, needed_by="math.sqrt(2)") == "import math"
    assert imports_of(file, needed_by="Choice, textwrap") == ("import textwrap\nfrom lessons.engine import Choice")
    assert imports_of(file, needed_by="1 + 1") == ""
