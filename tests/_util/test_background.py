"""Threads of a background pool, and those that they start, give way to others."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from askmeans._util.background import background_pool


def priority():
    return os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
def test_background_threads_have_a_lower_priority_and_leave_others_theirs():
    before = priority()

    def started_there():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(priority).result()

    with background_pool(1, "test") as pool:
        own, started = pool.submit(priority).result(), pool.submit(started_there).result()
    assert own == started > min(before, 18)
    assert priority() == before


def test_a_background_pool_has_as_many_threads_as_asked_for_with_its_name():
    both = threading.Barrier(2, timeout=60)
    with background_pool(2, "named") as pool:
        jobs = [
            pool.submit(lambda: (both.wait(), threading.current_thread().name)) for _ in range(2)
        ]
        names = {job.result()[1] for job in jobs}
    assert len(names) == 2
    assert all(name.startswith("named") for name in names)
