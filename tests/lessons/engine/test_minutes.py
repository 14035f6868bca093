"""The minutes of lessons and exercises are computed from their sizes."""

import ast
import json
import textwrap

import pytest

from grader import catalogue as tasks
from grader import paths
from grader.authoring import exercise_sizes
from grader.authoring.stubs import stub_of
from lessons.engine.catalogue import SIZES
from lessons.engine.minutes import ExerciseSize, Size, rounded, step_sizes

LESSON = '''
"""Lesson 99: these words are not shown."""

lesson = Lesson(__file__, title="Three more words", objective="You know.", prerequisites=("01_not_shown",))


@lesson.given
def helper(x):
    """Not shown."""

    return "not prose"


@lesson.step("Two words", predict=Choice("How many?", {"a": "one", "b": "two"}), expected="a", fast={"n": 3})
def first(n=9):
    """Read this docstring."""
    return n


CLAIM = first.claim("its-id", "four words in it", unit=units.ratio)


@first.explain
def _(page, n):
    page.settle(CLAIM, n)
    page.say(f"It took {units.seconds(n)}.", CLAIM.words(held="one", refuted="one two three", unclear="one two"))
    if n > 3:
        page.say("five words are read here")
    else:
        page.say("two words")


lesson.key_points = ("a point", "b", "c")
'''


def sizes(source: str) -> tuple[Size, ...]:
    return step_sizes(ast.parse(source), source)


def test_the_size_counts_shown_texts_code_and_questions() -> None:
    step, closing = sizes(LESSON)
    header, title, question, docstring, claim = 3 + 2, 2, 2 + 1 + 1, 3, 4
    explanation = (2 + 1 + 1) + 3 + 5  # "It took", a measured value, "."; the longest version; the longer branch
    assert step == Size(header + title + question + docstring + claim + explanation, code_lines=2 + 2, questions=1)
    assert closing == Size(2 + 1 + 1)


def test_a_function_without_anything_but_a_docstring_has_a_size() -> None:
    assert sizes('@lesson.given\nclass Empty:\n    """Nothing."""\n') == (Size(code_lines=1),)


def test_the_minutes_follow_from_the_stated_rates() -> None:
    assert Size(words=200).minutes == 1
    assert Size(code_lines=10).minutes == 1
    assert Size(questions=2).minutes == 1
    assert ExerciseSize(words=200, code_lines=10, solution_lines=3).minutes == 5


@pytest.mark.parametrize(("minutes", "shown"), [(0, 5), (0.1, 5), (5, 5), (5.1, 10), (34.9, 35)])
def test_minutes_are_rounded_up_to_five(minutes: float, shown: int) -> None:
    assert rounded(minutes) == shown


def test_the_size_of_an_exercise_counts_its_words_and_the_lines_to_write() -> None:
    solution = textwrap.dedent('''
        """Four words are here."""

        # Two words


        def double(x):
            """Return twice x."""
            # BEGIN SOLUTION
            # a comment

            y = x
            return y + x
            # END SOLUTION
    ''')
    size = exercise_sizes.size_of(stub_of(solution), solution)
    assert size == {"words": 4 + 2 + 3, "code_lines": 2, "solution_lines": 2}


def test_the_committed_sizes_are_those_of_the_exercises() -> None:
    solutions = {lesson: paths.solution(lesson).read_text(encoding="utf-8") for lesson in tasks.load().lessons}
    found = {lesson: exercise_sizes.size_of(stub_of(text), text) for lesson, text in solutions.items()}
    assert json.loads(SIZES.read_text(encoding="utf-8")) == found, "run: python -m grader stubs"
