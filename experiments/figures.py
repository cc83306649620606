"""The figures: their runs, panels and axes."""

from collections.abc import Callable
from dataclasses import dataclass

from experiments.fuzzifiers import TARGET
from experiments.real import MATCHED, UNMATCHED
from experiments.summary import Point
from experiments.synthetic import EQUAL, PAPER

__all__ = ["FIGURES", "FigureSpec"]

_QUESTIONS = "different questions asked"
_CENTER_ERROR = "largest error of a centre"
_NO_QUESTIONS = "no questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSpec:
    """A figure: the cells it is made from by the beginning of their names, and how it is drawn."""

    name: str
    prefix: str | tuple[str, ...]
    title: str
    caption: str
    xlabel: str
    ylabel: str
    columns: int
    place: Callable[[Point], tuple[str, str]]  # a point's panel and curve; no panel: not drawn
    x: Callable[[Point], float] = lambda point: point.x
    log_x: bool = False
    log_y: bool = False
    levels: tuple[str, ...] = ()  # curves that are drawn as level lines
    floor: float | None = None  # curves below are listed as text
    letter: str = "nu"  # what a point's x is, in the table
    larger_is_better: bool = False


def _synthetic(point: Point) -> tuple[str, str]:
    """Settings below each other, nu or beta side by side."""
    if point.setting not in {PAPER, EQUAL}:
        return "", ""
    return f"{point.setting}, {point.panel.partition(', ')[2]}", point.curve


def _by_data(point: Point) -> tuple[str, str]:
    """One panel a data set."""
    return point.panel, point.curve


def _by_fuzzifier(point: Point) -> tuple[str, str]:
    """One panel for each reading and way."""
    algorithm, _, way = point.curve.partition(", ")
    if point.curve == TARGET:
        return "", ""
    return f"{point.panel}; {way}", f"{algorithm}, {point.setting}"


def _noise(point: Point) -> tuple[str, str]:
    """One panel for each way; the theorem's own repetitions are for the claims."""
    return ("" if point.panel.startswith("theorem 10") else point.panel), point.curve


FIGURES = (
    FigureSpec(
        name="figure_1a",
        letter="zeta",
        prefix="figure_1-a",
        title="Figure 1a: the smaller the smallest cluster",
        caption=(
            "The largest error of a centre against beta = 4 / (1 + 3 zeta), the share of the "
            "smallest cluster, on the paper's synthetic data. Above in the paper's setting, where "
            "r = 0.1 m since the paper gives none; below with sizes chosen so that all ask as many "
            "different questions as the faithful two-phase algorithm. The target is the fuzzy "
            "k-means optimum of the same data, which a fit without questions finds by itself."
        ),
        xlabel="beta",
        ylabel=_CENTER_ERROR,
        columns=2,
        place=_synthetic,
        x=lambda point: 4.0 / (1.0 + 3.0 * point.x),
        log_x=True,
        log_y=True,
        floor=0.3,
    ),
    FigureSpec(
        name="figure_1b",
        prefix="figure_1-b",
        title="Figure 1b: more questions",
        caption=(
            "The largest error of a centre against the measured number of different questions, at "
            "beta = 0.25 (zeta = 5) and beta = 0.1 (zeta = 13). The table has the raw number, too."
        ),
        xlabel=_QUESTIONS,
        ylabel=_CENTER_ERROR,
        columns=2,
        place=_synthetic,
        x=lambda point: point.x if point.curve == _NO_QUESTIONS else point.queries,
        log_x=True,
        log_y=True,
        floor=0.3,
    ),
    FigureSpec(
        name="figure_1c",
        letter="k",
        prefix="figure_1-c",
        title="Figure 1c: more clusters",
        caption=(
            "The largest error of a centre against k; the far cluster has a twelfth of the items "
            "of each other. In the paper's setting the sequential algorithm asks half as many "
            "questions as two-phase at k = 2, nearly twice as many at k = 11 (the table has "
            "the counts); below both ask the same. From k = 5 on a fit without questions ends in "
            "an inferior optimum now and then."
        ),
        xlabel="k",
        ylabel=_CENTER_ERROR,
        columns=2,
        place=_synthetic,
        log_y=True,
        floor=0.3,
    ),
    FigureSpec(
        name="figure_2",
        prefix="figure_2-",
        title="Figure 2: real data",
        caption=(
            "Accuracy against the measured number of different questions; the expert knows the "
            "classes. No curve goes beyond n k questions, for that is all there is to ask. The "
            "dotted line is fuzzy k-means without a question, its clusters matched to the classes. "
            "The other is what the paper prints for it: the clusters' numbers, which mean nothing, "
            "taken for the classes' numbers."
        ),
        xlabel=_QUESTIONS,
        ylabel="accuracy",
        larger_is_better=True,
        columns=3,
        place=_by_data,
        x=lambda point: point.queries,
        levels=(MATCHED, UNMATCHED),
    ),
    FigureSpec(
        name="figure_3",
        letter="alpha",
        prefix="figure_3-",
        title="Figure 3: the fuzzifier, on Iris",
        caption=(
            "Accuracy against the fuzzifier; 1 is the hard approach. When the expert answers with "
            "classes, U^alpha is U, and the faithful algorithms do not depend on alpha at all. "
            "When the expert knows the fuzzy optimum at that alpha, what can be learnt is that "
            "target, whose own accuracy is in the table."
        ),
        xlabel="fuzzifier",
        ylabel="accuracy",
        larger_is_better=True,
        columns=2,
        place=_by_fuzzifier,
    ),
    FigureSpec(
        name="noise",
        letter="sigma",
        prefix=("noise-", "theorem_10-"),
        title="Noise: asking again",
        caption=(
            "The mean error of a membership when every answer is off by a standard deviation of "
            "sigma, and every question is asked so many times: two-phase on data "
            "that satisfies the paper's assumptions. Theorem 10 repeats the whole solver instead: "
            "it is in the table and among the claims."
        ),
        xlabel="sigma",
        ylabel="mean error of a membership",
        columns=2,
        place=_noise,
    ),
    FigureSpec(
        name="similarity",
        letter="m",
        prefix="similarity-",
        title="Similarities instead of memberships",
        caption=(
            "The same two-phase plan and the same target (fuzzy k-means on standardised data), "
            "asked in memberships, in similarities of two and three items, and in pairs alone: the "
            "mean error against the number of different questions."
        ),
        xlabel=_QUESTIONS,
        ylabel="mean error of a membership",
        columns=3,
        place=_by_data,
        x=lambda point: point.queries,
    ),
    FigureSpec(
        name="hidden_features",
        letter="budget",
        prefix="hidden-",
        title="Where asking matters most: features the solver does not see",
        caption=(
            "The expert knows the fuzzy optimum on all features (standardised); the solver sees "
            "the sepal only (Iris), six of thirteen (Wine), ten of thirty (Breast Cancer). The "
            "mean error of a membership against the number of different questions."
        ),
        xlabel=_QUESTIONS,
        ylabel="mean error of a membership",
        columns=3,
        place=_by_data,
        x=lambda point: point.queries,
        levels=(_NO_QUESTIONS,),
    ),
)  # fmt: skip
