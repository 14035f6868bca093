"""How a lesson runs. A lesson's author needs these few names; `lesson.py` says how they fit together."""

from lessons.engine.claim import Claim, Standing, claim, counted, every, middle
from lessons.engine.lesson import Lesson, Step
from lessons.engine.page import Page
from lessons.engine.predict import Choice, Guess

__all__ = ["Choice", "Claim", "Guess", "Lesson", "Page", "Standing", "Step", "claim", "counted", "every", "middle"]
