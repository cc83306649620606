"""Theorems 1, 2 and 3 and the sharper sample size, as functions.

The paper's unnamed constant c is a parameter. Where the printed form is wrong (paper note N5),
`form="printed"` selects it, and `form="corrected"`, the default, ours. The guarantees need centres
to within gamma (`metrics.gamma`), which is about 1e-5 on real data and never reached there (paper
note N7).

The paper has the order of the number of queries. Here it is the exact maximum of the algorithm
followed to the letter (`faithful=True`), if every question is answered.
"""

import math
from dataclasses import dataclass
from typing import Literal

from askmeans._util.checks import check_choice, check_number, check_positive, check_share
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import check_fuzzifier
from askmeans.paper.search import n_thresholds
from askmeans.paper.search_state import REDRAWS

Form = Literal["corrected", "printed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes and cost according to a theorem.

    Parameters
    ----------
    sample_size : int
        Items sampled first (m).
    bin_size : int
        Items asked from each bin (r); 0 where there are no bins.
    n_queries : int
        Maximum number of different membership questions, at most n k.
    n_queries_raw : int
        Maximum number of membership questions, repetitions included (Q).
    operations : float
        The time complexity's terms, added up.
    """

    sample_size: int
    bin_size: int
    n_queries: int
    n_queries_raw: int
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

    `n_queries_raw` has 6 k m: a sample in which a cluster is missing is drawn anew up to five times
    (paper note N12). Searches take ceil(log2(n + 1)) questions for each of k floor(1 / eta)
    thresholds.

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
        Error of each centre.
    eta : float
        Error of each membership.
    delta : float
        Failure probability.
    c : float, default=1.0
        The theorem's unnamed constant.

    Returns
    -------
    Sizes
        The sizes m and Q.

    Examples
    --------
    >>> sizes = two_phase_sizes(1000, 2, R=1.0, beta=1.0, eps=1.0, eta=0.1, delta=0.1)
    >>> sizes.sample_size, sizes.n_queries_raw
    (767, 9404)
    """
    _check("two_phase_sizes", n, k, R, alpha, eps, delta, c, beta=beta, eta=eta)
    m = math.ceil((R * k**alpha / (eps * beta**alpha)) ** 4 * c * math.log(k / delta))
    raw = (1 + REDRAWS) * k * m + k * _search(n, eta)
    return Sizes(
        sample_size=m,
        bin_size=0,
        n_queries=min(raw, n * k),
        n_queries_raw=raw,
        operations=k * n * _log2(n) + float(d) * k * m + k * _log2(n) / eta,
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
    eta_1 <= beta / (k (k - 1)) (paper note N5). With the printed form, the number of raw queries is
    the printed one, too, which is no bound.

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
        Error of each centre.
    eta_1 : float or None, default=None
        Width of the bins; None for the largest that the condition allows.
    eta_2 : float
        Error of each membership; the theorem needs eta_2 <= eta_1, so a larger one counts as eta_1.
    delta : float
        Failure probability.
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
    >>> ours = sequential_sizes(10**9, 3, **goal)
    >>> ours.n_queries_raw > sequential_sizes(10**9, 3, **goal, form="printed").n_queries_raw
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
    fine = min(eta_2, width)
    searches = k * _log2(n) / width + k * _log2(n) / fine
    if form == "corrected":
        # The t-th of k - 1 rounds asks a bin's r items, or all that it has, about k - t clusters.
        in_bins = min((n_thresholds(width) + 1) * r, n) * k * (k - 1) // 2
        raw = k * m + in_bins + (k - 1) * _search(n, width) + k * _search(n, fine)
    else:
        in_bins = math.ceil(k * r / width)
        raw = k * m + in_bins + math.ceil(searches)
    return Sizes(
        sample_size=m,
        bin_size=r,
        n_queries=min(raw, n * k),
        n_queries_raw=raw,
        operations=k * n * _log2(n) + float(d) * in_bins + searches,
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

    m = c (R / eps)^4 log(4 / delta), r = c (R / eps)^4 log(2 / (eta delta)), and Q is of the order
    c (R / eps)^4 log2(n) log(1 / (eta delta)) + log2(n)^2 + log2(n) / eta. `n_queries_raw` counts
    both memberships of the sample, up to 3 log2(n) steps of Algorithm 6, each a search and a
    handful of special items (paper notes N17, N30), and a search for either cluster.

    Parameters
    ----------
    n : int
        Number of items.
    d : int, default=1
        Number of features; counts in the time only.
    R : float
        Radius of the data around the origin; centre the data first.
    eps : float
        Error of each centre.
    eta : float
        Error of each membership.
    delta : float
        Failure probability.
    c : float, default=1.0
        The theorem's unnamed constant.

    Returns
    -------
    Sizes
        The sizes m and r, and Q.

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
    log_n = max(1, math.ceil(math.log2(n)))
    steps = 3 * log_n - 1  # of Algorithm 6, each a bin or log_n + 1 special items
    special = min(steps * (log_n + 1), n)
    bins = 1 + steps * math.ceil(math.log2(n)) + special
    in_bins = min((steps + 1) * max(r, log_n + 1) + 1, n)  # P_1, too, and the strongest item
    raw = 2 * m + bins + in_bins + 2 * _search(n, eta)
    return Sizes(
        sample_size=m,
        bin_size=r,
        n_queries=min(raw, 2 * n),
        n_queries_raw=raw,
        operations=n * _log2(n) + d * sampling + searches,
    )


def variance_size(
    k: int, *, R: float, alpha: float = 2.0, beta: float, eps: float, delta: float, c: float = 32.0
) -> int:
    """The sample size of a vector Bernstein bound, of order 1 / eps^2 (paper note N29).

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
        Error of each centre.
    delta : float
        Failure probability.
    c : float, default=32.0
        2 * 4 from the bound, and 4 for the denominator, which may be half its mean.

    Returns
    -------
    int
        Number of items to sample (m).

    Examples
    --------
    >>> variance_size(3, R=1.0, beta=1.0, eps=0.1, delta=0.05)
    137880
    """
    _check("variance_size", 2, k, R, alpha, eps, delta, c, beta=beta)
    size: float = c * (R / eps) ** 2 * (k / beta) ** alpha * math.log(2 * k / delta)
    return math.ceil(size)


def _log2(n: int) -> float:
    """Steps of a binary search over n items, as the paper counts them."""
    return math.log2(max(n, 2))


def _search(n: int, eta: float) -> int:
    """Questions of Algorithm 2 about one cluster at most: a search for each threshold.

    Each finds one of n + 1 ranks, 0 if no item reaches the threshold (paper note N14).
    """
    return n_thresholds(eta) * int(n).bit_length()  # ceil(log2(n + 1))


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
    """Check the numbers of a theorem."""
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=1)
    check_fuzzifier(alpha, owner, strict=False)
    for value, name in ((R, "R"), (eps, "eps"), (c, "c")):
        check_positive(value, name, owner)
    for name, value in (shares | {"delta": delta}).items():
        check_share(value, name, owner)
