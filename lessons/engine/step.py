"""A step of a lesson: teaching code, the question before it, its claims, and the explanation of its result."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from harness.rendering import units
from lessons.engine.claim import Claim
from lessons.engine.document import DocumentStep
from lessons.engine.page import Page
from lessons.engine.predict import Prediction
from lessons.engine.source import code_of, file_of, imports_of, prose_of

R = TypeVar("R")
Number = int | float
Question = Prediction | Callable[[Page], Prediction] | None
"""A question of a step, or a function that makes it from the results of earlier steps. None means no question."""

Explanation = Callable[[Page, R], None]
"""A function that prints and explains the result of a step."""


@dataclass(eq=False, slots=True)
class Step(Generic[R]):
    """One step of a lesson. Its teaching code returns a result of type `R`.

    `fast` contains the arguments of the short run. `given` are the functions and Python classes shown with this step's
    code. `needs` is an earlier step that writes a file, which this step reads. `ids` are the ids of all claims of the
    lesson. The other texts are for instructors. `expected` is the answer that the lesson expects to its question, as a
    student would type it. If other machines can give another answer, `depends_on` names what it depends on.
    `wrong_reasoning` explains why students often answer the question wrongly. `document` is the step of the lesson's
    document, if it has one. An optional step runs only with `--all`.
    """

    function: Callable[..., R]
    title: str
    fast: Mapping[str, Number]
    predict: Question
    given: tuple[Callable[..., object], ...]
    expected: str = ""
    depends_on: str = ""
    wrong_reasoning: str = ""
    needs: "Step[Any] | None" = None
    ids: set[str] = field(default_factory=set)
    claims: dict[str, Claim] = field(default_factory=dict)
    explanation: Explanation[R] | None = None
    document: DocumentStep | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.predict is None:
            return
        if not self.expected or not (callable(self.predict) or self.predict.parse(self.expected)):
            raise TypeError(f"{self.name} asks a question. Set `expected` to the answer that the lesson expects.")

    @property
    def name(self) -> str:
        """The name of the step's function, unique in its lesson."""
        return self.function.__name__

    @property
    def code(self) -> str:
        """The code of the step's function, as the screen shows it."""
        return code_of(self.function)

    @property
    def given_code(self) -> str:
        """The code of the functions and Python classes shown before the step's function. Empty if there are none."""
        return "\n\n\n".join(code_of(thing) for thing in self.given)

    @property
    def shown_code(self) -> str:
        """The code that the screen shows: the imports, `given_code`, and `code`."""
        code = "\n\n\n".join(filter(None, (self.given_code, self.code)))
        imports = imports_of(file_of(self.function), needed_by=code)
        return f"{imports}\n\n\n{code}" if imports else code

    @property
    def introduction(self) -> str:
        """The text that is printed above the code: the docstring of the step's function."""
        return "\n\n".join(self.document.introduction) if self.document else prose_of(self.function)

    def __call__(self, *, fast: bool = False) -> R:
        """Run the teaching code and return its result. If `fast` is true, use the arguments of the short run."""
        return self.function(**(self.fast if fast else {}))

    def question(self, page: Page) -> Prediction | None:
        """Return the question of this step, or None. `page` contains the results of earlier steps."""
        return self.predict(page) if callable(self.predict) else self.predict

    def claim(
        self,
        id: str,  # noqa: A002 - the name of the field in the JSON file
        sentence: str,
        *,
        at_least: float = -math.inf,
        at_most: float = math.inf,
        equals: float | None = None,
        unit: Callable[[float], str] = units.number,
    ) -> Claim:
        """Declare a claim of this step, with the bounds for its measured value, and return the claim.

        `equals` sets both bounds to one value. `unit` formats the measured value and the bounds as text. Raise
        `TypeError` if another claim of the lesson has the same id.
        """
        if id in self.ids:
            raise TypeError(f"{self.name}: another claim of this lesson has the id {id}.")
        low, high = (at_least, at_most) if equals is None else (equals, equals)
        claim = Claim(id, sentence, float(low), float(high), unit)
        self.ids.add(id)
        self.claims[id] = claim
        return claim

    def explain(self, explanation: Explanation[R]) -> Explanation[R]:
        """Decorate the function that explains the result of the step, and gives each claim of the step a result."""
        self.explanation = explanation
        return explanation
