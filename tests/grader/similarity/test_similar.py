"""`similar`: which pairs of hand-ins it lists, what it writes, and what it leaves out."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import classroom
import pytest

from grader import paths
from grader.commands.apps import run_grader
from grader.similarity import sources
from grader.similarity.pairs import COMMON_LEAST, Code, LessonPairs, compare
from grader.similarity.tokens import line_names, tokens_of

ORIGINAL = '''"""My answer."""
import math


def clip(values, low, high):
    """Return the values between both ends."""
    kept = []
    for value in values:
        if low <= value <= high:
            kept.append(value * 2)
    return kept


def spread(values, weights):
    total = sum(weights)  # all weights
    middle = sum(v * w for v, w in zip(values, weights)) / total
    return math.sqrt(sum(w * (v - middle) ** 2 for v, w in zip(values, weights)) / total)
'''
DISGUISED = """import math

# entirely my own work

def streuung(zahlen,
             gewichte,):
    summe = sum(gewichte); unbenutzt = 17 * 4
    mitte = sum(a * b for a, b in zip(zahlen, gewichte)) / summe
    return math.sqrt(sum(b * (a - mitte) ** 2 for a, b in zip(zahlen, gewichte)) / summe)


def begrenzt(zahlen, unten, oben):
    ergebnis = []
    egal = "nichts"
    for zahl in zahlen:
        if unten <= zahl <= oben:
            ergebnis.append(zahl * 3)
    return ergebnis
"""
OTHERS = (
    """
def clip(values, low, high):
    return [v + v for v in values if not (v < low or v > high)]

def spread(values, weights):
    import statistics
    return statistics.pstdev(values) * len(weights)
""",
    """
import torch

def clip(*given):
    x = torch.tensor(given[0])
    return x[(x >= given[1]) & (x <= given[-1])].mul(2)

def spread(values, weights=None):
    return torch.std(torch.tensor(values), correction=0)
""",
    """
class Answer:
    def clip(self, values, high):
        while values and values[-1] > high:
            values.pop()
        yield from (2 * v for v in values)

    spread = property(lambda self: 0)
