"""The texts of a file that people read, and the sentences in them.

These are the strings, docstrings and comments of a Python file, a template without its tags, and all of a Markdown or
TOML file. Only docstrings and Markdown are divided into sentences, because strings are often parts of sentences. Code,
tables and addresses are left out.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

MOST_WORDS: Final = 25
SUFFIXES: Final = frozenset({".py", ".md", ".html", ".jinja", ".toml"})
NOT_OURS: Final = ("tests/submissions/", "tests/honest/", "lessons/exercises/")
"""Hand-ins as students write them, and files that are generated from others."""

ABOUT_STYLE: Final = ("tests/plain_words.toml", "tests/test_plain_words.py")
"""Files that quote the habits of style to avoid."""

_MARKUP: Final = re.compile(
    r"<!--.*?-->|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.DOTALL
)
_CODE: Final = re.compile(r"``.+?``|`[^`]*`", re.DOTALL)
_ADDRESS: Final = re.compile(r"https?://\S+|\]\([^)]*\)")
_FENCE: Final = re.compile(r"^ *(```|~~~).*?^ *\1[^\n]*$", re.DOTALL | re.MULTILINE)
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_LABEL: Final = re.compile(r"^\s*(?:[A-Z]\w*(?: \w+)?: |\d\d_\w+ earns )")
"""The beginning of a line such as "Source: …" or "04_autorange earns …", which is a unit by itself."""

_NOT_A_SENTENCE: Final = re.compile(r"^(?: {4}|\t)|^\s*(?:\||#|>>>|\.\.\. |\$ )|\S {2,}\S")
"""A line of code, of a table, or a heading."""

_SHORT_FORM: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|Fig|No|approx|[A-Z])\.$")
_END: Final = re.compile(r"(?<=[.!?])[)\"'”’*]*\s+(?=[\"'“(*]*[A-Z0-9`…]|CODE)")


@dataclass(frozen=True, slots=True)
class Passage:
    """A connected text with the number of its first line. `whole`: whether it consists of whole sentences."""

    text: str
    line: int
    whole: bool = False

    @property
    def words(self) -> str:
        """The text without code and indentation. Line numbers stay the same."""
        return re.sub(r"\n[ \t]+", "\n", _blank(_CODE, _blank(_FENCE, self.text), "`…`"))


def is_read(name: str) -> bool:
    """Return whether the texts of a file are checked."""
    return PurePosixPath(name).suffix in SUFFIXES and not name.startswith(NOT_OURS) and name not in ABOUT_STYLE


def passages(name: str, text: str) -> Iterator[Passage]:
    """Yield the texts in a file that people read."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".py":
        yield from _strings(text)
        yield from _comments(text)
    elif suffix in {".html", ".jinja"}:
        yield Passage(_blank(_MARKUP, text), 1)
    else:
        yield Passage(text, 1, whole=suffix == ".md")


def long_sentences(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each sentence that is too long."""
    if passage.whole:
        for line, paragraph in _paragraphs(passage):
            for sentence in sentences(paragraph):
                words = [word for word in sentence.split() if re.search(r"\w", word)]
                if len(words) > MOST_WORDS:
                    yield line, " ".join(words)


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph. Code between backticks becomes one word, and addresses are removed."""
    plain = _ADDRESS.sub(" ", _CODE.sub("CODE", paragraph))
    begun = ""
    for part in _END.split(" ".join(plain.split())):
        begun = f"{begun} {part}".strip()
        if not _SHORT_FORM.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def _strings(source: str) -> Iterator[Passage]:
    """Yield the strings of several words in a Python file. The fields of an f-string become {}."""
    nodes = list(ast.walk(ast.parse(source)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield Passage(text, node.lineno, whole=id(node) in alone)


def _comments(source: str) -> Iterator[Passage]:
    """Yield the comments of a Python file. Comments on lines that follow each other are one passage."""
    text, first, last = "", 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if text and line != last + 1:
            yield Passage(text, first)
            text = ""
        first = first if text else line
        text = f"{text}\n{token.string[1:]}" if text else token.string[1:]
        last = line
    if text:
        yield Passage(text, first)


def _paragraphs(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs and list items of a passage with their lines, without code, tables and headings."""
    text = _blank(_FENCE, passage.text)
    indent = min((len(line) - len(line.lstrip()) for line in text.splitlines()[1:] if line.strip()), default=0)
    begun: list[str] = []
    first = passage.line
    for number, whole in enumerate([*text.splitlines(), ""], start=passage.line):
        line = whole[indent:] if number > passage.line else whole
        item = _ITEM.match(line) or _LABEL.match(line)
        ends = not line.strip() or bool(_NOT_A_SENTENCE.search(line))
        if (ends or item) and begun:
            yield first, "\n".join(begun)
            begun = []
        if not ends:
            first = first if begun else number
            begun.append(_ITEM.sub("", line))


def _blank(pattern: re.Pattern[str], text: str, by: str = " ") -> str:
    """Return the text with all matches replaced. Line numbers stay the same."""
    return pattern.sub(lambda match: by + "\n" * match[0].count("\n"), text)
