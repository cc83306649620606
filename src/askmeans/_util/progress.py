"""Progress bars for answers and for work; silent where there is no terminal and no notebook."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["answers_bar", "passes_bar", "stage", "work_bar"]


@contextmanager
def answers_bar(budget: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many questions were answered, of how many if that is known."""
    # Not console.is_terminal: FORCE_COLOR makes that true in a pipe. And what an oracle prints to a
    # file must get there, though the bar has a terminal.
    shown = _is_seen()
    redirect = shown and sys.stdout.isatty()
    columns = (TextColumn("answers"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=Console(stderr=True), disable=not shown, redirect_stdout=redirect
    ) as bar:
        task = bar.add_task("answers", total=budget)
        yield lambda count: bar.advance(task, count)


@contextmanager
def work_bar(name: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show how much of a known amount of work is done, and the time left."""
    columns = (TextColumn(name), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=True))  # fmt: skip
    with Progress(
        *columns, console=Console(stderr=True), disable=not _is_seen(),
        speed_estimate_period=3600.0,
    ) as bar:  # fmt: skip
        task = bar.add_task(name, total=total)
        yield lambda weight: bar.advance(task, weight)


@contextmanager
def passes_bar() -> Iterator[Callable[[float], None]]:
    """Show which pass over the data it is, and how far; called with the share that is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), disable=not _is_seen()) as bar:
        task = bar.add_task("pass 1", total=1.0)
        number, before = 1, 0.0

        def watch(share: float) -> None:
            nonlocal number, before
            if share < before:
                number += 1
            before = share
            bar.update(task, completed=share, description=f"pass {number}")

        yield watch


@contextmanager
def stage(name: str, number: int, total: int) -> Iterator[None]:
    """Show which of several stages is going on, and for how long; the line stays."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not _is_seen()) as bar:
        task = bar.add_task(f"{number} of {total}: {name}", total=1.0)
        yield
        bar.advance(task)


def _is_seen() -> bool:
    """Whether there is a terminal, or a notebook in which a bar can move in its place."""
    if sys.stderr.isatty():
        return True
    # Without ipywidgets rich would print a line for every move.
    return Console().is_jupyter and find_spec("ipywidgets") is not None
