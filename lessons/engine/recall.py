"""Recall questions: three questions about an earlier lesson, which a student answers at the start of a lesson.

They stand at the end of each lesson's document. They do not count in the student's score.
"""

from lessons.engine import parsing
from lessons.engine.catalogue import FOLDER, lesson_names
from lessons.engine.document import RecallBlock
from lessons.engine.predict import ask
from lessons.engine.progress import LessonProgress
from lessons.engine.route import chosen, lessons_of
from lessons.engine.screen import Screen


def load() -> dict[str, tuple[RecallBlock, ...]]:
    """Return the recall questions about each lesson, by the name of the lesson."""
    return {name: _about(name) for name in lesson_names()}


def _about(name: str) -> tuple[RecallBlock, ...]:
    return parsing.load(FOLDER / f"{name}.md").recall


def about_last_lesson(lesson: str, done: dict[str, LessonProgress]) -> tuple[str, tuple[RecallBlock, ...]]:
    """Return the last complete lesson before `lesson` in the student's path, and the questions about it.

    If there is no such lesson, return "" and no questions.
    """
    path = lessons_of(chosen())
    earlier = path[: path.index(lesson)] if lesson in path else ()
    before = next((name for name in reversed(earlier) if name in done and done[name].complete), "")
    return before, _about(before) if before else ()


def play(lesson: str, questions: tuple[RecallBlock, ...], screen: Screen) -> None:
    """Ask the student the questions about `lesson`. After each answer, print the right answer and the reason."""
    screen.recall(lesson, len(questions))
    for number, each in enumerate(questions, start=1):
        screen.ask(each.choice.question, each.choice.offer(), label=f"Recall {number} of {len(questions)}")
        judged = each.choice.judge(ask(each.choice, screen.read, screen.say), each.answer)
        words = f"{judged.words[:1].upper()}{judged.words[1:]} {each.because}"
        screen.reveal(words, right=judged.right, label="Answer")


def as_markdown(lesson: str, questions: tuple[RecallBlock, ...]) -> str:
    """Return a cell of a notebook with the questions, and with their answers below them in a part that unfolds."""
    asked, answers = [], []
    for number, each in enumerate(questions, start=1):
        options = "\n".join(f"   - {letter}: {text}" for letter, text in each.choice.options.items())
        asked.append(f"{number}. {each.choice.question}\n{options}")
        answers.append(f"{number}. {each.answer}: {each.choice.options[each.answer]}. {each.because}")
    return (
        f"## Questions about lesson {lesson}\n\n" + "\n".join(asked) + "\n\n"
        "<details><summary>Answers</summary>\n\n" + "\n".join(answers) + "\n\n</details>"
    )
