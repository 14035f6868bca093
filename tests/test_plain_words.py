import subprocess
from pathlib import Path

import plain_words
import prose
import pytest
from plain_words import Count, Habit, Hit
from prose import Passage

HABITS = plain_words.habits()


def hits(text: str, name: str = "a.md") -> list[Hit]:
    return list(plain_words.found(name, list(prose.passages(name, text)), HABITS))


def long(text: str, name: str = "a.md") -> list[Hit]:
    return list(plain_words.long_ones(name, list(prose.passages(name, text))))


@pytest.mark.program("git")
def test_what_a_command_writes_into_the_folder_of_the_project_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("pack/lessons/04.html", "grades/report.html", "lessons/new.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(plain_words, "ROOT", tmp_path)
    assert plain_words.tracked() == ("README.md", "lessons/new.py")


@pytest.mark.program("git")
def test_no_file_has_more_bad_habits_than_it_may_and_the_allowances_are_as_low_as_can_be() -> None:
    results = plain_words.look(plain_words.tracked())
    counted, allowed = plain_words.counts(results), plain_words.allowed()
    wrong: list[str] = []
    for name in sorted({*counted, *allowed}):
        count, limit = counted.get(name, Count()), allowed.get(name, Count())
        if count.habits > limit.habits:
            wrong += [f"{name}: {count.habits} habits, {limit.habits} allowed", *map(str, results[name][0])]
        if count.long > limit.long:
            wrong += [f"{name}: {count.long} long sentences, {limit.long} allowed", *map(str, results[name][1])]
        if count.habits < limit.habits or count.long < limit.long:
            wrong.append(f"{name}: better than its allowance. Run: {plain_words.LOWER}")
    assert wrong == [], "\n" + "\n".join(wrong)


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.regex.pattern)
def test_a_pattern_matches_its_example_and_not_its_plain_form(habit: Habit) -> None:
    assert habit.regex.search(habit.example)
    assert not habit.regex.search(habit.plain)


def test_no_pattern_is_listed_twice() -> None:
    assert len({habit.regex.pattern for habit in HABITS}) == len(HABITS)


def test_a_hit_names_the_file_the_line_the_words_and_the_plain_form() -> None:
    (hit,) = hits("Good.\nThe machine is restless.\n")
    assert str(hit) == "a.md:2: 'restless': noisy"


def test_words_are_found_across_the_end_of_a_line() -> None:
    (hit,) = hits('def f():\n    """Fork it.\n\n    It had\n    better be warm.\n    """\n', "a.py")
    assert (hit.line, hit.words) == (4, "had better")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.py", '"""Doc."""\n\nX = ["a", "it is restless"]\n', 3),
        ("a.py", 'def f(x):\n    return f"machine {x} is restless"\n', 2),
        ("a.py", "x = 1  # the machine\n\n# is quiet\n# or restless\n", 4),
        ("a.html", "<p>\nHow {{ x }}\nrestless</p>", 3),
        ("a.toml", "a = 1\n# restless\n", 2),
    ],
)
def test_strings_docstrings_comments_and_templates_are_read(name: str, text: str, line: int) -> None:
    assert [(hit.file, hit.line) for hit in hits(text, name)] == [(name, line)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "restless = 1\n"),
        ("a.py", 'STATES = {"restless": restless}\n'),
        ("a.py", '"""Return `restless` of the machine."""\n'),
        ("a.md", "Code:\n\n```python\nrestless = 1\n```\n"),
        ("a.html", '<p class="a restless">{{ restless }}{% if restless %}{% endif %}</p>'),
    ],
)
def test_code_is_not_read(name: str, text: str) -> None:
    assert hits(text, name) == []


WORDS = " ".join(["word"] * 26)


def test_a_sentence_of_26_words_is_long_and_one_of_25_is_not() -> None:
    assert len(long(f"Short one. A {WORDS}. Short one.")) == 1
    assert long(" ".join(["Word"] * 25) + ".") == []
    assert "27 words" in str(long(f"A {WORDS}.")[0])


@pytest.mark.parametrize(
    "text",
    [
        f"# {WORDS}",
        f"| {WORDS} | b |",
        f"```\n{WORDS}\n```",
        f"    {WORDS}",
        f"A `{WORDS}` b.",
        "- " + "\n- ".join(["word word word"] * 20),
        "Source: " + "\nStopped by: ".join(["word word word word word word"] * 9),
        "Word.\n\n" + "\n\n".join(["word word word"] * 20),
    ],
)
def test_code_tables_headings_and_lists_are_not_long_sentences(text: str) -> None:
    assert long(text) == []


def test_only_docstrings_are_read_for_sentences_in_python() -> None:
    assert len(long(f'"""{WORDS}."""\n', "a.py")) == 1
    assert len(long(f'X = 1\n"""{WORDS}."""\n', "a.py")) == 1
    assert long(f'print("{WORDS}.")\n', "a.py") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("One. Two! Three? Four.", 4),
        ("It takes 2.5 s, e.g. here. Then `x.y` ends.", 2),
        ("See torch.compile. (It is new.) Done.", 3),
        ("No end", 1),
    ],
)
def test_sentences_end_where_a_reader_sees_their_end(text: str, number: int) -> None:
    assert len(list(prose.sentences(text))) == number


def test_of_two_lines_for_a_file_the_lower_numbers_count(tmp_path: Path) -> None:
    path = tmp_path / "allowed.txt"
    path.write_text("   3   0  a.md\n   2   1  a.md\n   1   1  b c.md\n")
    assert plain_words.allowed(path) == {"a.md": Count(2, 0), "b c.md": Count(1, 1)}


def test_allowances_are_written_one_line_a_file_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "allowed.txt"
    path.write_text(plain_words.lines_of(counted := {"b.md": Count(12, 0), "a.md": Count(0, 3)}))
    assert plain_words.allowed(path) == counted
    assert path.read_text() == "   0   3  a.md\n  12   0  b.md\n"


def test_allowances_may_move_between_files_and_never_rise_together() -> None:
    before = {"a.md": Count(2, 1), "b.md": Count(1, 0)}
    assert "c.md" in plain_words.lower({"c.md": Count(3, 1)}, before)
    for worse in (Count(4, 0), Count(0, 2)):
        with pytest.raises(ValueError, match="more than the 3 and 1 allowed"):
            plain_words.lower({"c.md": worse}, before)


def test_hand_ins_and_generated_files_are_left_out() -> None:
    assert prose.is_read("grader/desk/check.py")
    assert not prose.is_read("lessons/exercises/04_autorange.py")
    assert not prose.is_read("tests/submissions/ada/04_autorange.py")
    assert not prose.is_read("harness/plots.svg")


def test_a_passage_keeps_its_lines_without_its_code_and_indentation() -> None:
    assert Passage("a `b\nc` d\n\n    e", 1).words == "a `…`\nd\n\ne"
    assert hits("It is empty where there\n    is no file.") == []
