"""Which lesson or task a person means: by number, by name, or by the beginning of either."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import UsageError

CLOSE = 0.5
"""How alike two names must be for one to be suggested for the other (difflib's ratio)."""


def named(given: str, there_are: Iterable[str], what: str = "lesson") -> str:
    """Return the one lesson that is meant by `given`: "2", "02", "02_timeit", "timeit_vs_timer" or its whole name.

    Raises `UsageError`, with the close matches, where none or several are meant.
    """
    aliases = {name: lesson_aliases(name) for name in there_are}
    return one_of(given, aliases, matches(given, aliases), what)


def lesson_aliases(name: str) -> tuple[str, ...]:
    """Return the ways to write a lesson's name: "02_timeit_vs_timer", "02", "2", "timeit_vs_timer"."""
    number, _, words = name.partition("_")
    return (name, number, number.lstrip("0"), words) if number.isdecimal() and words else (name,)


def matches(given: str, aliases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names that have an alias `given`; where none has, those with an alias that begins so."""
    given = given.strip().removesuffix(".py").casefold()
    if not given:
        return []
    given = given.lstrip("0") or "0" if given.isdecimal() else given
    exact = [name for name, others in aliases.items() if given in map(str.casefold, others)]
    if exact or given.isdecimal():
        return exact
    return [name for name, others in aliases.items() if any(each.casefold().startswith(given) for each in others)]


def one_of(
    given: str, aliases: Mapping[str, Sequence[str]], found: Sequence[str], what: str, listed: Iterable[str] = ()
) -> str:
    """Return what was found if it is one name. Raises `UsageError` with the names that may be meant if it is not.

    `listed` are the names to list then, all of them by default.
    """
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{given!r} can mean {' or '.join(found)}; name one of them.")
    words = {alias.partition("_")[0]: name for name, others in aliases.items() for alias in others}
    words |= {alias: name for name, others in aliases.items() for alias in others}
    alike = [] if given.isdecimal() else difflib.get_close_matches(given, words, n=3, cutoff=CLOSE)
    close = dict.fromkeys(words[each] for each in alike)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"There is no {what} {given!r}.{meant} There are: {', '.join(listed or aliases)}.")
