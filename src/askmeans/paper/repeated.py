"""Questions asked several times and averaged, for answers with random errors.

Theorem 10 repeats the whole solver instead: see `experiments/theorem_10.py`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_choice, check_number
from askmeans.exceptions import StopAsking
from askmeans.paper.plan import Asking, Plan, run_inside
from askmeans.queries import Queries
from askmeans.results import Clustering

Average = Literal["mean", "median", "median-of-means"]


def repeated(plan: Plan, times: int = 3, *, how: Average = "mean") -> Plan:
    """Ask every question of a plan several times, and average the answers.

    It works for every kind of question. It can wrap another wrapper of plans, and be wrapped.

    Parameters
    ----------
    plan : generator
        A plan.
    times : int, default=3
        Number of times that each question is asked.
    how : {"mean", "median", "median-of-means"}, default="mean"
        Kind of average. The median is robust to a few wrong answers. The median of means is for
        noise with heavy tails; it uses about sqrt(times) batches.

    Returns
    -------
    generator
        A plan with `times` as many questions. Averages ignore missing answers, also after a stop.

    Examples
    --------
    >>> from askmeans import TwoPhase, oracles, run
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> oracle = oracles.NoisyOracle(oracles.TableOracle.from_labels([0, 0, 1, 1]), std=0.2)
    >>> plan = TwoPhase(sample_size=6).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
    >>> result = run(repeated(plan, times=5), oracle)
    >>> result.n_queries, result.clustering.memberships.argmax(axis=1).tolist()
    (20, [0, 0, 1, 1])
    """
    check_number(times, "times", "repeated", integer=True, minimum=1)
    check_choice(how, _AVERAGES, "how", "repeated")
    return _repeat(plan, int(times), how)


def aggregate(repeats: Floats, how: Average) -> Floats:
    """Averages of the columns of answers, one row per repeat; NaN for a column without answers."""
    averages = np.full(repeats.shape[1], np.nan)
    counts = (~np.isnan(repeats)).sum(axis=0)
    for count in np.unique(counts[counts > 0]):
        columns = counts == count
        # NaN sorts last, so the first rows are the answers, in the order of asking.
        first = np.argsort(np.isnan(repeats[:, columns]), axis=0, kind="stable")[:count]
        answers = np.take_along_axis(repeats[:, columns], first, axis=0)
        # Equal answers stay exact, so that ties stay ties: (0.1 + 0.1 + 0.1) / 3 is not 0.1.
        exact = (answers == answers[0]).all(axis=0)
        averages[columns] = np.where(exact, answers[0], _AVERAGES[how](answers))
    return averages


def _repeat(plan: Plan, times: int, how: Average) -> Asking[Clustering]:
    """Run the inner plan with averages."""

    def average(answers: Floats, queries: Queries) -> Floats:
        flat = np.asarray(answers).reshape(times, -1)  # group answers: entries are averaged
        return aggregate(flat, how).reshape(queries.shape)

    def ask(queries: Queries) -> Asking[Floats]:
        tiled = queries.take(np.tile(np.arange(len(queries)), times))
        # All questions are asked once before any is asked twice: a budget cuts off repeats first.
        repetition = np.repeat(np.arange(times), len(queries))
        try:
            answers = yield tiled.with_repeats(tiled.repeat * times + repetition)
        except StopAsking as stop:
            reached = np.logical_or.reduce(stop.reached.reshape(times, -1), axis=0)
            raise StopAsking(average(stop.answers, queries), reached) from stop
        return average(answers, queries)

    clustering = yield from run_inside(plan, ask)
    return replace(clustering, diagnostics=replace(clustering.diagnostics, repeats=times))


def median_of_means(answers: Floats, batches: int) -> Floats:
    """The median of the means of batches of rows, of (nearly) the same size."""
    means = [part.mean(axis=0) for part in np.array_split(answers, batches)]
    medians: Floats = np.median(means, axis=0)
    return medians


_AVERAGES: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda answers: answers.mean(axis=0),
    "median": lambda answers: np.median(answers, axis=0),
    # sqrt(times) batches of about sqrt(times) answers, at least three
    "median-of-means": lambda answers: median_of_means(
        answers, min(len(answers), max(3, round(np.sqrt(len(answers)))))
    ),
}
