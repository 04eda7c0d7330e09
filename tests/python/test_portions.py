"""Jobs in portions: workers, order, and errors."""

import os
import threading
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import Error
from aqmlab.runs.portions import KEPT, PORTION_S, Portion, Waiting, Work
from aqmlab.runs.scheduler import Workers, execute


@dataclass(frozen=True)
class Made(Work):
    """A job that records its calls."""

    number: int
    notes: list
    computes: object = None
    keeps: object = None

    def compute(self, progress):
        progress(0.5)
        if self.computes:
            self.computes()
        self.notes.append(("computed", self.number))
        return self.number

    def keep(self, result):
        if self.keeps:
            self.keeps()
        self.notes.append(("kept", result))
        return 10 * result


@dataclass(frozen=True)
class Whose(Work):
    """A job that says which process does it."""

    number: int

    def compute(self, progress):
        return self.number, os.getpid()

    def keep(self, result):
        return (*result, threading.current_thread() is threading.main_thread())


def numbers_of(notes, what):
    return [number for noted, number in notes if noted == what]


@given(st.lists(st.floats(1e-4, 5.0), max_size=200), st.integers(1, 8))
def test_each_job_is_in_one_portion_and_portions_are_small(costs, workers):
    waiting = Waiting(costs)
    waiting.learn(1.0, 1.0)
    portions = list(iter(lambda: waiting.portion(workers), []))
    assert sorted(index for portion in portions for index in portion) == list(range(len(costs)))
    in_order = [costs[index] for portion in portions for index in portion]
    assert in_order == sorted(costs, reverse=True)
    assert all(len(portion) == 1 or sum(costs[i] for i in portion) <= PORTION_S * (1 + 1e-9) for portion in portions)
    # A worker that begins the last portion is at most a part of the then remaining work behind the others.
    left = sum(costs)
    for portion in portions:
        cost = sum(costs[i] for i in portion)
        assert len(portion) == 1 or cost <= left / workers / 4 * (1 + 1e-9)
        left -= cost


def test_results_are_kept_in_order_while_others_are_computed():
    notes = []
    begun = threading.Event()
    # The first result is not stored before the second job is computed.
    jobs = [Made(0, notes, keeps=begun.wait), Made(1, notes, computes=begun.set), Made(2, notes)]
    shares = []
    assert Portion(jobs).perform(shares.append)[0] == [0, 10, 20]
    assert numbers_of(notes, "kept") == numbers_of(notes, "computed") == [0, 1, 2]
    assert shares == pytest.approx([0.5 / 3, 1.5 / 3, 2.5 / 3])


def test_few_results_wait_to_be_stored():
    notes = []
    waiting = []

    def count():
        waiting.append(len(numbers_of(notes, "computed")) - len(numbers_of(notes, "kept")))

    jobs = [Made(number, notes, computes=count, keeps=lambda: time.sleep(0.005)) for number in range(20)]
    Portion(jobs).perform(lambda share: None)
    assert 1 < max(waiting) <= KEPT


def test_an_error_ends_a_portion_after_what_was_computed_is_stored():
    def fail():
        raise Error("no")

    notes = []
    with pytest.raises(Error):
        Portion([Made(0, notes), Made(1, notes, computes=fail), Made(2, notes)]).perform(lambda share: None)
    assert numbers_of(notes, "kept") == [0]
    notes.clear()
    with pytest.raises(Error):
        Portion([Made(0, notes, keeps=fail), Made(1, notes)]).perform(lambda share: None)
    assert numbers_of(notes, "kept") == [1]


@pytest.mark.parametrize("workers", [1, 3])
def test_answers_come_in_the_order_of_the_jobs(workers):
    notes, told = [], []
    jobs = [Made(number, notes, cost=0.01 * (number % 7 + 1)) for number in range(40)]
    with Workers(workers, progress=False) as own:
        assert own.execute(jobs, finished=told.append) == [10 * number for number in range(40)]
    assert sorted(told) == list(range(40))
    assert execute([], progress=False) == []


@pytest.mark.slow
def test_processes_stay_for_the_next_jobs():
    with Workers(2, progress=False) as own:
        own.import_ahead("json")
        found = [own.execute([Whose(number, in_python=True) for number in range(8)]) for _ in range(2)]
    assert [number for number, _, _ in found[0]] == list(range(8))
    processes = [{process for _, process, _ in answers} for answers in found]
    assert len(processes[0] | processes[1]) <= 2
    assert os.getpid() not in processes[0]
    assert not any(in_main for _, _, in_main in found[0])
    for process in processes[0]:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
