"""Find the lesson or task that a user means. The user gives its number, its name, or the beginning of its name."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import UsageError

CLOSE = 0.5
"""The smallest similarity of two names for a suggestion (difflib's ratio)."""


def named(given: str, there_are: Iterable[str], what: str = "lesson") -> str:
    """Return the lesson that `given` names, such as "2", "02", "02_timeit", "timeit_vs_timer" or the whole name.

    If no lesson or several lessons match, raise `UsageError` with similar names. `what` is the noun in this message.
    """
    aliases = {name: lesson_aliases(name) for name in there_are}
    return one_of(given, aliases, matches(given, aliases), what)


def lesson_aliases(name: str) -> tuple[str, ...]:
    """Return all names of a lesson, such as "02_timeit_vs_timer", "02", "2" and "timeit_vs_timer"."""
    number, _, words = name.partition("_")
    return (name, number, number.lstrip("0"), words) if number.isdecimal() and words else (name,)


def matches(given: str, aliases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names that have the alias `given`, or else the names with an alias that begins with `given`."""
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
    """Return the only name in `found`. Raise `UsageError` if `found` is empty or has several names.

    The error message calls a name a `what`, such as "lesson". It lists similar names and the names in `listed` (by
    default, all names in `aliases`).
    """
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{given!r} can mean {' or '.join(found)}; write one of them in full.")
    words = {alias.partition("_")[0]: name for name, others in aliases.items() for alias in others}
    words |= {alias: name for name, others in aliases.items() for alias in others}
    alike = [] if given.isdecimal() else difflib.get_close_matches(given, words, n=3, cutoff=CLOSE)
    close = dict.fromkeys(words[each] for each in alike)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"There is no {what} {given!r}.{meant} There are: {', '.join(listed or aliases)}.")
