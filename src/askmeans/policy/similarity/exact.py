"""Exact similarities: the core, a few items whose rows follow from all their pairs.

The paper's pool (`paper/pool.py`) is run again over the answers. Its next questions come first in
the ranking; meanwhile other annotators compare other items.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.exceptions import RankError, StopAsking
from askmeans.paper.geometry import extreme_rows, simplex_least_squares
from askmeans.paper.known import Similarities
from askmeans.paper.pool import SMALLEST, Pool, fewest_items, pool_sizes
from askmeans.queries import Answers, Question

# Largest condition number of the system for a row: answers in single precision determine it within
# a tenth.
_WORST = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """Items whose rows are known exactly, or the questions that determine them."""

    rows: dict[int, Floats] = field(default_factory=dict)
    anchors: tuple[int, ...] = ()  # items that separate the clusters best
    wanted: tuple[Question, ...] = ()
    noisy: bool = False  # whether the answers are not exact after all
    sigma: float = 0.0  # standard deviation of their errors
    failure: RankError | None = None
    warnings: tuple[tuple[str, type[Warning]], ...] = ()
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


def numbers(answers: Answers) -> dict[Question, float]:
    """The mean answer to each question about two or three items; NaN for "cannot say"."""
    by_question: dict[Question, list[float]] = {}
    for batch in answers.batches:
        if batch.queries.kind in ("pair", "triplet"):
            questions = batch.queries.questions()
            for question, value in zip(questions, batch.values.tolist(), strict=True):
                by_question.setdefault(question._replace(repeat=0), []).append(value)
    return {question: _mean(values) for question, values in by_question.items()}


def _mean(values: list[float]) -> float:
    """The mean of the numbers among these."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def core_of(
    answers: Mapping[Question, float],
    queue: list[int],
    k: int,
    *,
    triplets: bool,
    seed: int,
) -> Core:
    """The core of the first items of a queue, by the answers."""
    if len(queue) < fewest_items(k):
        return Core()
    sizes = pool_sizes(len(queue), k, triplets and k > 2, False, SMALLEST * k, None)
    similar = Similarities()
    pool = Pool(similar, k, {False: sizes, True: sizes}, np.random.default_rng(seed),
                noisy=None, sigma=0.0)  # fmt: skip
    wanted: list[Question] = []
    failure = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asking = pool.ask(np.array(queue, dtype=np.intp))
        try:
            batch = next(asking)
            while True:
                questions = batch.questions()
                values = np.array([answers.get(question, math.nan) for question in questions])
                wanted = [question for question in questions if question not in answers]
                if wanted:
                    asking.throw(StopAsking(values))
                batch = asking.send(values)
        except (StopIteration, StopAsking):
            pass
        except RankError as error:
            failure = error
    F = pool.memberships
    rows = {} if F is None or wanted else dict(zip(pool.items.tolist(), F, strict=True))
    anchors = tuple(pool.items[extreme_rows(F, k)].tolist()) if rows and F is not None else ()
    diagnostics = pool.diagnostics
    return Core(
        rows=rows if not pool.noisy else {},
        anchors=anchors,
        wanted=tuple(wanted),
        noisy=bool(pool.noisy),
        sigma=float(diagnostics.get("sigma", 0.0)),
        failure=failure,
        warnings=tuple((str(one.message), one.category) for one in caught),
        diagnostics=dict(similar.counts) | diagnostics,
    )


def solved(core: Core, answers: Mapping[Question, float], items: list[int]) -> dict[int, Floats]:
    """Rows of items that were compared with enough items of the core."""
    beside: dict[int, list[tuple[int, float]]] = {}
    for question, value in answers.items():
        if question.kind == "pair" and not math.isnan(value):
            a, b = question.items
            for one, other in ((a, b), (b, a)):
                if other in core.rows and one not in core.rows:
                    beside.setdefault(one, []).append((other, value))
    rows = {}
    for item in items:
        pairs = beside.get(item, [])
        design = np.array([core.rows[other] for other, _ in pairs])
        if len(pairs) >= len(core.anchors) > 0 and np.linalg.cond(design) < _WORST:
            rows[item] = simplex_least_squares(design, np.array([value for _, value in pairs]))
    return rows
