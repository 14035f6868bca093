"""The slides of a lesson."""

from collections import Counter
from dataclasses import replace

from teachers_pack import RESULTS, small_page

from lessons.guide.results import Shown
from lessons.guide.slides import MOST_LINES, in_chunks, slides_of, slides_page


def test_each_step_has_its_code_its_question_and_its_answer() -> None:
    slides = list(slides_of(small_page()))
    kinds = [slide.kind for slide in slides]
    assert (kinds[0], kinds[-2:]) == ("title", ["points", "exercise"])
    assert Counter(kinds) == Counter(
        {"title": 1, "code": 2, "question": 2, "answer": 2, "picture": 1, "points": 1, "exercise": 1}
    )
    assert "picture" not in [slide.kind for slide in slides_of(small_page(None))]


def test_the_page_contains_everything_that_it_shows() -> None:
    page = slides_page(small_page())
    assert page.count('<section class="slide') == len(list(slides_of(small_page())))
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'alt="three samples of 2 &lt; 3 µs"' in page
    assert "http" not in page.partition("<script>")[2]
    assert "<code>twice</code>" in page
    assert "<em>small</em>" in page


def test_a_recorded_table_is_shown_if_it_fits_and_if_there_is_no_picture() -> None:
    rows = (("a", "n"),)
    short, long = Shown("short", ("", "n"), rows), Shown("long", ("", "n"), rows * 20)
    text = Shown("text", text="a tree\n└ b")
    for given, best in (((long, short, text), short), ((long, text), text), ((long,), None)):
        found = replace(RESULTS, pictures={}, shown={"twice": given})
        (answer, _) = (slide for slide in slides_of(small_page(found)) if slide.kind == "answer")
        assert answer.shown == best
    with_picture = replace(RESULTS, shown={"twice": (short,)})
    assert not [slide for slide in slides_of(small_page(with_picture)) if slide.shown]
    page = slides_page(small_page(replace(RESULTS, pictures={}, shown={"twice": (short,)})))
    assert "<td>a</td><td>n</td>" in page


def test_functions_stay_whole_on_a_slide_or_are_divided_at_an_empty_line() -> None:
    short, long = "def a():\n    return 1", "def b():\n" + "    pass\n" * 22
    assert list(in_chunks(short, short)) == [f"{short}\n\n\n{short}"]
    assert list(in_chunks(f"{short}\n\n\n{long.strip()}", short)) == [short, long.strip(), short]
    first, second = in_chunks("def f():\n" + "    first()\n" * 19 + "\n" + "    second()\n" * 19)
    assert first.endswith("first()")
    assert second.strip().startswith("second()")
    assert max(len(chunk.splitlines()) for chunk in (first, second)) <= MOST_LINES
