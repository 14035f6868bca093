"""Find the habits of style that this project avoids, and check how many of them each file still has.

    python tests/plain_words.py             # list every habit, with the plain form
    python tests/plain_words.py FILE...     # the same for some files
    python tests/plain_words.py --lower     # write today's counts as the new allowances, if their sums did not rise

`plain_words.toml` has the patterns. `plain_words_allowed.txt` has one line per file: the allowed numbers of habits and
of long sentences. When two branches change that file, git keeps the lines of both branches. The lower number counts.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import project_files
from prose import Passage, is_read, long_sentences, passages

ROOT: Final = Path(__file__).parent.parent
PATTERNS: Final = Path(__file__).with_name("plain_words.toml")
ALLOWED: Final = Path(__file__).with_name("plain_words_allowed.txt")
LOWER: Final = "python tests/plain_words.py --lower"


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of style to avoid. `plain` is the replacement, and `example` is a text that `regex` matches."""

    regex: re.Pattern[str]
    plain: str
    example: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence of a habit in a file: the words that were found, and the plain form."""

    file: str
    line: int
    words: str
    plain: str

    def __str__(self) -> str:
        """Return `file:line`, which editors can open, with the words and the plain form."""
        return f"{self.file}:{self.line}: {self.words!r}: {self.plain}"


@dataclass(frozen=True, slots=True, order=True)
class Count:
    """The numbers of habits and of long sentences in a file."""

    habits: int = 0
    long: int = 0

    def __add__(self, other: "Count") -> "Count":
        """Return the sum of two counts."""
        return Count(self.habits + other.habits, self.long + other.long)


def habits(path: Path = PATTERNS) -> tuple[Habit, ...]:
    """Return the habits that a TOML file describes. A space in a pattern also matches the end of a line."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["habit"]
    return tuple(
        Habit(re.compile(each["regex"].replace(" ", r"\s+"), re.MULTILINE), each["plain"], each["example"])
        for each in tables
    )


def found(file: str, read: Sequence[Passage], known: Sequence[Habit]) -> Iterator[Hit]:
    """Yield the habits in the passages of a file."""
    for passage in read:
        text = passage.words
        for habit in known:
            for match in habit.regex.finditer(text):
                line = passage.line + text.count("\n", 0, match.start())
                yield Hit(file, line, " ".join(match[0].split()), habit.plain)


def long_ones(file: str, read: Sequence[Passage]) -> Iterator[Hit]:
    """Yield the sentences that are too long, in docstrings and Markdown."""
    for passage in read:
        for line, sentence in long_sentences(passage):
            words = sentence.split()
            yield Hit(file, line, " ".join([*words[:8], "…"]), f"{len(words)} words in a sentence; 25 are enough")


def tracked() -> tuple[str, ...]:
    """Return the files of the project whose texts are checked."""
    return tuple(name for name in project_files.tracked(ROOT) if is_read(name))


def look(names: Sequence[str]) -> dict[str, tuple[list[Hit], list[Hit]]]:
    """Return the habits and the long sentences of each file."""
    known, results = habits(), {}
    for name in names:
        read = tuple(passages(name, (ROOT / name).read_text(encoding="utf-8")))
        results[name] = (list(found(name, read, known)), list(long_ones(name, read)))
    return results


def counts(results: Mapping[str, tuple[list[Hit], list[Hit]]]) -> dict[str, Count]:
    """Return the counts of the files with at least one habit or long sentence."""
    counted = {name: Count(len(hits), len(sentences)) for name, (hits, sentences) in results.items()}
    return {name: count for name, count in counted.items() if count != Count()}


def allowed(path: Path = ALLOWED) -> dict[str, Count]:
    """Return the allowed counts of each file. If a file has two lines, the lower numbers count."""
    lines = [line.split(maxsplit=2) for line in path.read_text(encoding="utf-8").splitlines() if line]
    read: dict[str, Count] = {}
    for some, long, name in lines:
        before = read.get(name, Count(int(some), int(long)))
        read[name] = Count(min(before.habits, int(some)), min(before.long, int(long)))
    return read


def lines_of(counted: Mapping[str, Count]) -> str:
    """Return the text of the file of allowances: one line per file, in the order of their names."""
    return "".join(f"{count.habits:>4} {count.long:>3}  {name}\n" for name, count in sorted(counted.items()))


def lower(counted: Mapping[str, Count], before: Mapping[str, Count]) -> str:
    """Return the text with the new allowances. Raise `ValueError` if a sum over all files rises."""
    total, limit = sum(counted.values(), Count()), sum(before.values(), Count())
    if total.habits > limit.habits or total.long > limit.long:
        raise ValueError(
            f"{total.habits} habits and {total.long} long sentences are more than the {limit.habits} and {limit.long} "
            "allowed: write these in plain words first. To see them: python tests/plain_words.py FILE"
        )
    return lines_of(counted)


def main(arguments: Sequence[str]) -> int:
    """Print what was found, or lower the allowances."""
    if arguments == ["--lower"]:
        try:
            ALLOWED.write_text(lower(counts(look(tracked())), allowed()), encoding="utf-8")
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    results = look(arguments or tracked())
    for hits, sentences in results.values():
        print(*sorted([*hits, *sentences], key=lambda hit: hit.line), sep="\n", end="\n" if hits or sentences else "")
    total = sum(counts(results).values(), Count())
    print(f"{total.habits} habits, {total.long} long sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
