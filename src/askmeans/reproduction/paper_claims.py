"""Each sentence of the paper's experiments that can be checked, and the test applied to it.

Those about synthetic data are here; figures 2 and 3 and the appendices have files of their own.

Runs are paired: the same seed serves all algorithms at a point, so differences and ratios are taken
run by run and averaged before the interval is computed. Intervals are about the runs; the data of a
point is drawn once.
"""

import numpy as np

from askmeans.reproduction import synthetic
from askmeans.reproduction.appendix_claims import appendix_claims
from askmeans.reproduction.claims import (
    SEQUENTIAL,
    TWO_PHASE,
    Book,
    Claim,
    Floats,
    claim,
    same_cost,
)
from askmeans.reproduction.real_claims import real_claims

__all__ = ["all_claims"]

SMALL_BETA, LARGE_BETA = 13, 2  # zeta from, up to: beta at most .1, at least .57
SMALL_K, LARGE_K = 3, 8
NEAR = 1.25  # "comparable": within this factor


def all_claims(book: Book) -> list[Claim]:
    """Every claim, in the paper's order; the last ones are from its appendices."""
    return [
        *_synthetic_setting(book),
        *_against_beta(book),
        *_against_questions(book),
        *_against_k(book),
        *real_claims(book),
        *appendix_claims(book),
    ]


def _synthetic_setting(book: Book) -> list[Claim]:
    """How the data and the sizes are described."""
    found = []
    for panel in book.panels("figure_1", "a")[:1]:
        xs = book.xs("figure_1", panel, TWO_PHASE)
        measured = book.values("figure_1", panel, "beta", "target", xs)[0]
        stated = 4.0 / (1.0 + 3.0 * np.array(xs))
        worst = float(np.abs(measured / stated - 1.0).max())
        found.append(
            claim("It can be checked that beta = 4 / (1 + 3 zeta).", "synthetic data",
                  "largest relative difference over zeta, below 5 %", [worst], below=0.05)
        )  # fmt: skip
    found += [
        same_cost(
            book, "figure_1", panel, synthetic.PAPER, letter,
            "Setting the parameters in this way keeps the same query complexity for both "
            "algorithms.", f"figure 1{panel}",
        )
        for start, letter in (("a", "zeta"), ("c", "k"))
        for panel in book.panels("figure_1", start)
    ]  # fmt: skip
    return found


def _against_beta(book: Book) -> list[Claim]:
    """Figure 1a, in both settings."""
    found = []
    for panel in book.panels("figure_1", "a"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        small, large = [x for x in xs if x >= SMALL_BETA], [x for x in xs if x <= LARGE_BETA]
        for setting in (synthetic.PAPER, synthetic.EQUAL):
            where = f"figure 1{panel}; {setting}"
            found += [
                claim("For small beta the sequential algorithm is significantly better.", where,
                      "centre error, sequential / two-phase, zeta >= 13: below 1",
                      _log_ratio(book, panel, setting, small), below=1.0, logs=True),
                claim("For larger beta they are comparable.", where,
                      "centre error, sequential / two-phase, zeta <= 2: within a factor of 1.25",
                      _log_ratio(book, panel, setting, large),
                      above=1 / NEAR, below=NEAR, logs=True),
                claim("The sequential algorithm exhibits more graceful dependency on beta.", where,
                      "exponent of 1 / beta in the centre error, two-phase minus sequential: "
                      "above 0",
                      _exponents(book, panel, setting, TWO_PHASE, xs)
                      - _exponents(book, panel, setting, SEQUENTIAL, xs), above=0.0),
            ]  # fmt: skip
    return found


def _against_questions(book: Book) -> list[Claim]:
    """Figure 1b: the error falls."""
    found = []
    for panel in book.panels("figure_1", "b"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        for curve in (TWO_PHASE, SEQUENTIAL):
            errors = np.log(book.values("figure_1", panel, synthetic.PAPER, curve, xs))
            asked = np.log(book.queries("figure_1", panel, synthetic.PAPER, curve, xs))
            found.append(
                claim("The estimation error falls with the number of queries.",
                      f"figure 1{panel}; {curve}",
                      "exponent of the questions in the centre error: below 0",
                      _slopes(asked, errors), below=0.0)
            )  # fmt: skip
    return found


def _against_k(book: Book) -> list[Claim]:
    """Figure 1c, in both settings."""
    found = []
    for panel in book.panels("figure_1", "c"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        small, large = [x for x in xs if x <= SMALL_K], [x for x in xs if x >= LARGE_K]
        for setting in (synthetic.PAPER, synthetic.EQUAL):
            where = f"figure 1{panel}; {setting}"
            found += [
                claim("The two-phase algorithm performs significantly better as k increases.",
                      where, "centre error, sequential / two-phase, k >= 8: above 1",
                      _log_ratio(book, panel, setting, large), above=1.0, logs=True),
                claim("The sequential algorithm works better for small k.", where,
                      "centre error, sequential / two-phase, k <= 3: below 1",
                      _log_ratio(book, panel, setting, small), below=1.0, logs=True),
            ]  # fmt: skip
    return found


def _log_ratio(book: Book, panel: str, setting: str, xs: list[float]) -> Floats:
    """The logarithm of sequential's error over two-phase's, averaged over x, run by run."""
    mine = np.log(book.values("figure_1", panel, setting, SEQUENTIAL, xs))
    theirs = np.log(book.values("figure_1", panel, setting, TWO_PHASE, xs))
    averaged: Floats = (mine - theirs).mean(axis=1)
    return averaged


def _exponents(book: Book, panel: str, setting: str, curve: str, xs: list[float]) -> Floats:
    """How the error grows with 1 / beta, run by run."""
    errors = np.log(book.values("figure_1", panel, setting, curve, xs))
    inverse = np.log((1.0 + 3.0 * np.array(xs)) / 4.0)
    return _slopes(np.broadcast_to(inverse, errors.shape), errors)


def _slopes(x: Floats, y: Floats) -> Floats:
    """The least-squares slope of each row."""
    x = x - x.mean(axis=1, keepdims=True)
    slopes: Floats = (x * y).sum(axis=1) / np.square(x).sum(axis=1)
    return slopes
