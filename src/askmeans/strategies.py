"""Strategies: the parameters of the paper's algorithms, and the plans they make."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from askmeans.checks import check_choice, check_fuzzifier, check_number
from askmeans.exceptions import ParameterError
from askmeans.items import Items, as_items
from askmeans.plans import sequential, two_clusters, two_phase
from askmeans.plans.answers import Plan
from askmeans.scores import Order

__all__ = ["Sequential", "Strategy", "TwoClusters", "TwoPhase", "named_strategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy(ABC):
    """What the three algorithms share; use one of those.

    Parameters
    ----------
    sample_size : int, default=100
        Items whose memberships are asked first, drawn at random (m in the paper).
    precision : float, default=0.1
        How exactly memberships are searched for in the end (eta, or eta_2, in the paper).
    order : {"relative", "distance"}, default="relative"
        How items are ordered for that search: by closed-form membership from all centres, or by
        distance to the one centre, as in the paper.
    faithful : bool, default=False
        Follow the paper to the letter: distance order, all entries of a row asked, memberships at
        the lower end of their cell. For comparing counts.
    """

    sample_size: int = 100
    precision: float = 0.1
    order: Order = "relative"
    faithful: bool = False

    def __post_init__(self) -> None:
        self._check_size("sample_size")
        self._check_precision("precision")
        check_choice(self.order, ("relative", "distance"), "order", type(self).__name__)

    def plan(self, X: Any, n_clusters: int, *, fuzzifier: float, rng: np.random.Generator) -> Plan:
        """The plan for this data.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items.
        n_clusters : int
            Number of clusters.
        fuzzifier : float
            Alpha of the target, at least 1.
        rng : numpy.random.Generator
            Where the plan's randomness comes from.

        Returns
        -------
        generator
            A plan, for `askmeans.run`.

        Raises
        ------
        ParameterError
            If a parameter does not fit the data.
        DataError
            If X cannot be used.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> next(TwoPhase(sample_size=9).plan([[0.0], [1.0]], 2, fuzzifier=2.0, rng=rng))
        <MembershipQueries: 9 questions>
        """
        owner = type(self).__name__
        check_number(n_clusters, "n_clusters", owner, integer=True, minimum=1)
        check_fuzzifier(fuzzifier, owner, strict=False)
        items = as_items(X)
        if n_clusters > items.n:
            raise ParameterError(
                f"The 'n_clusters' parameter of {owner} must be at most n_samples={items.n}. "
                f"Got {n_clusters} instead; ask for fewer clusters or give more rows."
            )
        return self._make(items, n_clusters, float(fuzzifier), rng)

    @abstractmethod
    def _make(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        """The plan, for parameters that were checked."""

    def _check_size(self, name: str) -> None:
        """Refuse a size that is not a whole number from 1 up."""
        check_number(getattr(self, name), name, type(self).__name__, integer=True, minimum=1)

    def _check_precision(self, name: str) -> None:
        """Refuse a precision outside (0, 1]."""
        value = getattr(self, name)
        check_number(value, name, type(self).__name__)
        if not 0.0 < value <= 1.0:
            raise ParameterError(
                f"The {name!r} parameter of {type(self).__name__} must be a float in the range "
                f"(0, 1]. Got {value!r} instead."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPhase(Strategy):
    """All centres from one random sample, then a search for every membership (Algorithm 1).

    Parameters
    ----------
    sample_size : int, default=100
        Items whose memberships are asked to estimate the centres (m in the paper).
    precision : float, default=0.1
        How exactly memberships are searched for (eta in the paper).
    order : {"relative", "distance"}, default="relative"
        How items are ordered for the search: by closed-form membership from all centres, or by
        distance to the one centre, as in the paper.
    faithful : bool, default=False
        Follow the paper to the letter: distance order, all entries of a row asked, memberships at
        the lower end of their cell. For comparing counts.

    Examples
    --------
    >>> TwoPhase(sample_size=50).precision
    0.1
    """

    def _make(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        return two_phase(
            items,
            n_clusters,
            fuzzifier=fuzzifier,
            sample_size=self.sample_size,
            precision=self.precision,
            order=self.order,
            faithful=self.faithful,
            rng=rng,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential(Strategy):
    """One centre after the other, the largest first, then a search (Algorithm 4).

    Parameters
    ----------
    sample_size : int, default=100
        Items sampled to find the largest cluster (m in the paper).
    precision : float, default=0.1
        How exactly memberships are searched for in the end (eta, or eta_2, in the paper).
    order : {"relative", "distance"}, default="relative"
        How items are ordered for the last search (see `TwoPhase`); coarse searches go by distance.
    faithful : bool, default=False
        Follow the paper to the letter (see `TwoPhase`).
    bin_size : int, default=50
        Items asked from each bin of what is explained so far (r in the paper).
    coarse_precision : float, default=0.1
        Width of the bins (eta_1 in the paper).

    Examples
    --------
    >>> Sequential(bin_size=20).coarse_precision
    0.1
    """

    bin_size: int = 50
    coarse_precision: float = 0.1

    def __post_init__(self) -> None:
        Strategy.__post_init__(self)
        self._check_size("bin_size")
        self._check_precision("coarse_precision")

    def _make(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        return sequential(
            items,
            n_clusters,
            fuzzifier=fuzzifier,
            sample_size=self.sample_size,
            bin_size=self.bin_size,
            coarse_precision=self.coarse_precision,
            precision=self.precision,
            order=self.order,
            faithful=self.faithful,
            rng=rng,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClusters(Strategy):
    """Two clusters, however small one is: bins halve its membership (Algorithm 5).

    Parameters
    ----------
    sample_size : int, default=100
        Items sampled to find the larger cluster (m in the paper).
    precision : float, default=0.1
        How exactly memberships are searched for in the end (eta, or eta_2, in the paper).
    order : {"relative", "distance"}, default="relative"
        How items are ordered for the last search (see `TwoPhase`).
    faithful : bool, default=False
        Follow the paper to the letter (see `TwoPhase`).
    bin_size : int, default=50
        Items asked from each bin (r in the paper).

    Examples
    --------
    >>> TwoClusters(precision=0.05).bin_size
    50
    """

    bin_size: int = 50

    def __post_init__(self) -> None:
        Strategy.__post_init__(self)
        self._check_size("bin_size")

    def _make(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        if n_clusters != 2:
            raise ParameterError(
                f"The 'n_clusters' parameter of TwoClusters must be 2. Got {n_clusters} instead; "
                "Sequential and TwoPhase take any number."
            )
        return two_clusters(
            items,
            fuzzifier=fuzzifier,
            sample_size=self.sample_size,
            bin_size=self.bin_size,
            precision=self.precision,
            order=self.order,
            faithful=self.faithful,
            rng=rng,
        )


_NAMED: dict[str, type[Strategy]] = {
    "auto": TwoPhase,  # until the stratified strategy exists
    "two-phase": TwoPhase,
    "sequential": Sequential,
    "two-clusters": TwoClusters,
}


def named_strategy(strategy: Any, owner: str) -> Any:
    """The strategy of this name, with its defaults; an object with a `plan` method as it is."""
    if hasattr(strategy, "plan"):
        return strategy
    check_choice(strategy, _NAMED, "strategy", owner)
    return _NAMED[strategy]()
