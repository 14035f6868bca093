"""The names that lessons import from the engine. The module `lesson` explains how to write a lesson."""

from lessons.engine.claim import Claim
from lessons.engine.figures import Drawing, Figures, Lacking, Rows, Samples
from lessons.engine.interval import Interval, Standing, largest, smallest
from lessons.engine.lesson import Lesson
from lessons.engine.loading import Run, load
from lessons.engine.page import Page
from lessons.engine.predict import Choice, Guess
from lessons.engine.step import Step
