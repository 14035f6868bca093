"""Labels before the description of the failing test case in the text that a student reads.

Only this text is stored, and a report on the hardest test cases searches for these labels in it.
"""

from typing import Final

from grader.records import Attempt, Status

SMALLEST: Final = "The smallest:"
"""The label before the smallest test case with a wrong tensor."""
SMALLEST_RAISED: Final = "The smallest case:"
"""The label before the smallest test case that raised an exception. It follows the exception's message."""
RAISED_IN: Final = "It happened in:"
"""The label before the simulated test case that raised an exception. It follows the exception's message."""
FIRST: Final = "The first:"
"""The label before the first simulated test case with a wrong answer."""
HAPPENED: Final = "It happened with"
"""The label before the test case in which the submission's process ended."""


def named_in(attempt: Attempt) -> str:
    """Return the description of the failing test case in the text for the student, or "" if there is none."""
    if attempt.status is Status.WRONG:
        first_line = attempt.rationale.partition("\n")[0]
        return next((told for word in (SMALLEST, FIRST) if (told := _after(word, first_line))), "")
    if attempt.status is Status.RAISED:
        last = max((SMALLEST_RAISED, RAISED_IN), key=attempt.rationale.rfind)
        return _after(last, attempt.rationale)
    if attempt.help.startswith(HAPPENED):
        return _after(HAPPENED, attempt.help).partition(". ")[0].removesuffix(".")
    return ""


def _after(word: str, text: str) -> str:
    return text.rpartition(word)[2].strip() if word in text else ""
