"""Fitting models in a thread of its own, so that people who answer need not wait."""

import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from askmeans._util.background import background_pool
from askmeans._util.warning_notes import collect_warnings
from askmeans.policy.stratified import StratifiedPolicy

# Number of people who asked for questions in the last seconds that makes a crowd: then questions
# have priority, and after a fit no model is fitted for so many times its duration.
_CROWD, _LATELY, _REST = 5, 10.0, 3.0


class Learner:
    """Fits the models of a session's policy when they are due.

    Before `start` it does nothing: models are fitted by whoever asks for questions.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fit: Future[None] | None = None  # the last one
        self._duration, self._ended = 0.0, -math.inf  # of the last fit
        self._requests: dict[str, float] = {}  # annotator -> time of the last request

    def start(self) -> None:
        """Fit models in a thread of its own from now on."""
        self._pool = self._pool or background_pool(1, "models")

    def close(self) -> None:
        """End the thread."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def note_request(self, annotator: str) -> None:
        """Note that an annotator asked for questions."""
        self._requests[annotator] = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether many people answer at once."""
        now = time.monotonic()
        return sum(now - at < _LATELY for at in list(self._requests.values())) >= _CROWD

    def learn(self, policy: StratifiedPolicy) -> None:
        """Fit models when due; in a crowd no one waits for them, and they pause.

        One thread takes all memory for fitting: the allocator keeps for each thread what that
        thread once took.
        """
        if self._pool is None:
            return
        policy.learns_aside = True
        policy.propose(0)  # current, unless models are due
        if not policy.is_behind:
            return
        with self._lock:
            is_busy, fit = self.is_busy, self._fit
            if fit is None or fit.done():
                if is_busy and time.monotonic() - self._ended < _REST * self._duration:
                    return
                fit = self._fit = self._pool.submit(self._catch_up, policy)
        if not is_busy:
            fit.result()

    def _catch_up(self, policy: StratifiedPolicy) -> None:
        """Let the policy fit models, and note the duration."""
        began = time.monotonic()
        try:
            collect_warnings(policy.catch_up)
        finally:
            self._ended = time.monotonic()
            self._duration = self._ended - began
