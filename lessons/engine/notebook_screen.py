"""The screen that lessons use in a notebook. It prints paragraphs as Markdown, and all other parts as plain text."""

from pathlib import Path

from rich.console import Console

from lessons.engine.screen import WIDTH, Screen


class NotebookScreen(Screen):
    """A screen that prints paragraphs as Markdown in a notebook."""

    def _prose(self, text: str, label: str = "", style: str = "") -> None:
        from IPython.display import Markdown, display  # noqa: PLC0415 - only notebooks have IPython

        del style  # Markdown has no colours
        words = f"**{label}** {markdown(text)}" if label else markdown(text)
        display(Markdown(f"> {words}" if self._quoting else words))  # type: ignore[no-untyped-call]  # IPython's functions have no types

    def photo(self, path: Path, caption: str) -> None:
        """Show the picture in the PNG file `path` below its caption."""
        from IPython.display import Image, display  # noqa: PLC0415 - only notebooks have IPython

        self._prose(caption)
        display(Image(data=path.read_bytes(), format="png"))  # type: ignore[no-untyped-call]  # as above


def markdown(text: str) -> str:
    """Return a text of a lesson as Markdown. Outside of code, `<` is escaped, so that it does not begin an HTML tag."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def for_this_process() -> Screen:
    """Return a `NotebookScreen` if this process is the kernel of a notebook, and otherwise a `Screen`."""
    console = Console(force_jupyter=False, width=WIDTH)
    return NotebookScreen(console) if _in_a_kernel() else Screen(console)


def _in_a_kernel() -> bool:
    try:
        from IPython import get_ipython  # noqa: PLC0415 - only notebooks have IPython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
