"""Progress of long work: reported where it is done, and shown as bars to people.

Bars are silent without a terminal or notebook. Rich is imported only where a bar is made.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

_REPORTS = 100  # of `tracked`, at most
_PROGRESS: ContextVar[Callable[[float], None] | None] = ContextVar("progress", default=None)


@contextmanager
def reporting_progress(report: Callable[[float], None]) -> Iterator[None]:
    """Call `report` with the finished share of the work, or of each pass over data on disk."""
    token = _PROGRESS.set(report)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


def progress_callback() -> Callable[[float], None] | None:
    """The function of `reporting_progress`; None outside of it."""
    return _PROGRESS.get()


def report_progress(share: float) -> None:
    """Report the finished share, to whoever listens."""
    report = progress_callback()
    if report is not None:
        report(share)


@contextmanager
def part_of_progress(start: float, end: float) -> Iterator[None]:
    """Report the work in this context as the part of the whole from one share to another."""
    report = progress_callback() or (lambda _: None)
    with reporting_progress(lambda share: report(start + share * (end - start))):
        yield


def tracked(values: Sequence[T]) -> Iterator[T]:
    """Yield the values, and report the share of those that were yielded."""
    step = -(-len(values) // _REPORTS)
    for number, value in enumerate(values):
        if number % step == 0:
            report_progress(number / len(values))
        yield value


@contextmanager
def answers_bar(budget: int | None) -> Iterator[Callable[[int], None]]:
    """Show the number of answers, and of how many if that is known."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    # The output of an oracle must reach a file although the bar is in a terminal.
    redirect = _is_seen() and sys.stdout.isatty()
    columns = TextColumn("answers"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with _bar(*columns, redirect_stdout=redirect) as bar:
        task = bar.add_task("answers", total=budget)
        yield lambda count: bar.advance(task, count)


@contextmanager
def work_bar(name: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show the finished share of a known amount of work, and the time left."""
    with _bar(*_share_and_times(), speed_estimate_period=3600.0) as bar:
        task = bar.add_task(name, total=total)
        yield lambda weight: bar.advance(task, weight)


@contextmanager
def passes_bar() -> Iterator[None]:
    """Show the number of the pass over the data, and the share of it that was reported."""
    with _bar(*_share_and_times()) as bar:
        task = bar.add_task("pass 1", total=1.0)
        number, before = 1, 0.0

        def watch(share: float) -> None:
            nonlocal number, before
            if share < before:
                number += 1
                bar.reset(task)
            before = share
            bar.update(task, completed=share, description=f"pass {number}")

        with reporting_progress(watch):
            yield


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show a step and its duration, and where it reports progress the time left."""
    from rich.progress import SpinnerColumn

    columns = SpinnerColumn(finished_text="✓"), *_share_and_times()
    with _bar(*columns, speed_estimate_period=3600.0) as bar:
        task = bar.add_task(name, total=None)
        with reporting_progress(lambda share: bar.update(task, completed=share, total=1.0)):
            yield
        bar.update(task, completed=1.0, total=1.0)


def _share_and_times() -> tuple[Any, ...]:
    """The columns of work whose share is known: a bar, the time, and the time left."""
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return (
        TextColumn("{task.description}"), BarColumn(30), TaskProgressColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip


def _bar(*columns: Any, **options: Any) -> "Progress":
    """A bar on standard error; silent in a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    # Not console.is_terminal: FORCE_COLOR makes that true in a pipe.
    return Progress(*columns, console=Console(stderr=True), disable=not _is_seen(), **options)


def _is_seen() -> bool:
    """Whether there is a terminal, or a notebook that can update a bar."""
    if sys.stderr.isatty():
        return True
    from rich.console import Console

    # Without ipywidgets rich would print a line for every move.
    return Console().is_jupyter and find_spec("ipywidgets") is not None
