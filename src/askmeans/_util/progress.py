"""Progress bars for answers and for work; silent without a terminal or notebook."""

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


@contextmanager
def answers_bar(budget: int | None) -> Iterator[Callable[[int], None]]:
    """Show the number of answers, and of how many if that is known."""
    # Not console.is_terminal: FORCE_COLOR makes that true in a pipe. And the output of an oracle
    # must reach a file although the bar is in a terminal.
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
    """Show the finished share of a known amount of work, and the time left."""
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
    """Show the number of the pass over the data and its finished share, with which it is called."""
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
    """Show the current one of several stages, and its duration; the line stays."""
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
    """Whether there is a terminal, or a notebook that can update a bar."""
    if sys.stderr.isatty():
        return True
    # Without ipywidgets rich would print a line for every move.
    return Console().is_jupyter and find_spec("ipywidgets") is not None
