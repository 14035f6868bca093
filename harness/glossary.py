"""The glossary: terms, their meanings and their other names, read from a TOML file.

A term is found in any spelling: with capitals or without, in singular or plural, with hyphens or spaces.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from harness.errors import UsageError

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
    """All terms of a glossary, in the order of its file. `_by_name` maps each name in one spelling to its term."""

    terms: tuple[Term, ...]
    _by_name: Mapping[str, Term] = field(repr=False)

    def find(self, given: str) -> Term:
        """Return the term that has the name `given`. If there is none, raise `UsageError` with similar names."""
        wanted = _spelled(given)
        if wanted in self._by_name:
            return self._by_name[wanted]
        close = [name for name in self._by_name if wanted and set(wanted.split()) <= set(name.split())]
        close += difflib.get_close_matches(wanted, self._by_name, n=5)
        names = list(dict.fromkeys(self._by_name[name].name for name in close))[:5]
        next_step = f"close terms are: {', '.join(names)}" if names else "fairclock lessons glossary lists all terms"
        raise UsageError(f"The glossary has no term {given!r}; {next_step}.")

    def used_in(self, text: str) -> tuple[Term, ...]:
        """Return the terms of which any name occurs in `text`, in the order of the glossary."""
        words = f" {_spelled(text)} "
        used = {term.name for name, term in self._by_name.items() if f" {name} " in words}
        return tuple(term for term in self.terms if term.name in used)


def parse(text: str) -> Glossary:
    """Return the glossary in a TOML text with a table for each term.

    Raise `ValueError` or `TypeError` for any other text, if two terms share a name, or if `see` names no term.
    """
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    for table in tables.values():
        table |= {name: tuple(value) for name, value in table.items() if isinstance(value, list)}
    terms = tuple(Term(name, **table) for name, table in tables.items())
    by_name: dict[str, Term] = {}
    for term in terms:
        for name in dict.fromkeys(map(_spelled, term.names)):
            if by_name.setdefault(name, term) is not term:
                raise ValueError(f"the terms {by_name[name].name!r} and {term.name!r} share the name {name!r}")
        if unknown := sorted(set(term.see) - {each.name for each in terms}):
            raise ValueError(f"the term {term.name!r} refers to {unknown[0]!r}, which is not a term")
    return Glossary(terms, by_name)


def _spelled(text: str) -> str:
    # "No-op calls" and "no op call" → "no op call"
    return " ".join(_singular(word) for word in _WORD.findall(text.casefold()))


@cache
def _singular(word: str) -> str:
    # A wrong result does no harm, because names and texts change equally.
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > len("is") else word
