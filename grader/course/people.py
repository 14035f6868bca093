"""Find the person of a list whom a text means: by number, e-mail address, login or name.

A text first means the people who have it as number, e-mail address, login or other unique value, then those who have it
as the part of their e-mail address before the @, then those with this name, and last those with a name of these words
in any order. Texts are compared without regard to Unicode form and case.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_SAME: Final = {
    **dict.fromkeys(map(ord, "`\u02b9\u02bb\u02bc\u02bd\u02c8\u2018\u2019\u201b\u2032"), "'"),
    ord("\N{LATIN SMALL LETTER DOTLESS I}"): "i",
}
_KEPT: Final = frozenset("LMNS")
"""The first letters of the Unicode categories of which a word consists: letters, marks, numbers and symbols."""

EXACT, LOGIN, NAME, ANY_ORDER = range(4)
"""How a text can mean a person, the surest first."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies a person: unique values, such as a number, an e-mail address or a login (`ids`), and names."""

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class People:
    """A list of people in which texts are looked up. A look-up takes about 10 µs, also in a large class."""

    def __init__(self, people: Iterable[Identity]) -> None:
        self._index: tuple[dict[str, set[int]], ...] = ({}, {}, {}, {})
        for place, one in enumerate(people):
            for text in one.ids:
                self._add(EXACT, fold(text), place)
                self._add(LOGIN, fold(_login(text)), place)
            for name in map(words, one.names):
                self._add(NAME, " ".join(name), place)
                self._add(ANY_ORDER, " ".join(sorted(name)), place)
                for first in range(len(name)):  # as Canvas writes names, without spaces: otaren
                    self._add(ANY_ORDER, "".join((*name[first:], *name[:first])), place)

    def _add(self, way: int, key: str, place: int) -> None:
        if key:
            self._index[way].setdefault(key, set()).add(place)

    def find(self, meant: Identity, ways: Sequence[int] = tuple(range(4)), surest: str = "") -> tuple[int, ...]:
        """Return the place of the person in the list, or () if no person is meant, or the places of several people.

        Several people are returned if a text means them all, or if two texts of `meant` mean different people. Only a
        whole e-mail address and the text `surest` are so sure that texts that mean other people do not matter.
        """
        texts = dict.fromkeys((*meant.ids, *meant.names))
        hits = [found for text in texts if (found := self._meant(text, meant, ways))]
        exact = [text for text in meant.ids if EXACT in ways and ("@" in text or text == surest)]
        sure = [found for text in exact if (found := self._have(EXACT, text))]
        chosen: set[int] = set()
        for evidence in filter(None, (sure, hits)):
            both = set.intersection(*evidence)
            chosen = (chosen & both or chosen) if chosen else both or set.union(*evidence)
        return tuple(sorted(chosen))

    def _meant(self, text: str, meant: Identity, ways: Sequence[int]) -> set[int]:
        for way in ways:
            if text in (meant.ids if way in {EXACT, LOGIN} else meant.names) and (found := self._have(way, text)):
                return found
        return set()

    def _have(self, way: int, text: str) -> set[int]:
        if way == EXACT:
            key = fold(text)
        elif way == LOGIN:
            login = _login(text)
            return self._index[EXACT].get(fold(login), set()) if login else self._index[LOGIN].get(fold(text), set())
        else:
            found = words(text)
            key = " ".join(found if way == NAME else sorted(found))
        return self._index[way].get(key, set())


def fold(text: str) -> str:
    """Return the text in a form for comparing: Unicode NFKC, no case, one kind of apostrophe and dash."""
    plain = unicodedata.normalize("NFKC", text.replace("\N{ACUTE ACCENT}", "'")).casefold()
    alike = plain if plain.isascii() else unicodedata.normalize("NFKC", "".join(map(_alike, plain)))
    return " ".join(alike.translate(_SAME).replace("i\N{COMBINING DOT ABOVE}", "i").split())


def _alike(char: str) -> str:
    kind = unicodedata.category(char)
    return "-" if kind == "Pd" else "" if kind == "Cf" else char


def _login(text: str) -> str:
    login, sign, _ = text.partition("@")
    return login if sign else ""


def words(name: str) -> list[str]:
    """Return the words of a name, the last name after the first names: also of "Ota, Ren"."""
    last, comma, first = fold(name).replace("'", "").partition(",")
    text = f"{first} {last}" if comma else last
    found = "".join(char if unicodedata.category(char)[0] in _KEPT else " " for char in text).split()
    return found or fold(name).split()
