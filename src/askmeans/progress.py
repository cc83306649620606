"""A progress bar for answers; silent where there is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["answers_bar"]


@contextmanager
def answers_bar(budget: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many questions were answered, of how many if that is known."""
    console = Console(stderr=True)
    columns = (TextColumn("answers"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("answers", total=budget)
        yield lambda count: bar.advance(task, count)
