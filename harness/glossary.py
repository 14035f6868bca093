"""The glossary: terms, their meanings and their other names, read from a TOML file.

Lessons print the glossary, and the pages of a graded class explain their terms with it. A term is found in any
spelling: with capitals or without, in singular or plural, with hyphens or spaces (`key`).
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from harness.errors import UsageError

SUGGESTIONS: Final = 5
CLOSE: Final = 0.6
"""The smallest similarity of a name to an unknown name at which it is suggested (difflib's ratio)."""

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of the glossary. `lesson` is the lesson that introduces the term, or "". `see` lists related terms."""

    name: str
    meaning: str
    also: tuple[str, ...] = ()
    lesson: str = ""
    see: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The term's name, and its other names."""
        return (self.name, *self.also)


@dataclass(frozen=True, slots=True)
class Glossary:
    """All terms of a glossary, in the order of its file. `_by_key` maps the key of each name to the term."""

    terms: tuple[Term, ...]
    _by_key: Mapping[str, Term] = field(repr=False)

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "Glossary":
        """Return a glossary of these terms.

        Raise `ValueError` if two terms share a name, or if `see` names a term that does not exist.
        """
        by_key: dict[str, Term] = {}
        for term in terms:
            for name in dict.fromkeys(map(key, term.names)):
                if by_key.setdefault(name, term) is not term:
                    raise ValueError(f"The terms {by_key[name].name!r} and {term.name!r} share the name {name!r}.")
        known = {term.name for term in terms}
        for term in terms:
            if unknown := sorted(set(term.see) - known):
                raise ValueError(f"The term {term.name!r} refers to {unknown[0]!r}, which is not a term.")
        return cls(tuple(terms), by_key)

    def find(self, given: str) -> Term:
        """Return the term that has the name `given`. If there is none, raise `UsageError` with similar names."""
        wanted = key(given)
        if wanted in self._by_key:
            return self._by_key[wanted]
        close = ", ".join(self._close(wanted))
        next_step = f"close terms are: {close}" if close else "python -m lessons glossary lists all terms"
        raise UsageError(f"The glossary has no term {given!r}; {next_step}.")

    def used_in(self, text: str) -> tuple[Term, ...]:
        """Return the terms of which any name occurs in `text`, in the order of the glossary."""
        words = [_singular(word) for word in _WORD.findall(text.casefold())]
        lengths: dict[str, set[int]] = {}
        for names in (name.split() for name in self._by_key):
            lengths.setdefault(names[0], set()).add(len(names))
        phrases = (
            " ".join(words[place : place + length])
            for place, word in enumerate(words)
            for length in lengths.get(word, ())
        )
        used = {self._by_key[phrase].name for phrase in phrases if phrase in self._by_key}
        return tuple(term for term in self.terms if term.name in used)

    def _close(self, wanted: str) -> list[str]:
        """Return the names of terms that contain all words of `wanted`, then names with a similar spelling."""
        containing = [name for name in self._by_key if wanted and set(wanted.split()) <= set(name.split())]
        similar = difflib.get_close_matches(wanted, self._by_key, n=SUGGESTIONS, cutoff=CLOSE)
        return list(dict.fromkeys(self._by_key[name].name for name in (*containing, *similar)))[:SUGGESTIONS]


def key(name: str) -> str:
    """Return a key that is the same for all spellings of a term: "No-op calls" and "no op call" → "no op call"."""
    return " ".join(_singular(word) for word in _WORD.findall(name.casefold()))


def load(path: Path) -> Glossary:
    """Return the glossary in the file `path`. Raise `UsageError` if it cannot be read or is not a glossary."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The glossary {path} cannot be read ({error.strerror}); install the kit again.") from error
    except ValueError as error:
        raise UsageError(f"The glossary {path} is damaged: {error} Correct it, or install the kit again.") from error


def parse(text: str) -> Glossary:
    """Return the glossary in a TOML text with a table for each term. Raise `ValueError` for any other text."""
    return Glossary.of([_term(name, table) for name, table in tomllib.loads(text).items()])


def _term(name: str, table: object) -> Term:
    if not isinstance(table, dict):
        raise ValueError(f"{name!r} is not a table.")  # noqa: TRY004 - the caller expects one type of error
    if unknown := sorted(table.keys() - {"meaning", "also", "lesson", "see"}):
        raise ValueError(f"The term {name!r} has an unknown field {unknown[0]!r}.")
    meaning, lesson = table.get("meaning"), table.get("lesson", "")
    if not isinstance(meaning, str) or not meaning.strip():
        raise ValueError(f"The term {name!r} has no meaning.")
    if not isinstance(lesson, str):
        raise ValueError(f"The lesson of the term {name!r} is not a text.")  # noqa: TRY004 - as above
    return Term(name, meaning, _names(name, table, "also"), lesson, _names(name, table, "see"))


def _names(name: str, table: Mapping[str, object], which: str) -> tuple[str, ...]:
    found = table.get(which, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"The field {which!r} of the term {name!r} is not a list of texts.")
    return tuple(found)


@cache
def _singular(word: str) -> str:
    """Return a word without a plural ending.

    A wrong result does no harm, because names and texts get the same change.
    """
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > len("is") else word
