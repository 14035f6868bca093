"""The texts about other ways: they agree with the known submissions, and are printed with their ratios."""

from grader import catalogue, ways
from grader.authoring import task_texts
from grader.task import tier_of
from grader.ways import ways_of


def test_the_texts_are_those_of_the_example_submissions_and_each_ratio_reaches_their_tier() -> None:
    for task in catalogue.all_tasks():
        found = ways_of(task)
        assert task_texts.written_ways(task, found) == found, f"{task.full_name}: run `python -m grader stubs`"
        tiers = {task_texts.row_name(path.stem): int(path.stem[4]) for path in task_texts.ways_in(task)}
        assert all(way.ratio is None or tier_of(way.ratio, task.tiers) == tiers[way.name] for way in found.ways)
    assert ways.as_bytes(ways.read()) == ways.FILE.read_bytes()
