"""The budget lets a burst through, then a steady trickle, and nothing while Slack has said "later"."""

from handlers.pace import Budget


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_followed_by_one_call_per_interval() -> None:
    time = Time()
    budget = Budget(per_minute=60, burst=3, clock=time)

    assert [budget.take() for _ in range(4)] == [True, True, True, False]
    assert budget.wait_s == 1
    time.now += 1
    assert (budget.take(), budget.take()) == (True, False)


def test_a_minute_never_sees_more_than_the_burst_and_the_rate() -> None:
    time = Time()
    budget = Budget(per_minute=50, burst=20, clock=time)
    taken = 0
    for _ in range(6000):
        taken += budget.take()
        time.now += 0.01

    assert taken <= 20 + 50


def test_a_closed_budget_gives_nothing_until_the_time_is_over_and_no_burst_then() -> None:
    time = Time()
    budget = Budget(per_minute=60, burst=10, clock=time)
    budget.close_for(30)

    assert (budget.take(), budget.left) == (False, 0)
    assert budget.wait_s == 30
    time.now += 30
    assert budget.take()


def test_a_call_that_was_not_needed_is_given_back() -> None:
    budget = Budget(per_minute=60, burst=1, clock=Time())
    assert budget.take()
    budget.give_back()
    assert budget.take()
