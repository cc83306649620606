"""Who does the work of a command: this machine, or a Dask cluster."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from askmeans.exceptions import MissingExtraError, ParameterError

__all__ = ["workers"]


def workers(
    engine: str, scheduler: str | None, *, memory: int | None = None
) -> AbstractContextManager[Any]:
    """The cluster of --engine dask, at the scheduler's address or made here; nothing for others."""
    if engine != "dask":
        if scheduler is not None:
            raise ParameterError(
                "The 'scheduler' parameter must be left out without --engine dask. "
                f"Got {scheduler!r} instead."
            )
        return nullcontext()
    try:
        from askmeans.fuzzy.engines.dask import connected
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            '--engine dask needs Dask: pip install "askmeans[dask]".'
        ) from error
    return connected(scheduler, memory=memory)
