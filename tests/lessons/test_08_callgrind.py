"""Tests of lesson 08: its explanations for made-up counts, and the two scripts of its second step."""

import importlib

import pytest
from sessions import Play, explained
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats, FunctionCount, FunctionCounts

from harness.callgrind import Counted, count_scripts, lacking, lookups
from lessons.engine.lesson import Lesson

MODULE = importlib.import_module("lessons.08_callgrind")
SEARCH = "???:0x0000000000530910 [/usr/bin/python3.13]"
EVAL = "???:_PyEval_EvalFrameDefault [/usr/bin/python3.13]"
NAMED = "Objects/dictobject.c:unicodekeys_lookup_unicode [/usr/lib/libpython3.11.so.1.0]"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


def counts(*rows: tuple[int, str]) -> FunctionCounts:
    return FunctionCounts(tuple(FunctionCount(*row) for row in rows), False)


def collected(*rows: tuple[int, str]) -> CallgrindStats:
    none, own = counts(), counts(*rows)
    return CallgrindStats(TaskSpec("x * y", "pass"), 100, False, none, none, own, own, None)


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (frozenset(), "refuted", "neither by name nor by an experiment"),
        (frozenset({"???:0x0000000000530910"}), "held", "without the names of its internal functions"),
    ],
)
def test_the_text_explains_how_the_search_was_found_in_a_python_without_names(
    prepare: Play,
    lesson: Lesson,
    monkeypatch: pytest.MonkeyPatch,
    found: frozenset[str],
    standing: str,
    words: str,
) -> None:
    monkeypatch.setattr(lookups, "nameless", lambda: found)
    runs = tuple(collected((more, SEARCH), (900, EVAL)) for more in (300, 200))
    printed, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings == {"python-varies": "held", "lookups-are-noise": standing}
    assert words in printed
    assert "it removed nothing" in printed


def test_a_repeat_without_any_search_refutes_that_each_has_some(prepare: Play, lesson: Lesson) -> None:
    runs = (collected((300, NAMED), (900, EVAL)), collected((900, EVAL), (5, "Objects/dictobject.c:lookup [/x]")))
    _, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings["lookups-are-noise"] == "refuted"


def test_the_text_says_that_a_search_with_a_name_was_found_by_name(prepare: Play, lesson: Lesson) -> None:
    runs = (collected((300, NAMED), (900, EVAL)),) * 2
    printed, standings = explained(prepare, lesson, "a_statement_of_torch", {"Python": Counted(runs)})
    assert standings == {"python-varies": "refuted", "lookups-are-noise": "held"}
    assert "finds the searches by the names of their functions" in printed


@pytest.mark.skipif(bool(lacking()), reason="needs valgrind")
def test_the_two_loops_of_the_second_step_execute_as_many_instructions() -> None:
    """An earlier example filled memory. Callgrind counted its `rep stosb` once per byte, as 50 million instructions."""
    n = 20_000
    setup = MODULE.two_orders(n)
    alone, in_order, jumping = count_scripts([setup, f"{setup}visit(in_order)\n", f"{setup}visit(jumping)\n"])
    loop = in_order.instructions - alone.instructions
    assert loop > 10 * n
    assert abs(jumping.instructions - in_order.instructions) < 0.01 * n
    by_function = jumping.exclusive - alone.exclusive
    assert by_function.filter(lambda function: "memset" in function or "memcpy" in function).sum() < 0.01 * loop


@pytest.mark.skipif(bool(lacking()), reason="needs valgrind")
def test_a_count_contains_the_instructions_of_all_threads() -> None:
    """So the lesson must not state that a count leaves out the work of other cores."""
    work = "import threading\ndef work():\n    for _ in range(100_000): pass\n"
    threads = "each = [threading.Thread(target=work) for _ in range(NUMBER)]\n[t.start() for t in each]\n"
    one, three = count_scripts([work + threads.replace("NUMBER", number) for number in ("1", "3")])
    (alone,) = count_scripts([work + "work()\n"])
    (nothing,) = count_scripts([work])
    loop = alone.instructions - nothing.instructions
    assert three.instructions - one.instructions > 1.5 * loop


def test_both_lists_of_the_second_step_contain_the_same_numbers_in_different_orders() -> None:
    names: dict[str, list[int]] = {}
    exec(MODULE.two_orders(5_000), names)  # noqa: S102 - code of the lesson
    assert sorted(names["jumping"]) == names["in_order"] == list(range(5_000))
    assert all(abs(a - b) >= 1_000 for a, b in zip(names["jumping"], names["jumping"][1:], strict=False))


