"""Theorems 1, 2 and 3 and the sharper sample size, as functions.

Where the paper hides a constant c, it is a parameter. Where a printed form is wrong (paper note
N5), `form="printed"` gives it and `form="corrected"`, the default, ours. The guarantees want
centres to within gamma (`metrics.gamma`), which is about 1e-5 on real data: never reached there,
and no reason not to ask (paper note N7).
"""

import math
from dataclasses import dataclass
from typing import Literal

from askmeans.checks import (
    check_choice,
    check_fuzzifier,
    check_number,
    check_positive,
    check_share,
)
from askmeans.exceptions import ParameterError

__all__ = ["Sizes", "sequential_sizes", "two_clusters_sizes", "two_phase_sizes", "variance_size"]

Form = Literal["corrected", "printed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a theorem asks for.

    Parameters
    ----------
    sample_size : int
        Items sampled first (m).
    bin_size : int or None
        Items asked from each bin (r); None where there are no bins.
    n_queries : int
        Membership questions in all, at most (Q).
    operations : float
        The time complexity's terms, added up.

    Examples
    --------
    >>> Sizes(sample_size=10, bin_size=None, n_queries=50, operations=1e3).n_queries
    50
    """

    sample_size: int
    bin_size: int | None
    n_queries: int
    operations: float


def two_phase_sizes(
    n: int,
    k: int,
    *,
    d: int = 1,
    R: float,
    alpha: float = 2.0,
    beta: float,
    eps: float,
    eta: float,
    delta: float,
    c: float = 1.0,
) -> Sizes:
    """Theorem 1: m = (R k^alpha / (eps beta^alpha))^4 c log(k / delta), Q = k m + k log2(n) / eta.

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of clusters.
    d : int, default=1
        Number of features; counts in the time only.
    R : float
        Radius of the data around the origin; centre the data first.
    alpha : float, default=2.0
        The fuzzifier.
    beta : float
        Size of the smallest cluster, in (0, 1] (`metrics.beta`).
    eps : float
        How near each centre shall be.
    eta : float
        How exact each membership shall be.
    delta : float
        Probability that the promise fails.
    c : float, default=1.0
        The theorem's unnamed constant.

    Returns
    -------
    Sizes
        The sizes m and Q.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> sizes = two_phase_sizes(1000, 2, R=1.0, beta=1.0, eps=1.0, eta=0.1, delta=0.1)
    >>> sizes.sample_size, sizes.n_queries
    (767, 1734)
    """
    _check("two_phase_sizes", n, k, R, alpha, eps, delta, c, beta=beta, eta=eta)
    m = math.ceil((R * k**alpha / (eps * beta**alpha)) ** 4 * c * math.log(k / delta))
    search = k * _log2(n) / eta
    return Sizes(
        sample_size=m,
        bin_size=None,
        n_queries=k * m + math.ceil(search),
        operations=k * n * _log2(n) + float(d) * k * m + search,
    )


def sequential_sizes(
    n: int,
    k: int,
    *,
    d: int = 1,
    R: float,
    alpha: float = 2.0,
    beta: float,
    eps: float,
    eta_1: float | None = None,
    eta_2: float,
    delta: float,
    c: float = 1.0,
    form: Form = "corrected",
) -> Sizes:
    """Theorem 2: m = (R k^alpha / eps)^4 c log(2 k / delta), and r for each of 1 / eta_1 bins.

    r = c R^4 k^(4 alpha) / (eps^4 beta^(4 alpha - 4)) log(4 k / (eta_1 delta)). The printed bound
    on the queries loses a factor k, and its condition eta_1 <= (1 - beta / k) / k should read
    eta_1 <= beta / (k (k - 1)) (paper note N5).

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of clusters, at least 2.
    d : int, default=1
        Number of features; counts in the time only.
    R : float
        Radius of the data around the origin; centre the data first.
    alpha : float, default=2.0
        The fuzzifier.
    beta : float
        Size of the smallest cluster, in (0, 1] (`metrics.beta`).
    eps : float
        How near each centre shall be.
    eta_1 : float or None, default=None
        Width of the bins; None for the largest that the condition allows.
    eta_2 : float
        How exact each membership shall be; the theorem wants eta_2 <= eta_1, so a larger one is
        taken as eta_1.
    delta : float
        Probability that the promise fails.
    c : float, default=1.0
        The theorem's unnamed constant.
    form : {"corrected", "printed"}, default="corrected"
        Which condition and which bound.

    Returns
    -------
    Sizes
        The sizes m and r, and Q.

    Raises
    ------
    ParameterError
        If a number is out of its range, or eta_1 breaks the theorem's condition.

    Examples
    --------
    >>> goal = dict(R=1.0, beta=0.5, eps=1.0, eta_2=0.1, delta=0.1)
    >>> ours, theirs = (sequential_sizes(1000, 3, **goal, form=f) for f in ("corrected", "printed"))
    >>> ours.n_queries > theirs.n_queries
    True
    """
    owner = "sequential_sizes"
    check_choice(form, ("corrected", "printed"), "form", owner)
    _check(owner, n, k, R, alpha, eps, delta, c, beta=beta, eta_2=eta_2)
    check_number(k, "k", owner, integer=True, minimum=2)
    limit = beta / (k * (k - 1)) if form == "corrected" else (1.0 - beta / k) / k
    width = limit if eta_1 is None else eta_1
    if not 0.0 < width <= limit:
        raise ParameterError(
            f"The 'eta_1' parameter of {owner} must be in the range (0, {limit:.4g}] for the "
            f"theorem to hold ({form} form). Got {width!r} instead."
        )
    m = math.ceil((R * k**alpha / eps) ** 4 * c * math.log(2 * k / delta))
    r = math.ceil(
        c * R**4 * k ** (4 * alpha) / (eps**4 * beta ** (4 * alpha - 4))
        * math.log(4 * k / (width * delta))
    )  # fmt: skip
    searches = k * _log2(n) / width + k * _log2(n) / min(eta_2, width)
    if form == "corrected":  # k - 1 rounds, 1 / eta_1 + 1 bins, r items, up to k entries each
        bins = (k - 1) * (math.floor(1.0 / width) + 1) * k * r
    else:
        bins = math.ceil(k * r / width)
    return Sizes(
        sample_size=m,
        bin_size=r,
        n_queries=k * m + bins + math.ceil(searches),
        operations=k * n * _log2(n) + float(d) * bins + searches,
    )


def two_clusters_sizes(
    n: int,
    *,
    d: int = 1,
    R: float,
    eps: float,
    eta: float,
    delta: float,
    c: float = 1.0,
) -> Sizes:
    """Theorem 3: for two clusters, sizes that do not depend on the smaller one's size.

    m = c (R / eps)^4 log(4 / delta), r = c (R / eps)^4 log(2 / (eta delta)), and
    Q = c (R / eps)^4 log2(n) log(1 / (eta delta)) + log2(n)^2 + log2(n) / eta, with the sample.

    Parameters
    ----------
    n : int
        Number of items.
    d : int, default=1
        Number of features; counts in the time only.
    R : float
        Radius of the data around the origin; centre the data first.
    eps : float
        How near each centre shall be.
    eta : float
        How exact each membership shall be.
    delta : float
        Probability that the promise fails.
    c : float, default=1.0
        The theorem's unnamed constant.

    Returns
    -------
    Sizes
        The sizes m and r, and Q.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> two_clusters_sizes(1000, R=1.0, eps=0.5, eta=0.1, delta=0.1).sample_size
    60
    """
    _check("two_clusters_sizes", n, 2, R, 2.0, eps, delta, c, eta=eta)
    scale = c * (R / eps) ** 4
    m = math.ceil(scale * math.log(4.0 / delta))
    r = math.ceil(scale * math.log(2.0 / (eta * delta)))
    sampling = scale * _log2(n) * math.log(1.0 / (eta * delta))
    searches = _log2(n) ** 2 + _log2(n) / eta
    return Sizes(
        sample_size=m,
        bin_size=r,
        n_queries=m + math.ceil(sampling + searches),
        operations=n * _log2(n) + d * sampling + searches,
    )


def variance_size(
    k: int, *, R: float, alpha: float = 2.0, beta: float, eps: float, delta: float, c: float = 32.0
) -> int:
    """The sample that a vector Bernstein bound asks for, of order 1 / eps^2 (paper note N29).

    mu_hat - mu has the zero-mean numerator mean[U^alpha (x - mu)], of variance at most 4 R^2 Y with
    Y the mean of U^alpha, and Y >= (beta / k)^alpha. Bernstein's second term, smaller by eps / R,
    is left out. So m = c R^2 (k / beta)^alpha log(2 k / delta)
    / eps^2, where Theorem 1 has the fourth power.

    Parameters
    ----------
    k : int
        Number of clusters.
    R : float
        Radius of the data around the origin; centre the data first.
    alpha : float, default=2.0
        The fuzzifier.
    beta : float
        Size of the smallest cluster, in (0, 1] (`metrics.beta`).
    eps : float
        How near each centre shall be.
    delta : float
        Probability that the promise fails.
    c : float, default=32.0
        2 * 4 from the bound and 4 for the denominator, which may be half its mean.

    Returns
    -------
    int
        Items to sample (m).

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> variance_size(3, R=1.0, beta=1.0, eps=0.1, delta=0.05)
    137880
    """
    _check("variance_size", 2, k, R, alpha, eps, delta, c, beta=beta)
    size: float = c * (R / eps) ** 2 * (k / beta) ** alpha * math.log(2 * k / delta)
    return math.ceil(size)


def _log2(n: int) -> float:
    """Steps of a binary search over n items."""
    return math.log2(max(n, 2))


def _check(
    owner: str,
    n: int,
    k: int,
    R: float,
    alpha: float,
    eps: float,
    delta: float,
    c: float,
    **shares: float,
) -> None:
    """Refuse what no theorem is about."""
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=1)
    check_fuzzifier(alpha, owner, strict=False)
    for value, name in ((R, "R"), (eps, "eps"), (c, "c")):
        check_positive(value, name, owner)
    for name, value in (shares | {"delta": delta}).items():
        check_share(value, name, owner)
