"""Waiting for a busy database, and retries after a lost connection."""

import os
import random
import time
from collections.abc import Callable
from typing import TypeVar

from askmeans.exceptions import ParameterError, StoreBusyError, StoreLostError

T = TypeVar("T")

BUSY_SECONDS = 30.0
_FIRST, _LONGEST = 0.02, 1.0  # seconds between two attempts; each pause is twice the last


def busy_seconds() -> float:
    """Seconds to wait for other writers: ASKMEANS_BUSY_SECONDS, or 30."""
    text = os.environ.get("ASKMEANS_BUSY_SECONDS", "")
    try:
        return float(text) if text else BUSY_SECONDS
    except ValueError as error:
        raise ParameterError(
            f"ASKMEANS_BUSY_SECONDS must be a number of seconds. Got {text!r} instead."
        ) from error


def no_connection(url: str) -> StoreBusyError:
    """The error of a pool whose connections are all in use."""
    return StoreBusyError(
        f"{url} must have a connection free. Got all of this program's in use; try again in a "
        "moment, or start another server. Nothing was changed."
    )


def retried(work: Callable[[], T], seconds: float) -> T:
    """Do work that may be done twice; retry after a lost connection, for so many seconds."""
    end, pause = time.monotonic() + seconds, _FIRST
    while True:
        try:
            return work()
        except StoreLostError:
            if time.monotonic() + pause > end:
                raise
        time.sleep(random.uniform(0.5 * pause, pause))
        pause = min(2.0 * pause, _LONGEST)
