"""Which case an answer fails on: how a rationale names it, and how a report finds it there again.

The journal keeps what a student read. Whoever forms that text and whoever reads it for the class's hardest cases
share the words that come before a case, and these are here.
"""

from typing import Final

from grader.records import Attempt, Status

SMALLEST: Final = "The smallest:"
"""Before the smallest of several tensor cases that are answered wrongly."""
SMALLEST_RAISED: Final = "The smallest case:"
"""Before the smallest one on which an exception came, after words that quote it."""
RAISED_IN: Final = "It happened in:"
"""Before the simulated world in which an exception came, after words that quote it."""
FIRST: Final = "The first:"
"""Before the first simulated world that is answered wrongly."""
HAPPENED: Final = "It happened with"
"""Before the case at which the worker ended, in the help."""


def case(attempt: Attempt) -> str:
    """Return the case on which an attempt failed, as it was told; nothing where none was named."""
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
    """What stands after the last `word`: before it, a message may quote anything."""
    return text.rpartition(word)[2].strip() if word in text else ""
