"""The phrases that every lesson prints, in the language of the run. `lessons/phrases.toml` holds the translations."""

import tomllib
from functools import cache
from typing import Final

from harness.errors import UsageError
from lessons.engine.catalogue import FOLDER

FILE: Final = FOLDER / "phrases.toml"
ENGLISH: Final = ""

_language = ENGLISH


def speak(language: str) -> None:
    """Choose the language of the phrases for this process: `ENGLISH`, or a table of the file, such as "ko".

    Raise `UsageError` if the file has no such table.
    """
    global _language  # noqa: PLW0603 - one process prints one language
    if language and language not in _translations():
        raise UsageError(f"There are no phrases in the language {language}. Languages: {', '.join(_translations())}.")
    _language = language


def phrase(english: str, **values: object) -> str:
    """Return a phrase in the chosen language with its values: `phrase("Your answer: {answer}.", answer="b")`.

    A phrase without a translation stays English.
    """
    known = _translations().get(_language, {})
    return known.get(english, english).format(**values)


@cache
def _translations() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
