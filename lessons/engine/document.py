"""The document of a lesson: a Markdown file with all its words, questions and claims, in the order of the screen.

A document begins with a header in YAML between two lines `---`. Each heading `## Title {#name}` begins a step, whose
code is the function `name` in the Python file beside the document. `{#name .optional}` marks an optional step. The
last headings are `## Key points`, `## References` and `## Recall`. Blocks are MyST's directives, between `:::{kind}`
and `:::`. `lessons/README.md` explains each of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lessons.engine.predict import Choice
from lessons.engine.templates import ClaimCondition, Place, Template


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: Template


@dataclass(frozen=True, slots=True)
class ClaimBlock:
    """A claim with its condition and its unit.

    `held`, `refuted` and `unclear` are printed after the claim for this result. None stands for the usual sentence.
    `value` replaces the measured value, and `remark` follows it. While the figure `disturbed` is true, the claim cannot
    be refuted.
    """

    id: str
    sentence: str
    condition: ClaimCondition
    unit: str
    held: Template | None
    refuted: Template | None
    unclear: Template | None
    value: Template | None
    remark: Template | None
    disturbed: str
    place: Place

    @property
    def name(self) -> str:
        """The name of the claim in templates: its id with underscores instead of hyphens."""
        return self.id.replace("-", "_")


@dataclass(frozen=True, slots=True)
class QuestionBlock:
    """A question. `figure` is the figure that decides which answer is right: a number, an interval or a letter.

    `choices` are the options. Without `choices`, `limits` and `unit` make them. If `guess` is not None, the question
    asks for a number in this unit ("" for a ratio), and a right answer is within the factor `near`. The other texts are
    for instructors.
    """

    figure: str
    text: Template
    choices: tuple[str, ...]
    limits: tuple[float, ...]
    unit: str
    guess: str | None
    near: float
    expected: str
    depends_on: str
    wrong_reasoning: str
    place: Place


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure that is shown below its caption. `kind` is "table", "histogram", "drawing", "output" or "photo".

    `columns` are the heads of a table's columns, each with its unit or "". `labels` are the cells of its first column,
    if the document contains them. `unit` is the unit of a histogram's samples, and "" for the other kinds.
    """

    kind: str
    figure: str
    caption: Template
    columns: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    unit: str
    place: Place


Block = Words | ClaimBlock | Shown


@dataclass(frozen=True, slots=True)
class DocumentStep:
    """A step of a lesson: the text above its code, the names of the code it shows, its question and its other blocks.

    `code` are the functions and classes in the order shown. The last one is the step's function. `fast` are the
    arguments of the short run. `needs` names an earlier step that writes a file for this step.
    """

    name: str
    title: str
    optional: bool
    introduction: tuple[str, ...]
    code: tuple[str, ...]
    fast: Mapping[str, float]
    needs: str
    question: QuestionBlock | None
    blocks: tuple[Block, ...]
    place: Place

    @property
    def templates(self) -> tuple[Template, ...]:
        """The texts of the step that can contain values."""
        found = [self.question.text] if self.question else []
        for block in self.blocks:
            match block:
                case Words(text):
                    found.append(text)
                case ClaimBlock():
                    found += filter(None, (block.held, block.refuted, block.unclear, block.value, block.remark))
                case Shown():
                    found.append(block.caption)
        return tuple(found)

    @property
    def uses(self) -> frozenset[str]:
        """The names that the texts and conditions of the step use: its figures and claims, and earlier steps."""
        names = {self.question.figure} if self.question else set[str]()
        for block in self.blocks:
            if isinstance(block, ClaimBlock):
                names |= block.condition.names | {block.disturbed}
            elif isinstance(block, Shown):
                names.add(block.figure)
        whole = frozenset(name.partition(".")[0] for name in names if name)
        return whole.union(*(each.names for each in self.templates))

    @property
    def claims(self) -> tuple[ClaimBlock, ...]:
        """The claims of the step."""
        return tuple(block for block in self.blocks if isinstance(block, ClaimBlock))


@dataclass(frozen=True, slots=True)
class RecallBlock:
    """A question about the lesson for the start of the next lesson. `answer` is the letter of the right option.

    `because` explains the answer in one sentence. `key_point` is a part of the key point from which it follows.
    """

    choice: Choice
    answer: str
    because: str
    key_point: str


@dataclass(frozen=True, slots=True)
class Document:
    """All words of a lesson."""

    file: Path
    header: Mapping[str, str]
    steps: tuple[DocumentStep, ...]
    key_points: tuple[str, ...]
    references: tuple[str, ...]
    recall: tuple[RecallBlock, ...]
