"""Cells: parts of an experiment that run in parallel, each once, with its result in a file.

Rules of this file:
- A cell is a function and arguments that JSON can hold; its result depends on nothing else. So the
  same seed gives the same numbers, however many processes share the work and however often it was
  interrupted.
- A file is replaced atomically. One made for other arguments, or by another version of the
  library, is not used.
"""

import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import threadpoolctl

from askmeans import __version__
from askmeans._util.files import atomic_file
from experiments.runs import Series

__all__ = ["Cell", "run_cells"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A part of an experiment: `work(**arguments)` returns series; weights are relative times."""

    name: str
    work: Callable[..., list[Series]]
    arguments: dict[str, Any] = field(default_factory=dict)
    weight: float = 1.0

    @classmethod
    def of(
        cls, name: str, work: Callable[..., list[Series]], weight: float, **arguments: Any
    ) -> "Cell":
        """A cell whose name makes a plain file name."""
        plain = name.replace(" ", "_").replace(",", "")
        return cls(name=plain, work=work, arguments=arguments, weight=weight)

    @property
    def key(self) -> dict[str, Any]:
        """The identity of a stored result."""
        work = f"{self.work.__module__}.{self.work.__qualname__}"
        key = {"version": __version__, "work": work, "arguments": self.arguments}
        stored: dict[str, Any] = json.loads(json.dumps(key))  # as it is read back
        return stored


def run_cells(
    cells: list[Cell], folder: Path, *, jobs: int, advance: Callable[[float], None]
) -> dict[str, list[Series]]:
    """The result of every cell by name; cells with a result in the folder are not run again.

    `advance` is called with the weight of the stored cells, then with that of each cell at its end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[Series]] = {}
    todo = []
    for cell in cells:
        stored = _load(cell, folder)
        if stored is None:
            todo.append(cell)
        else:
            results[cell.name] = stored
    advance(sum(cell.weight for cell in cells if cell.name in results))
    for cell, series in _computed(todo, jobs):
        kept = {"key": cell.key, "series": [asdict(one) for one in series]}
        with atomic_file(folder / f"{cell.name}.json") as file:
            file.write(json.dumps(kept).encode())
        results[cell.name] = series
        advance(cell.weight)
    return {cell.name: results[cell.name] for cell in cells}


def _computed(cells: list[Cell], jobs: int) -> Iterator[tuple[Cell, list[Series]]]:
    """Cells in the order of their ends, the heaviest started first."""
    if not cells:
        return
    # Always in other processes: there Ctrl-C ends the work, while in this one a driver would return
    # an incomplete result.
    with ProcessPoolExecutor(
        min(jobs, len(cells)), mp_context=get_context("spawn"), initializer=_begin
    ) as pool:
        waiting = {
            pool.submit(_work, cell): cell for cell in sorted(cells, key=lambda cell: -cell.weight)
        }
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """Set up a worker, which ends silently at Ctrl-C and with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()
    if parent is not None:

        def follow() -> None:
            wait([parent.sentinel])  # however it ends
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()


def _work(cell: Cell) -> list[Series]:
    """Run a cell, on one thread: sums over rows must not depend on how many there are."""
    with threadpoolctl.threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cell.work(**cell.arguments)


def _load(cell: Cell, folder: Path) -> list[Series] | None:
    """The stored result of a cell with the same arguments; None without one."""
    try:
        stored = json.loads((folder / f"{cell.name}.json").read_text())
        if stored["key"] != cell.key:
            return None
        return [Series(**series) for series in stored["series"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or not ours
