"""Threads for work that must not slow down people who wait."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

# On two busy cores, with the database in memory, the slowest twentieth of the answers of 100 people
# took 0.7 s with 0, 0.2 s with 5 and 0.16 s with 12; with 12, beside other programs, results took
# half a minute (benchmarks/web.py --annotators 100).
_NICENESS = 5


def background_pool(n_threads: int, name: str) -> ThreadPoolExecutor:
    """A pool of threads that have a low priority, as have the threads that these start."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix=name, initializer=_lower_priority)


def _lower_priority() -> None:
    if sys.platform == "linux":  # elsewhere a priority is a process's, not a thread's
        priority = os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), priority)
