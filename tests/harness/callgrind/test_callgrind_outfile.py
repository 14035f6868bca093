import pytest

from harness.callgrind import outfile

PROFILE = """# callgrind format
positions: line
events: Ir
fl=(1) words.c
fn=(1) main
10 5
cfn=(2) next_word
calls=3 20
11 60
cfn=(2)
calls=2 20
12 40
fn=(2)
20 70
cfi=(2) letters.c
cfn=(3) is_letter
calls=15 30
21 30
fl=(2)
fn=(3)
30 30
totals: 105
"""


def profile() -> outfile.Profile:
    return outfile.parse(PROFILE.splitlines())


def test_a_function_has_exclusive_and_inclusive_instructions() -> None:
    assert profile().exclusive == {"words.c:main []": 5, "words.c:next_word []": 70, "letters.c:is_letter []": 30}
    assert profile().inclusive == {"words.c:main []": 105, "words.c:next_word []": 100, "letters.c:is_letter []": 30}
    assert profile().total == 105
    assert profile().calls == {"words.c:next_word []": 5, "letters.c:is_letter []": 15}


def test_the_instructions_of_a_recursive_call_are_counted_once() -> None:
    recursive = PROFILE.replace("30 30\ntotals", "30 30\ncfn=(3)\ncalls=5 30\n31 20\ntotals")
    assert outfile.parse(recursive.splitlines()).inclusive == profile().inclusive


def test_a_text_without_a_total_or_with_other_events_is_not_a_profile() -> None:
    with pytest.raises(outfile.ProfileError, match="no total"):
        outfile.parse(PROFILE.replace("totals", "subtotals").splitlines())
    with pytest.raises(outfile.ProfileError, match="not instructions"):
        outfile.parse(PROFILE.replace("Ir", "Dr Ir").splitlines())
