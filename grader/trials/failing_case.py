"""Find the description of the failing case in the text of a verdict.

The journal stores only the text that the student reads. The grader writes a label before the description, and the
report on the hardest cases searches for this label. So the labels are defined here.
"""

from typing import Final

from grader.records import Attempt, Status

SMALLEST: Final = "The smallest:"
"""The label before the smallest tensor case with a wrong answer."""
SMALLEST_RAISED: Final = "The smallest case:"
"""The label before the smallest tensor case that raised an exception. It follows the exception's message."""
RAISED_IN: Final = "It happened in:"
"""The label before the simulated scenario that raised an exception. It follows the exception's message."""
FIRST: Final = "The first:"
"""The label before the first simulated scenario with a wrong answer."""
HAPPENED: Final = "It happened with"
"""The label before the case in which the worker process ended. It is part of the help text."""


def named_in(attempt: Attempt) -> str:
    """Return the description of the failing case in the text of an attempt, or "" if there is none."""
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
    """Return the text after the last `word`, or "". The message of an exception may contain the same word earlier."""
    return text.rpartition(word)[2].strip() if word in text else ""
