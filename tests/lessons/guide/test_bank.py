"""The questions of the bank: each has one right option, and equal packs have equal questions."""

from collections import Counter

from teachers_pack import pages, small_page

from lessons.guide import bank, exam
from lessons.guide.bank import MISTAKE, RECALL, WORD


def test_a_lesson_gives_questions_of_each_kind() -> None:
    found = list(bank.questions_of(small_page()))
    assert Counter(each.kind for each in found) == {RECALL: 1, MISTAKE: 4, WORD: 5}
    (recall,) = (each for each in found if each.kind == RECALL)
    assert (recall.text, recall.options[recall.right], recall.letter) == ("What is `2 * 1`?", "two", "b")


def test_the_right_option_of_a_mistake_is_its_own_explanation() -> None:
    for number, question in enumerate(each for each in bank.questions_of(small_page()) if each.kind == MISTAKE):
        assert question.options[question.right] == f"Explanation {number}."
        assert len(set(question.options)) == 4
        assert f"return {number} < 3" in question.code


def test_two_wrong_answers_are_too_few_for_a_question() -> None:
    assert not [each for each in bank.questions_of(small_page(wrong=2)) if each.kind == MISTAKE]
    assert [each for each in bank.questions_of(small_page(wrong=3)) if each.kind == MISTAKE]


def test_a_term_is_not_asked_if_its_meaning_contains_it_or_if_options_are_related() -> None:
    words = {each.options[each.right]: each for each in bank.questions_of(small_page()) if each.kind == WORD}
    assert set(words) == {"tick", "step", "sample", "block", "A/A test"}
    assert "step" not in words["tick"].options
    assert "tick" not in words["step"].options


def test_the_questions_of_all_lessons_have_different_ids_and_one_right_option() -> None:
    questions = [question for page in pages().values() for question in bank.questions_of(page)]
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        assert question.options.count(question.options[question.right]) == 1, question.id
        assert 2 <= len(question.options) <= bank.OPTIONS, question.id
        assert question.id.isascii()
    for name, page in pages().items():
        assert {question.kind for question in bank.questions_of(page)} >= {RECALL, MISTAKE}, name


def test_an_exam_has_one_question_of_each_kind_for_each_lesson() -> None:
    drawn = exam.draw([small_page(), small_page()], seed=1)
    assert [each.kind for each in drawn.questions] == [RECALL, MISTAKE, WORD] * 2
    assert drawn.points == 14
    assert drawn.minutes == 15
    assert drawn == exam.draw([small_page(), small_page()], seed=1)
    assert len({exam.draw([small_page()], seed).questions for seed in range(9)}) > 1
