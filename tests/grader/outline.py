"""Parse a page as a browser would: elements, attributes, text, and whether every element is closed."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


class Outline(HTMLParser):
    """Collect the tags and text of a page. Fails on a tag that is not closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.code: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append((tag, dict(attrs)))
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        (self.code if self._open[-1:] in (["script"], ["style"]) else self.words).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def policy(page: str) -> dict[str, str]:
    """Return the Content-Security-Policy of a page: what it may load, and from where."""
    stated = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert stated, "a page states its policy"
    assert page.index("Content-Security-Policy") < page.index("<title>"), "before anything foreign"
    return {name: value for name, _, value in (part.strip().partition(" ") for part in stated[1].split(";"))}
