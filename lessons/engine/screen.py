"""The screen of a lesson. It prints all output of a running lesson.

Lines are at most as wide as the terminal, and have at most 100 columns. Without a terminal, the output is plain text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table as Grid
from rich.text import Text

from harness.rendering.tables import Table
from lessons.engine.claim import SettledClaim
from lessons.engine.explain import ClaimLine, Paragraph, Part, Photo, Picture
from lessons.engine.interval import ClaimStanding
from lessons.engine.markup import styled
from lessons.engine.phrases import phrase
from lessons.engine.predict import BETWEEN, Judgement, Score
from lessons.engine.prompts import INDENT, WIDTH, Prompts

GUTTER = "{:>4} │ "
"""The text before each line of code: the line's number, or spaces where a long line continues."""

LEAST = 20
"""The smallest number of columns in which code is printed, even if the terminal is narrower."""

MARKS = {
    ClaimStanding.HELD: ("✓", "bold green"),
    ClaimStanding.REFUTED: ("✗", "bold red"),
    ClaimStanding.INCONCLUSIVE: ("?", "bold yellow"),
    ClaimStanding.SKIPPED: ("–", "dim"),
}


class Screen(Prompts):
    """The output of a lesson on a `rich` console. An empty line separates parts of different kinds."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._quoting = False

    @property
    def _width(self) -> int:
        return min(self._console.width, WIDTH)

    def header(self, title: str, times: str, opening: str, plan: str, machine: str) -> None:
        """Print the first lines of a lesson.

        `opening` is its note and its objective, and `plan` names the lessons before and after it.
        """
        self._part("header")
        line = Grid.grid(expand=True)
        line.add_column()
        line.add_column(justify="right", no_wrap=True)
        line.add_row(styled(title, "bold"), Text(times, "dim"))
        self._print(line, indent=1)
        self._print(styled(opening), indent=1)
        if plan:
            self._print(styled(plan, "dim"), indent=1)
        self._print(Text(f"This machine: {machine}", "dim"), indent=1)

    def show(self, part: Part, folder: Path) -> None:
        """Print a part of an explanation. `folder` contains the recorded photos of the lesson."""
        match part:
            case Paragraph(text):
                self.say(text)
            case Judgement(right, _, words):
                self.reveal(words[:1].upper() + words[1:], right=right)
            case ClaimLine(settled, remark, words):
                self.claim(settled.standing, settled.claim.sentence, claim_value(settled, remark), words)
            case Picture(_, text, svg, caption):
                self.picture(text, svg, caption)
            case Photo(file, caption):
                self.photo(folder / file, caption)
            case Table():
                self.table(part)

    def open_step(self, number: int, steps: int, title: str, introduction: str) -> None:
        """Print the title of a step and the paragraphs above its code."""
        self._part("title")
        self._print(_rule(phrase("{number} of {steps} · {title}", number=number, steps=steps, title=title)), indent=0)
        for paragraph in introduction.split("\n\n"):
            self._part("")
            self._print(styled(paragraph))

    def left_out(self, number: int, steps: int, title: str) -> None:
        """Print the title of an optional step that does not run."""
        self._part("left out")
        words = "{number} of {steps} · {title} (optional, runs with --all)"
        self._print(styled(phrase(words, number=number, steps=steps, title=title), "dim"), indent=0)

    def code(self, code: str) -> None:
        """Print code with its line numbers."""
        self._part("")
        highlighter = Syntax("", "python", theme="ansi_dark", background_color="default")
        lines = highlighter.highlight(code).split("\n", allow_blank=False)
        for number, line in enumerate(lines, start=1):
            indent = len(line.plain) - len(line.plain.lstrip())
            room = max(self._console.width - len(GUTTER.format(number)), LEAST)
            first, *rest = line.wrap(self._console, room) if len(line.plain) > room else [line]
            self._code_line(GUTTER.format(number), first)
            hang = min(indent + 4, room // 2)
            for whole in rest:
                for part in whole.wrap(self._console, room - hang):
                    self._code_line(GUTTER.format(""), Text(" " * hang) + part)

    def _code_line(self, gutter: str, line: Text) -> None:
        self._console.print(Text.assemble((gutter, "dim"), line), no_wrap=True, overflow="fold")

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self._part("words")
        self._prose(text)

    def recall(self, lesson: str, questions: int) -> None:
        """Print the introduction of the questions about an earlier lesson."""
        self._part("title")
        self._print(_rule(f"Questions about lesson {lesson}"), indent=0)
        self._part("")
        self._print(Text(f"{questions} short questions. The answers do not count in your score.", "dim"))

    def ask(self, question: str, offer: str, *, label: str = "Predict") -> None:
        """Print a question and its options. If the options do not fit on one line, each option has its own line."""
        self._part("question")
        self._prose(question, phrase(label), "bold magenta")
        shown = styled(offer)
        if len(shown) + INDENT + 3 > self._width:
            shown = styled(offer.replace(BETWEEN, "\n"))
        self._print(shown, indent=INDENT + 2)

    def reveal(self, text: str, *, right: bool | None, label: str = "Measured") -> None:
        """Print `text`, which names the right answer, in the colour for a right, wrong or undecided prediction."""
        self._part("measured")
        style = {True: "bold green", False: "bold yellow", None: "bold"}[right]
        self._prose(text, phrase(label), style)

    def table(self, table: Table) -> None:
        """Print a table with its title above it."""
        self._part("table")
        self._print(styled(table.title, "dim"))
        grid = table.__rich__()
        for column in grid.columns:
            column.overflow = "fold"  # a long word continues on the next line
            column.header = styled(str(column.header))
        grid.title, grid.box, grid.show_edge, grid.header_style = None, SIMPLE_HEAD, False, "dim"
        self._print(grid, indent=INDENT - 1)

    def picture(self, text: str, svg: str, caption: str) -> None:  # noqa: ARG002 - a terminal cannot show SVG
        """Print a picture below its caption, given as characters and as an SVG document ("" if there is none)."""
        self._part("picture")
        self._print(styled(caption, "dim"))
        self._print(Text.from_ansi(text, style="blue") if "\033[" in text else Text(text, "blue"))

    def photo(self, path: Path, caption: str) -> None:
        """Print the caption of a picture and the path of its file, because a terminal cannot show the picture."""
        self._part("photo")
        self._print(styled(caption, "dim"))
        self._print(Text(str(path), "blue", overflow="fold"))

    def claim(self, standing: ClaimStanding, sentence: str, value: str, words: str) -> None:
        """Print the mark for the result `standing`, the sentence of a claim, and the measured value.

        Below, print `words`, which is what the lesson says about this result, or "".
        """
        self._part("claim")
        mark, style = MARKS[standing]
        line = Grid.grid(padding=(0, 2, 0, 0))
        line.add_column(width=1)
        line.add_column(overflow="fold")
        line.add_row(Text(mark, style), styled(sentence).append_text(styled(f": {value}" if value else "", "bold")))
        self._print(line)
        if words:
            self._print(styled(words), indent=INDENT + 3)
            self._last = "claim with words"

    @contextmanager
    def quoted(self, heading: str) -> Iterator[None]:
        """Print the sentence above recorded parts, and a vertical line to the left of all output of the `with` block.

        The sentence names the machine, the date and the versions of the recorded run.
        """
        self._quoting = True
        try:
            self._part("recorded")
            self._prose(heading, phrase("Recorded"), "bold")
            yield
        finally:
            self._quoting = False
            self._last = "quoted"

    def closing(self, key_points: Sequence[str], references: Sequence[str]) -> None:
        """Print the key points and references."""
        self._part("closing")
        self._print(_rule(phrase("Key points")), indent=0)
        for point in key_points:
            self._listed("·", point)
        self._part("")
        self._print(Text(phrase("References"), "bold"), indent=1)
        for reference in references:
            self._listed(" ", reference)

    def score(self, score: Score) -> None:
        """Print the score of the student's predictions. For each wrong prediction, also print the right answer."""
        if not score.sentence():
            return
        self._part("score")
        self._print(Text.assemble((f"{phrase('Your score')}   ", "bold"), score.sentence()), indent=1)
        for each in score.wrong:
            self._listed("✗", each.question)
            self._listed(" ", phrase("your answer: {answer}; right: {truth}", answer=each.answer, truth=each.truth))

    def your_turn(self, file: str, command: str, following: str = "") -> None:
        """Print the file of the exercise, the command that checks it, and the command for the next lesson, if any."""
        self._part("your turn")
        self._print(Text.assemble((f"{phrase('Your turn')}   ", "bold"), (file, "cyan")), indent=1)
        self._print(Text.assemble("     then   ", (command, "cyan")), indent=1)
        if following:
            self._print(Text.assemble("     then   ", (following, "cyan")), indent=1)

    def note(self, text: str) -> None:
        """Print a note about the run, such as the name of a written file."""
        self._part("note")
        self._print(styled(text, "dim"), indent=1)

    def _prose(self, text: str, label: str = "", style: str = "") -> None:
        self._print(Text.assemble((f"{label}  ", style), styled(text)) if label else styled(text))

    def _print(self, renderable: RenderableType, *, indent: int = INDENT) -> None:
        if self._quoting:
            renderable, indent = _Quote(renderable), INDENT
        self._console.print(Padding(renderable, (0, 1 if indent else 0, 0, indent)), width=self._width)

    def _listed(self, mark: str, text: str) -> None:
        line = Grid.grid(padding=(0, 1, 0, 0))
        line.add_column(width=1)
        line.add_column(overflow="fold")
        line.add_row(mark, styled(text))
        self._print(line)


def claim_value(settled: SettledClaim, remark: str) -> str:
    """Return the text beside a claim: the measured value, `remark`, and the reason of a result that is not clear."""
    skipped = "skipped" if settled.standing is ClaimStanding.SKIPPED else ""
    reason = ": ".join(filter(None, (skipped, settled.reason)))
    return ", ".join(filter(None, (settled.range_shown, remark if settled.shown else "", reason)))


class _Quote:
    """A part with a vertical line to the left of each of its lines."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._part, options.update(width=options.max_width - 2), pad=False):
            yield Segment("│ ", Style(dim=True))
            yield from line
            yield Segment.line()


def _rule(title: str) -> Rule:
    return Rule(styled(title, "bold"), align="left", style="dim")
