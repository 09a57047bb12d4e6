import threading
import time

import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished, map_steps, relay


def test_what_the_work_returns_or_raises_comes_out():
    def result_of(work):
        return finished(relay(work))

    assert result_of(lambda report: 7) == 7
    with pytest.raises(InputError, match="no"):
        result_of(lambda report: (_ for _ in ()).throw(InputError("no")))


def test_a_stop_ends_the_work_at_its_next_report():
    seen, ended = [], threading.Event()

    def work(report):
        try:
            for step in range(100):
                report(step / 100)
                time.sleep(0.05)
        finally:
            ended.set()

    steps = relay(work)
    seen.append(next(steps))
    steps.close()
    assert ended.wait(5)
    assert 0 <= seen[0] < 0.5


def test_mapped_steps_have_the_same_result_and_pass_a_stop_on():
    ended = []

    def count():
        try:
            yield from (1, 2, 3)
            return "done"
        finally:
            ended.append(True)

    def collect(seen):
        result = yield from map_steps(count(), lambda number: seen.append(10 * number))
        return result, seen

    assert finished(collect([])) == ("done", [10, 20, 30])
    steps = map_steps(count(), str)
    assert next(steps) == "1"
    steps.close()
    assert ended == [True, True]
