"""Which attempts are within a quota, how many are left, and when the next one comes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from grader.course.quota import Quota, TokenBucket, fill

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
START = datetime(2026, 11, 20, tzinfo=UTC)

quotas = st.builds(Quota, st.integers(1, 4), st.none() | st.integers(1, 8).map(lambda hours: hours * HOUR))
arrivals = st.lists(st.tuples(st.none() | st.integers(0, 40), st.booleans()), max_size=12).map(
    lambda found: sorted(
        ((None if quarter is None else START + quarter * HOUR / 2, costs) for quarter, costs in found),
        key=lambda one: (one[0] is not None, one[0] or START),
    )
)


def simulated(quota: Quota, given_: list[tuple[datetime | None, bool]]) -> list[bool]:
    """Return which attempts are within the quota, by going through the time in steps of half an hour."""
    tokens, within = quota.attempts, []
    now: datetime | None = None
    for at, costs in given_:
        while at and now and now < at:
            now += HOUR / 2
            if quota.refill and not (now - datetime(1970, 1, 1, tzinfo=UTC)) % quota.refill:
                tokens = min(quota.attempts, tokens + 1)
        now = now or at
        within.append(not costs or tokens > 0)
        tokens -= costs and tokens > 0
    return within


@given(quotas, arrivals)
def test_the_bucket_is_what_a_slow_simulation_finds(quota: Quota, given_: list[tuple[datetime | None, bool]]) -> None:
    assert fill(quota, given_)[0] == simulated(quota, given_)


@given(quotas, arrivals, st.data())
def test_what_the_machine_caused_never_takes_an_attempt_away(
    quota: Quota, given_: list[tuple[datetime | None, bool]], data: st.DataObject
) -> None:
    """Another attempt stays within the quota if one becomes void, and also if a void one is added or removed."""
    before, _ = fill(quota, given_)
    if given_:
        place = data.draw(st.integers(0, len(given_) - 1))
        void = [(at, costs and index != place) for index, (at, costs) in enumerate(given_)]
        after, _ = fill(quota, void)
        assert all(now for index, (then, now) in enumerate(zip(before, after, strict=True)) if then and index != place)
    at = START + data.draw(st.integers(0, 40)) * HOUR / 2
    place = sum(when is None or when <= at for when, _ in given_)
    more, _ = fill(quota, [*given_[:place], (at, False), *given_[place:]])
    assert all(now for then, now in zip(before, more[:place] + more[place + 1 :], strict=True) if then)


def test_a_quota_says_when_the_next_attempt_comes() -> None:
    quota = Quota(3, 4 * HOUR, ZoneInfo("Europe/Berlin"))
    at = datetime(2026, 11, 20, 14, 35, tzinfo=UTC)  # 15:35 in Berlin
    assert quota.next_refill(at) == datetime(2026, 11, 20, 15, tzinfo=UTC)
    says = "The quota is 3 attempts, and one more every 4 hours. This attempt came 25 minutes too early."
    assert quota.why_not(at) == says
    assert Quota(1).why_not(at) == "The quota is 1 attempt. This attempt is over the quota."
    bucket = TokenBucket(quota)
    assert [bucket.take(at) for _ in range(4)] == [True, True, True, False]
    assert (bucket.left(at - 9 * HOUR), bucket.left(at), bucket.left(at + 25 * MINUTE)) == (0, 0, 1)
