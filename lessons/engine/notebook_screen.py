"""A screen in a notebook: paragraphs as Markdown, tables as HTML, drawings as SVG."""

import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.rendering.tables import Table
from harness.rendering.units import seconds
from lessons.engine.interval import ClaimStanding
from lessons.engine.markup import plain
from lessons.engine.phrases import phrase
from lessons.engine.predict import BETWEEN
from lessons.engine.prompts import LONG_S, WIDTH
from lessons.engine.screen import MARKS, Screen


class NotebookScreen(Screen):
    """A screen that shows paragraphs as Markdown in a notebook, tables as HTML, and drawings as SVG."""

    def ask(self, question: str, offer: str, *, label: str = "Predict") -> None:
        """Show a question, and each of its options on a line of its own."""
        self._prose(question, phrase(label))
        self._prose("\n".join(f"- {option}" for option in offer.split(BETWEEN)))

    def table(self, table: Table) -> None:
        """Show a table with its title above it."""
        heads, rows = map(plain, table.heads), table.rows
        whole = Table(plain(table.title), [*heads], rows, table.numeric)
        self._show(whole.to_text(), whole.to_html())

    def picture(self, text: str, svg: str, caption: str) -> None:
        """Show a picture below its caption: as SVG, or as text whose line breaks count, such as a program's output."""
        if svg:
            self._image("svg+xml", svg.encode(), caption, text)
            return
        self._prose(caption)
        characters = Text.from_ansi(text).plain
        self._show(characters, f"<pre>{escape(characters)}</pre>")

    def photo(self, path: Path, caption: str) -> None:
        """Show the picture in the PNG file `path` below its caption."""
        self._image("png", path.read_bytes(), caption, str(path))

    def claim(self, standing: ClaimStanding, sentence: str, value: str, words: str) -> None:
        """Show the mark for the result `standing`, the sentence of a claim, the measured value, and `words` below."""
        self._prose(f"{MARKS[standing][0]} {sentence}{f' ({value})' if value else ''}")
        if words:
            self._prose(words)

    def note(self, text: str) -> None:
        """Show a note about the run, such as the name of the machine."""
        self._prose(text)

    @contextmanager
    def measuring(self, name: str, usual_s: float) -> Iterator[None]:
        """Show which step runs and how long it usually takes, and after the `with` block how long it took."""
        from IPython.display import DisplayHandle  # noqa: PLC0415 - slow, and only notebooks need it

        line = DisplayHandle()  # type: ignore[no-untyped-call]
        lasts = f", about {seconds(usual_s, 1)}" if usual_s >= LONG_S else ""
        line.display({"text/plain": f"Running {name}{lasts} …"}, raw=True)  # type: ignore[no-untyped-call]
        began_s = time.perf_counter()
        try:
            yield
        finally:
            ran = f"Ran {name} in {seconds(time.perf_counter() - began_s, 2)}."
            line.update({"text/plain": ran}, raw=True)  # type: ignore[no-untyped-call]

    def _image(self, kind: str, data: bytes, caption: str, text: str) -> None:
        self._prose(caption)
        words, encoded = escape(plain(caption)), b64encode(data).decode()
        self._show(text, f'<img alt="{words}" src="data:image/{kind};base64,{encoded}">')

    def _prose(self, text: str, label: str = "", style: str = "") -> None:
        del style  # Markdown has no colours
        words = f"**{label}** {markdown(text)}" if label else markdown(text)
        words = f"> {words}" if self._quoting else words
        self._display({"text/plain": words, "text/markdown": words})

    def _show(self, text: str, html: str) -> None:
        quoted = f"<blockquote>{html}</blockquote>" if self._quoting else html
        self._display({"text/plain": text, "text/html": quoted})

    def _display(self, data: dict[str, str]) -> None:
        from IPython.display import display  # noqa: PLC0415 - slow, and only notebooks need it

        display(data, raw=True)  # type: ignore[no-untyped-call]  # IPython's functions have no types

    def _part(self, kind: str) -> None:
        """Print no empty line, because a notebook separates its outputs."""


def markdown(text: str) -> str:
    """Return a text of a lesson as Markdown. Outside of code, `<` is escaped, so that it does not begin an HTML tag."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def for_this_process() -> Screen:
    """Return a `NotebookScreen` if this process is the kernel of a notebook, and otherwise a `Screen`."""
    from IPython import get_ipython  # noqa: PLC0415 - slow, and only notebooks need it

    console = Console(force_jupyter=False, width=WIDTH)
    return NotebookScreen(console) if hasattr(get_ipython(), "kernel") else Screen(console)
