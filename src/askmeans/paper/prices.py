"""The cost of noise and of similarity questions (Theorem 10, the reduction lemma), and Lemma 1.

Where the printed form is wrong (paper note N22), `form` selects the form.
"""

import math
from typing import Literal

from askmeans._util.checks import check_choice, check_number, check_positive, check_share
from askmeans.fuzzy.model import check_fuzzifier
from askmeans.paper.theorems import Form


def noisy_repetitions(
    n: int,
    *,
    sigma: float,
    kappa: float,
    form: Literal["printed", "proof", "corrected"] = "corrected",
) -> int:
    """Theorem 10: the number of repetitions of each question, for an extra error of kappa.

    The statement has 8 sigma^2 ln(n) / kappa^2. Its proof has 6 ln(n) batches of 4 sigma^2 /
    kappa^2, a factor of 24; the stated failure probability needs 24 ln(n) batches, a factor of 96
    (paper note N22).

    Parameters
    ----------
    n : int
        Number of items.
    sigma : float
        Standard deviation of an answer.
    kappa : float
        The extra error allowed.
    form : {"corrected", "proof", "printed"}, default="corrected"
        96, 24 or 8.

    Returns
    -------
    int
        Number of times that each question is asked, at least 1.

    Examples
    --------
    >>> noisy_repetitions(150, sigma=0.1, kappa=0.1), noisy_repetitions(
    ...     150, sigma=0.1, kappa=0.1, form="printed")
    (482, 41)
    """
    owner = "noisy_repetitions"
    check_choice(form, ("printed", "proof", "corrected"), "form", owner)
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(sigma, "sigma", owner)
    check_positive(kappa, "kappa", owner)
    factor = {"printed": 8, "proof": 24, "corrected": 96}[form]
    return max(1, math.ceil(factor * sigma**2 * math.log(n) / kappa**2))


def similarity_price(
    n_rows: int, k: int, *, noisy: bool = False, form: Form = "corrected"
) -> dict[str, int]:
    """The number of similarity questions that replace the memberships of `n_rows` items.

    The paper's reduction takes k^3 triplets and k pairs per item. Ours embeds a pool of 6 k items
    by all their pairs, rotates it with C(2 k, 3) triplets (none for two clusters), and then asks k
    pairs for each further item. With noisy answers the pool has 8 k items, C(3 k, 3) triplets are
    asked, and 2 k pairs for each further item. With a small budget the pool is smaller.

    Parameters
    ----------
    n_rows : int
        Number of items.
    k : int
        Number of clusters, at least 2.
    noisy : bool, default=False
        Whether answers are noisy.
    form : {"corrected", "printed"}, default="corrected"
        Our count, or the paper's.

    Returns
    -------
    dict of str to int
        "pairs" and "triplets".

    Examples
    --------
    >>> similarity_price(300, 3)
    {'pairs': 999, 'triplets': 20}
    >>> similarity_price(300, 3, form="printed")
    {'pairs': 900, 'triplets': 27}
    """
    owner = "similarity_price"
    check_choice(form, ("corrected", "printed"), "form", owner)
    check_number(n_rows, "n_rows", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=2)
    if form == "printed":
        return {"pairs": k * n_rows, "triplets": k**3}
    pool = (8 if noisy else 6) * k
    triplets = 0 if k == 2 else math.comb((3 if noisy else 2) * k, 3)
    each = 2 * k if noisy else k
    return {"pairs": math.comb(pool, 2) + each * max(0, n_rows - pool), "triplets": triplets}


def purity_bound(n: int, k: int, *, rho: float) -> dict[str, int]:
    """The number of items whose pairs include pure items of every cluster (similarity appendix).

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of clusters.
    rho : float
        Share of items that belong purely to each cluster, in (0, 1] (`metrics.rho_pure`).

    Returns
    -------
    dict of str to int
        "items", m = log(n k) / rho, and "pairs", m^2 as in the paper.

    Examples
    --------
    >>> purity_bound(150, 3, rho=0.1)
    {'items': 62, 'pairs': 3844}
    """
    owner = "purity_bound"
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=1)
    check_share(rho, "rho", owner)
    m = math.ceil(math.log(n * k) / rho)
    return {"items": m, "pairs": m**2}


def xie_beni_bound(
    xie_beni: float,
    k: int,
    *,
    separation: float,
    R: float,
    alpha: float = 2.0,
    eps_1: float,
    eps_2: float,
) -> float:
    """Lemma 1: bound of the difference of the Xie-Beni indices of a solution and its target.

    With the constants of its proof: the objective changes by at most n (4 R eps_1 + eps_1^2) +
    2 n k alpha eps_2 (R^2 + (R + eps_1)^2), the squared separation by 8 R eps_1 + 4 eps_1^2. The
    Taylor step is replaced by its exact bound, a factor (1 + eps_2)^(alpha - 1).

    Parameters
    ----------
    xie_beni : float
        The target's index as in the paper (``metrics.xie_beni(..., variant="paper")``).
    k : int
        Number of clusters.
    separation : float
        Distance between the two nearest centres of the target.
    R : float
        Radius of the data around the origin; centre the data first.
    alpha : float, default=2.0
        The fuzzifier.
    eps_1 : float
        Error of the centres.
    eps_2 : float
        Error of the memberships.

    Returns
    -------
    float
        Largest difference of the two indices; infinite when eps_1 is too large for the separation.

    Examples
    --------
    >>> round(xie_beni_bound(0.1, 3, separation=2.0, R=1.0, eps_1=0.01, eps_2=0.01), 4)
    0.0263
    """
    owner = "xie_beni_bound"
    check_number(xie_beni, "xie_beni", owner)
    check_number(k, "k", owner, integer=True, minimum=2)
    check_fuzzifier(alpha, owner, strict=False)
    for value, name in ((separation, "separation"), (R, "R")):
        check_positive(value, name, owner)
    for value, name in ((eps_1, "eps_1"), (eps_2, "eps_2")):
        check_number(value, name, owner)
    # All per item and cluster, as the index is.
    by_centers = (4 * R * eps_1 + eps_1**2) / k
    by_memberships = 2 * alpha * eps_2 * (1 + eps_2) ** (alpha - 1) * (R**2 + (R + eps_1) ** 2)
    squared = separation**2
    shift = 8 * R * eps_1 + 4 * eps_1**2
    if shift >= squared:
        return math.inf
    objective = xie_beni * squared
    above: float = (objective + by_centers + by_memberships) / (squared - shift) - xie_beni
    below: float = xie_beni - max(0.0, objective - by_centers - by_memberships) / (squared + shift)
    return max(above, below)
