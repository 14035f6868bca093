import random

from sessions import MadeUp

from harness.torch_benchmark.result_store import load
from lessons.engine.catalogue import FOLDER

LESSON = MadeUp("06_ab_testing")


def test_the_recorded_counts_come_from_two_environments_and_contain_no_absolute_path() -> None:
    first, second = LESSON.recorded()
    assert first.environment.fingerprint() != second.environment.fingerprint()
    assert first.env != second.env
    path = FOLDER / "recorded" / "06_counts.jsonl"
    assert load(path) == (first, second)
    assert '"/' not in path.read_text(encoding="utf-8")


def test_an_aa_test_of_a_record_with_drift_errs_back_to_back_and_not_in_abba_order() -> None:
    record = [1 + 0.001 * turn for turn in range(400)]
    errors = {name: LESSON.aa_errors(record, order) for name, order in LESSON.ORDERS.items()}
    assert all(len(each) == 10 for each in errors.values())
    assert min(errors["back to back"]) > 0.01
    assert max(map(abs, errors["alternating, ABBA"])) < 0.001


def test_a_quick_pattern_of_the_noise_refutes_nothing_about_the_order() -> None:
    """In each four times, the first and the last are slower. In the order ABBA, these are the two times of A."""
    rng = random.Random(3)
    times = [1 + 0.05 * (at % 4 in {0, 3}) + abs(rng.gauss(0, 0.01)) for at in range(5000)]
    LESSON.check("same_again", times, {"back-to-back-errs": "inconclusive"})
