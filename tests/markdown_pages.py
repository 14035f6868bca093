"""Read the Markdown pages of the repository: their links, headings, code and commands."""

import re
import shlex
from collections import Counter
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_COMMAND = re.compile(r"\s*(?:\.venv/bin/)?(?:python (?:-m )?(?=[a-z])|(?=fairclock\b))(?P<words>.*)")
_COMMENT = re.compile(r"\s#.*")


@dataclass(frozen=True)
class Command:
    """A command on a page: `python -m MODULE`, `python SCRIPT` or `fairclock`, with its arguments."""

    program: str
    words: tuple[str, ...]

    @property
    def options(self) -> set[str]:
        return {word.partition("=")[0] for word in self.words if re.match(r"--?[a-z]", word)}

    @property
    def verb(self) -> str:
        """The first argument if it is not an option, else an empty string."""
        return self.words[0] if self.words and not self.words[0].startswith("-") else ""

    def __str__(self) -> str:
        return " ".join((self.program, *self.words))


@cache
def tokens(text: str) -> tuple[Token, ...]:
    """Return every token of a page, also the tokens inside of paragraphs."""
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    return tuple(each for token in parsed for each in (token, *(token.children or ())))


def links(text: str) -> list[str]:
    """Return the targets of all links and pictures on a page."""
    found = (token.attrGet("href") or token.attrGet("src") for token in tokens(text))
    return [str(target) for target in found if target]


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub makes for the headings of a page."""
    seen: Counter[str] = Counter()
    made = set()
    previous: Token | None = None
    for token in tokens(text):
        if previous is not None and previous.type == "heading_open":
            words = "".join(child.content for child in token.children or ())
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            made.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
            seen[anchor] += 1
        previous = token
    return made


def inline_code(text: str) -> list[str]:
    return [token.content for token in tokens(text) if token.type == "code_inline"]


def commands(text: str) -> list[Command]:
    """Return every command of Python or `fairclock` in the code of a page. A line may have several, joined by `&&`."""
    code = [token.content for token in tokens(text) if token.type in {"code_inline", "code_block", "fence"}]
    lines = [part for block in code for line in block.splitlines() for part in line.split("&&")]
    found = (_COMMAND.fullmatch(_COMMENT.sub("", line)) for line in lines)
    words = [shlex.split(match["words"]) for match in found if match]
    return [Command(each[0], tuple(each[1:])) for each in words]