@pytest.mark.parametrize(
    ("jumping_s", "standing", "words"),
    [
        ([3.0, 3.5], "held", "Callgrind does not count this waiting"),
        ([1.1, 1.2], "refuted", "the difference is small"),
        ([1.1, 3.0], "inconclusive", "does not show clearly"),
    ],
)
def test_the_second_step_has_words_for_fast_and_for_slow_memory(
    prepare: Play, lesson: Lesson, jumping_s: list[float], standing: str, words: str
) -> None:
    orders = MODULE.Orders(1_000, 50_000, 50_000, [1.0, 1.0], jumping_s)
    printed, standings = explained(prepare, lesson, "a_count_is_no_time", orders)
    assert standings == {"same-count": "held", "no-fixed-price": standing}
    assert words in printed


@pytest.mark.parametrize(("lost", "words"), [(0, ""), (1, "Functions without a name: 1 of 249.")])
def test_functions_without_a_name_are_mentioned_if_there_are_any(lost: int, words: str) -> None:
    assert MODULE.lost_names(lost, 249)[: len(words)] == words
    assert bool(MODULE.lost_names(lost, 249)) == bool(words)


@pytest.mark.parametrize(
    ("more", "option"), [(-5.0, "{128} × {128}"), (0.0, "both take the same number"), (7.0, "the broadcast")]
)
def test_the_question_about_the_broadcast_has_an_option_for_each_difference(more: float, option: str) -> None:
    assert MODULE.what_a_broadcast_costs.predict.judge(None, more).truth.endswith(option)


@pytest.mark.parametrize(
    ("function", "name", "file"),
    [
        (EVAL, "_PyEval_EvalFrameDefault", "[python3.13]"),
        (NAMED, "unicodekeys_lookup_unicode", "Objects/dictobject.c"),
        ("???:at::(anonymous namespace)::add(int, c10::X) [/a/libtorch_cpu.so]", "at::add", "[libtorch_cpu.so]"),
        ("???:at::mul(int)", "at::mul", "???"),
        ("./malloc/./malloc/malloc.c:malloc [/a/libc.so.6]", "malloc", "malloc/malloc.c"),
        ("???:(below main) [/a/libc.so.6]", "(below main)", "[libc.so.6]"),
    ],
)
def test_names_and_files_are_extracted_from_the_names_of_callgrind(function: str, name: str, file: str) -> None:
    assert MODULE.function_name(function) == name
    assert MODULE.group_by_file(function) == file


@pytest.mark.parametrize(
    ("malloc", "standing", "option"), [(30, "held", "10 % to 40 %"), (2, "refuted", "less than 10 %")]
)
def test_the_filters_keep_a_part_of_the_whole_count(
    prepare: Play, lesson: Lesson, malloc: int, standing: str, option: str
) -> None:
    memory, lock, rest = (malloc, "m.c:malloc [/a]"), (20, "p.c:mutex_lock [/a]"), (50, "e.c:eval [/a]")
    own = counts(memory, lock, rest)
    found = MODULE.Filtered(own, own.filter(MODULE.manages_memory), own.filter(MODULE.yours), counts(rest))
    printed, standings = explained(prepare, lesson, "a_filter", found)
    assert standings == {"memory-matters": standing, "filters-add-up": "held"}
    assert f"Measured {option[0].upper()}{option[1:]}. manages_memory keeps" in printed
    assert "mutex_lock" in printed


def test_a_function_that_two_filters_keep_is_added_up_once(prepare: Play, lesson: Lesson) -> None:
    both, rest = counts((10, "m.c:mutex_alloc [/a]")), counts((50, "e.c:eval [/a]"))
    found = MODULE.Filtered(both + rest, both, both, rest)
    _, standings = explained(prepare, lesson, "a_filter", found)
    assert standings["filters-add-up"] == "held"


@pytest.mark.parametrize(
    ("by_value", "standing", "words"),
    [(170, "held", "operations mul and sum take most instructions"), (300, "refuted", "a visible part")],
)
def test_the_copies_of_a_batched_dot_product_are_compared_with_its_work(
    prepare: Play, lesson: Lesson, by_value: int, standing: str, words: str
) -> None:
    rows = ((44, "a.cpp:by_value(at::Tensor)"), (14, "a.cpp:by_reference(at::Tensor)"))
    dots = ((by_value * 100, "a.cpp:dots_by_value(at::Tensor)"), (16_900, "a.cpp:dots_by_reference(at::Tensor)"))
    loops = MODULE.Loops(counts(*rows, *dots), 1)
    printed, standings = explained(prepare, lesson, "by_value_by_reference", loops)
    assert standings == {"copy-costs": "held", "dot-hides-copy": standing}
    assert words in printed
    assert "Measured 30 instructions." in printed


def test_a_chain_that_loses_counts_is_noticed(prepare: Play, lesson: Lesson) -> None:
    plain, delta = counts((100, "a.cpp:f(int)"), (40, "???:fast_set_up(int)")), counts((5, "a.cpp:f(int)"))
    found = MODULE.Difference(plain, delta, counts(), counts((4, "f")))
    _, standings = explained(prepare, lesson, "what_a_broadcast_costs", found)
    assert standings["chain-keeps-sum"] == "refuted"
    assert standings["difference-adds-up"] == "held"