""",
)
"""Answers of three students who worked alone."""

C = '''checksum = r"""
#include <stdint.h>
{comment}
uint32_t checksum(const uint8_t *{data}, size_t {size}) {{
  uint32_t {crc} = 0xFFFFFFFF;
  for (size_t i = 0; i < {size}; i++) {{
    {crc} ^= {data}[i];
    for (int bit = 0; bit < 8; bit++) {crc} = {crc} & 1 ? {crc} >> 1 ^ 0xEDB88320 : {crc} >> 1;
  }}
  return ~{crc};
}}
"""
'''


def of(authors: str, text: str, term: str = "") -> Code:
    return Code(authors, f"{authors}/01_dot.py", text, f"{authors} {text}", "01_dot", term)


def names(found: LessonPairs) -> list[tuple[str, str]]:
    return [(pair.one.who, pair.two.who) for pair in found.pairs]


def graded(tmp_path: Path, hand_ins: dict[str, str], name: str = "hw1", course: str = "") -> Path:
    for student, text in hand_ins.items():
        classroom.hand_in(tmp_path / name, student, text)
    classroom.run(tmp_path / name, tmp_path / f"{name}-out", course=course)
    return tmp_path / f"{name}-out"


CLASS = {"ada": ORIGINAL, "bob": OTHERS[0], "eve": DISGUISED, "joe": OTHERS[1], "kim": OTHERS[2], "lea": "x = 1\n"}


def test_a_copy_with_other_names_order_comments_and_inserted_lines_is_the_first_and_only_far_out_pair() -> None:
    found = compare("01_dot", [of(student, text) for student, text in CLASS.items()])
    assert names(found)[0] == ("ada", "eve")
    assert [pair.is_far_out for pair in found.pairs].count(True) == 1
    assert found.pairs[0].similarity > 0.6 > 4 * max((pair.similarity for pair in found.pairs[1:]), default=0)
    assert (found.pairs[0].rank, len(found.similarities)) == (1, 15)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("values", "größe"),
        lambda text: re.sub("#.*", "# 🦊", text).replace('"""My answer."""', "'''Other\n\nwords.'''"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("    ", "\t").replace("(values, weights)", "(\n  values,\n  weights,\n)"),
        lambda text: text.replace("2", "0x_ff").replace(" = ", "="),
    ],
)
def test_changes_of_names_comments_layout_and_numbers_change_no_token(change: Callable[[str], str]) -> None:
    assert change(ORIGINAL) != ORIGINAL
    assert tokens_of(change(ORIGINAL)).codes.tolist() == tokens_of(ORIGINAL).codes.tolist()


def test_names_of_libraries_and_operators_are_tokens_of_their_own() -> None:
    codes = [
        tuple(tokens_of(text).codes) for text in ("x.mean(y)", "x.median(y)", "x + y", "x - y", "len(x)", "sum(x)")
    ]
    assert len(set(codes)) == 6


def test_c_code_in_a_string_is_compared_as_well_as_python() -> None:
    one = C.format(comment="", data="data", size="size", crc="crc")
    two = C.format(comment="/* mine */ // really", data="bytes", size="n", crc="sum")
    three = one.replace("for (int bit = 0; bit < 8; bit++)", "while (size--)").replace("? crc >> 1 ^ 0xEDB88320", "? 7")
    found = compare("14_extensions", [of("ada", one), of("bob", two), of("eve", three)])
    assert found.pairs[0].similarity == 1
    assert names(found)[0] == ("ada", "bob")
    assert found.pairs[1].similarity < 0.9


def test_code_of_the_exercise_and_code_that_most_of_the_class_has_is_left_out() -> None:
    task = "def given(a, b):\n    table = {}\n    for x in range(a):\n        table[x] = [b] * x\n    return table\n"
    with_stub = [of("ada", task + OTHERS[1]), of("bob", task + OTHERS[2])]
    assert compare("01_dot", with_stub, task).pairs == ()
    assert compare("01_dot", with_stub).pairs[0].similarity > 0.3
    many = [of(f"s{number}", task + f"y = {'[' * number}{']' * number}\n") for number in range(COMMON_LEAST)]
    assert compare("01_dot", many[:-1]).pairs
    assert compare("01_dot", many).pairs == ()


def test_an_older_attempt_is_compared_too_but_no_two_attempts_of_one_student() -> None:
    codes = [of("ada", ORIGINAL), of("ada", OTHERS[0]), of("bob", OTHERS[1]), of("bob", DISGUISED)]
    (pair,) = compare("01_dot", codes).pairs
    assert (pair.one.text, pair.two.text) == (ORIGINAL, DISGUISED)


def test_pairs_across_terms_are_listed_and_pairs_within_an_earlier_term_are_not() -> None:
    old = [of("zoe", ORIGINAL, "earlier term 1"), of("yan", DISGUISED, "earlier term 1")]
    found = compare("01_dot", [of("ada", DISGUISED), of("bob", OTHERS[1]), *old])
    assert {("ada", "zoe (earlier term 1)"), ("ada", "yan (earlier term 1)")} <= set(names(found))
    assert all(pair.one.term == "" for pair in found.pairs)
    assert len(found.similarities) == 5


def test_three_students_with_the_same_code_are_one_cluster() -> None:
    texts = [ORIGINAL, DISGUISED, ORIGINAL.replace("kept", "x"), *OTHERS]
    found = compare("01_dot", [of(f"s{number}", text) for number, text in enumerate(texts)])
    assert found.clusters() == [["s0", "s1", "s2"]]


@pytest.mark.parametrize(
    "text",
    ["", "\0" * 300_000, "(" * 300_000, "x." * 150_000, '"' * 300_001, "\n" * 300_000, " " * 300_000, "/*" * 150_000,
     'x = """;' + "/*" * 150_000, "\\" * 300_000, "if x:\n" + "".join(" " * n + "if x:\n" for n in range(700)),
     "é\u202e\ud800" * 100_000, "PK\3\4\xff\xfe" * 9, "f'{" * 90_000, "def " * 80_000, "'''" + "\\'" * 150_000],
)  # fmt: skip
@pytest.mark.long
def test_text_that_is_no_python_is_compared_without_a_crash(text: str) -> None:
    found = compare("01_dot", [of("ada", text), of("bob", text + ORIGINAL), of("eve", ORIGINAL)], text)
    assert found.cut == 2 * (len(text) > 200_000)


def test_a_line_of_a_notebook_has_the_number_of_its_cell() -> None:
    assert line_names("# cell 2\nx = 1\n\n# cell 5\ny = 2", notebook=True)[1::3] == ["2:1", "5:1"]
    assert line_names("# cell 2\nx = 1", notebook=False) == ["1", "2"]


