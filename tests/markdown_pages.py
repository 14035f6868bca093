"""Read the Markdown pages of the repository: their links, headings, code and commands."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from project_files import FOLDERS, ROOT

_COMMAND = re.compile(r"\s*(?:python|\.venv/bin/python) (?P<words>-m [a-z][\w.]*.*|tests/\S+\.py.*)")
_CONSOLE_SCRIPT = re.compile(r"\s*(?:\.venv/bin/)?(?P<words>fairclock\b.*)")
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


def pages() -> list[Path]:
    """Return all Markdown files of the repository."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md")]
    return [ROOT / "README.md", *sorted(inside)]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def tokens(text: str) -> Iterator[Token]:
    """Yield every token of a page, also the tokens inside of paragraphs."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


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
    """Yield every command of Python or `fairclock` in the code of a page. A line may have several, joined by `&&`."""
    code = [token.content for token in tokens(text) if token.type in {"code_inline", "code_block", "fence"}]
    lines = [part for block in code for line in block.splitlines() for part in line.split("&&")]
    bare = [_COMMENT.sub("", line) for line in lines]
    found = (_COMMAND.fullmatch(line) or _CONSOLE_SCRIPT.fullmatch(line) for line in bare)
    words = [shlex.split(match["words"]) for match in found if match]
    return [Command(*_split(each)) for each in words]


def _split(words: list[str]) -> tuple[str, tuple[str, ...]]:
    return (words[1], tuple(words[2:])) if words[0] == "-m" else (words[0], tuple(words[1:]))
