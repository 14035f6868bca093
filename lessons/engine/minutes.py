"""How many minutes a student needs for a step. Somebody who reads English as a second language sets the pace.

Second-language readers of English read 139 words a minute on average, first-language readers 238 (M. Brysbaert, “How
many words do we read per minute?”, Journal of Memory and Language 109, 2019).
"""

from collections.abc import Sequence
from typing import Final

from lessons.engine.document import DocumentStep

WORDS_A_MINUTE: Final = 140
LINES_A_MINUTE: Final = 10
QUESTION_MINUTES: Final = 0.5


def minutes_of(step: DocumentStep, codes: Sequence[str], lasted_s: float) -> int:
    """Return the minutes for a step whose code ran for `lasted_s` seconds, at least one.

    `codes` are the texts of its shown code. Of the texts for the results of a claim, a student reads the first.
    """
    other_results = [text for claim in step.claims for text in (claim.refuted, claim.unclear)]
    texts = [*step.introduction, *(claim.sentence for claim in step.claims)]
    texts += [template.text for template in step.templates if template not in other_results]
    words = sum(len(text.split()) for text in texts)
    lines = sum(len(code.splitlines()) for code in codes)
    minutes = words / WORDS_A_MINUTE + lines / LINES_A_MINUTE + lasted_s / 60
    return max(1, round(minutes + QUESTION_MINUTES * (step.question is not None)))