def test_the_command_writes_the_same_page_each_time_and_prints_the_most_similar_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = graded(tmp_path, CLASS)
    pages = []
    for _ in range(2):
        assert run_grader(["similar", str(out)]) == 0
        pages.append((out / "similar.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert "ada – eve" in capsys.readouterr().out
    assert "<bdi>ada</bdi>, <bdi>ada/01_dot.py</bdi>" in pages[0]
    assert "<mark>▌    return math.sqrt(sum(w * (v - middle) ** 2" in pages[0]
    assert not re.search("plagia|cheat|guilt|fraud|misconduct|verdict", pages[0].casefold().partition("</style>")[2])


def test_names_and_code_with_markup_stay_text(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    spread = ORIGINAL.replace('"""My answer."""', f"mark = '''</pre><script>{evil}'''")
    out = graded(tmp_path, {evil: spread, "bob": spread + "\n", "eve": OTHERS[0]})
    assert run_grader(["similar", str(out)]) == 0
    page = (out / "similar.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;&lt;img" in page
    assert "<img" not in page
    assert "<script" not in page


def test_a_small_class_is_told_that_the_distribution_says_little(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = graded(tmp_path, {"ada": ORIGINAL, "bob": OTHERS[0]})
    assert run_grader(["similar", str(out)]) == 0
    assert "the distribution says little" in capsys.readouterr().out


def test_attempts_struck_by_the_course_file_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = graded(tmp_path, {"ada": ORIGINAL, "bob": DISGUISED, "eve": OTHERS[0]})
    digest = classroom.collected(tmp_path / "hw1").submissions[1].sha256
    out = graded(tmp_path, {}, course=f'[struck.bob]\n01_dot = ["{digest[:12]}"]\n')
    assert run_grader(["similar", str(out)]) == 0
    assert "bob" not in capsys.readouterr().out


def test_students_with_one_file_are_authors_together_and_no_pair() -> None:
    files = [
        sources.CodeFile(student, "01_dot", path, ("hw1", path, path), ORIGINAL, None)
        for student, path in (("bob", "group/a.py"), ("ada", "group/a.py"), ("eve", "eve/a.py"))
    ]
    found = compare("01_dot", list(sources.codes(files)))
    assert names(found) == [("ada and bob", "eve")]
    assert found.pairs[0].is_same_text


def test_team_mates_are_no_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team = '[teams.foxes]\nstudents = ["ada", "bob"]\n'
    out = graded(tmp_path, {"ada": ORIGINAL, "bob": DISGUISED, "eve": ORIGINAL + "\n"}, course=team)
    assert run_grader(["similar", str(out)]) == 0
    assert "2 authors, 1 pair." in (said := capsys.readouterr().out)
    assert "ada and bob – eve" in said


@pytest.mark.parametrize("as_journal", [True, False])
def test_an_earlier_term_is_read_from_its_grades_or_from_its_hand_ins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_journal: bool
) -> None:
    out = graded(tmp_path, {"ada": DISGUISED, "bob": OTHERS[0]})
    before = graded(tmp_path, {"zoe": ORIGINAL}, "last-year")
    place = before if as_journal else tmp_path / "last-year"
    code = run_grader(["similar", str(out), "--earlier", str(place)])
    said = capsys.readouterr()
    if as_journal:
        assert code == 0
        assert "ada – zoe (earlier term 1)" in said.out
    else:  # the lessons of this class are not those of the kit
        assert code == 2
        assert "contains no hand-in" in said.err
    real = tmp_path / "real" / "zoe" / "04_autorange.py"
    real.parent.mkdir(parents=True)
    real.write_text(paths.solution("04_autorange").read_text(encoding="utf-8"), encoding="utf-8")
    (found,) = sources.of_earlier(tmp_path / "real")
    assert (found.student, found.lesson) == ("zoe", "04_autorange")


def test_the_input_of_dolos_has_a_row_for_each_file_and_the_exercise_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, to = graded(tmp_path, {"ada": ORIGINAL, "=1+1, O'Neil": OTHERS[0]}), tmp_path / "dolos"
    assert run_grader(["similar", str(out), "--export", "dolos", str(to)]) == 0
    with (to / "01_dot" / "info.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["full_name"] for row in rows} == {"ada", "=1+1, O'Neil"}
    assert (to / "01_dot" / rows[1]["filename"]).read_text(encoding="utf-8") == ORIGINAL
    assert (to / "01_dot" / "stub.py").exists()
    assert "dolos run -f web -l python -i stub.py info.csv" in capsys.readouterr().out
    assert run_grader(["similar", str(out), "--export", "dolos", str(to)]) == 2


def test_the_input_of_jplag_has_a_folder_for_each_student_and_one_of_earlier_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, before = graded(tmp_path, {"ada": ORIGINAL}), graded(tmp_path, {"zoe": DISGUISED}, "last-year")
    to = tmp_path / "jplag"
    assert run_grader(["similar", str(out), "--earlier", str(before), "--export", "jplag", str(to)]) == 0
    files = sorted(str(file.relative_to(to / "01_dot")) for file in to.rglob("*.py"))
    assert re.sub("zoe-[^/]*", "zoe", " ".join(files)) == "base/01_dot.py earlier/zoe/01_dot.py students/ada/01_dot.py"
    assert "java -jar jplag.jar -l python3 -bc base -r result -old earlier -new students" in capsys.readouterr().out
