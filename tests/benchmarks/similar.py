"""Measure whether `similar` finds copies in disguise, and how similar different answers are.

    python tests/benchmarks/similar.py               # a minute

For each lesson, a class is made of the known answers of its tasks, a different answer for each student if there are
enough. Copies of some students' files are added, each in disguise: other names, another order of functions, no
comments, and inserted lines that do nothing. The known answers of a task were written by few people, and some differ
in one line only, so they are more similar than the answers of a real class.
"""

import argparse
import ast
import random
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))

from styles import REWRITTEN

from grader import catalogue, paths
from grader.authoring import stubs
from grader.similarity.pairs import Code, compare
from grader.similarity.tokens import tokens_of

COPIES: Final = 3
LEAST_TOKENS: Final = 60
"""Shorter answers are left out. Independent answers of five lines may agree, so no tool can recognise a copy."""


def answers(lesson: str) -> Iterator[list[str]]:
    """Yield the texts of all known answers to each task of a lesson, without those of wrong answers."""
    for task in sorted((paths.TASKS / paths.package_of(lesson) / "known").iterdir()):
        texts = [file.read_text(encoding="utf-8") for file in sorted(task.glob("*.py")) if file.stem[:5] != "wrong"]
        yield [text for text in texts if len(tokens_of(text).codes) >= LEAST_TOKENS]


def disguised(source: str, rng: random.Random, names: list[str]) -> str:
    """Return a copy with other names and function order, without comments, and with lines that do nothing."""
    tree = ast.parse(REWRITTEN["names that are not English"](source, names))
    helpers = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in names]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    others = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    rng.shuffle(functions)
    tree.body = [*others, *functions]
    lines = []
    for line in ast.unparse(tree).splitlines():
        lines.append(line)
        if re.fullmatch(r"\s+(?!return|raise|@)[\w.]+ = .*[^\\,(\[{:]", line) and rng.random() < 0.2:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}unused{rng.randrange(99)} = {rng.randrange(99)} * {rng.randrange(99)}")
    text = "\n".join(lines)
    for number, helper in enumerate(helpers):
        text = re.sub(rf"\b{helper}\b", f"part_{number}", text)
    if '"""' not in text and "\\n#include" in text:  # C code, which `unparse` writes in one line
        text = re.sub(r"\b(table|crc|size|data|word|bit|fill|of_word)\b", r"my_\1", text)
    return text


def class_of(lesson: str, rng: random.Random) -> tuple[list[Code], list[tuple[str, str]]]:
    """Return the hand-ins of a class for a lesson, and the pairs of which one copied from the other."""
    solution = paths.solution(lesson).read_text(encoding="utf-8")
    of_tasks = [rng.sample(found, len(found)) for found in answers(lesson) if found]
    number = max(map(len, of_tasks))
    texts = ["\n\n".join(found[at % len(found)] for found in of_tasks) for at in range(number)]
    codes = [Code(f"s{at:02}", "a.py", text, f"s{at}") for at, text in enumerate([*texts, solution])]
    texts.append(solution)
    names = [name for task in catalogue.load().tasks(lesson) for name in task.functions]
    pairs = []
    for at in rng.sample(range(len(texts)), min(COPIES, len(texts))):
        codes.append(Code(f"c{at:02}", "a.py", disguised(texts[at], rng, names), f"c{at}"))
        pairs.append((f"c{at:02}", f"s{at:02}"))
    return codes, pairs


def described(values: list[float]) -> str:
    """Return quantiles of similarities as text."""
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    return f"5 % {low:.2f}, median {middle:.2f}, 95 % {high:.2f}"


def main() -> int:
    """Print, for each lesson, the ranks of the copies and the similarities of the other pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, default=10, help="classes per lesson")
    options = parser.parse_args()
    in_top = far_out = others_far_out = 0
    of_copies, of_others = list[float](), list[float]()
    for lesson in catalogue.load().lessons:
        stub = stubs.stub_of(paths.solution(lesson).read_text(encoding="utf-8"))
        copies, others, ranks = list[float](), list[float](), list[int]()
        for seed in range(options.classes):
            codes, planted = class_of(lesson, random.Random(f"{lesson} {seed}"))
            found = {(pair.one.authors, pair.two.authors): pair for pair in compare(lesson, codes, stub, 10**6).pairs}
            students = [code.authors for code in codes if code.authors[0] == "s"]
            for pair in (found.get(one) for one in planted):
                copies.append(pair.similarity if pair else 0.0)
                ranks.append(pair.rank if pair else 10**6)
                far_out += bool(pair and pair.is_far_out)
            for pair in (found.get(one) for one in combinations(students, 2)):
                others.append(pair.similarity if pair else 0.0)
                others_far_out += bool(pair and pair.is_far_out)
        in_top += sum(rank <= COPIES for rank in ranks)
        of_copies += copies
        of_others += others
        print(f"{lesson:24} copies: {described(copies)}, worst place {max(ranks):3}   others: {described(others)}")
    print(
        f"{in_top} of {len(of_copies)} copies among the {COPIES} most similar pairs of their class, {far_out} far out"
    )
    print(f"{others_far_out} of {len(of_others)} other pairs far out")
    print(f"all copies: {described(of_copies)}\nall others: {described(of_others)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
