"""Strategies: sizes of the default policy and of the algorithms of the paper."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from askmeans._util.checks import check_choice, check_number, check_share
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.items import ItemSet, as_items
from askmeans.fuzzy.model import check_enough_items, check_fuzzifier
from askmeans.fuzzy.scores import Order
from askmeans.paper.algorithms import sequential, two_clusters, two_phase
from askmeans.paper.plan import Plan
from askmeans.paper.search_state import SearchState
from askmeans.policy import as_plan
from askmeans.policy.belief import Scale
from askmeans.policy.ranking import Ask, Settings
from askmeans.policy.similarity.policy import SimilarityPolicy
from askmeans.policy.stratified import StratifiedPolicy


class Strategy(ABC):
    """Base class of all strategies."""

    __slots__ = ()

    def plan(self, X: Any, n_clusters: int, *, fuzzifier: float, rng: np.random.Generator) -> Plan:
        """Make the plan for this data.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items.
        n_clusters : int
            Number of clusters.
        fuzzifier : float
            Alpha of the target, at least 1.
        rng : numpy.random.Generator
            The plan's randomness.

        Returns
        -------
        generator
            A plan, for `askmeans.run`.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> next(TwoPhase(sample_size=9).plan([[0.0], [1.0]], 2, fuzzifier=2.0, rng=rng))
        <MembershipQueries: 9 questions>
        """
        items = self._checked_items(X, n_clusters, fuzzifier, rng)
        return self._make(items, n_clusters, float(fuzzifier), rng)

    def _checked_items(
        self, X: Any, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> ItemSet:
        """Check the parameters and return the items."""
        owner = type(self).__name__
        check_number(n_clusters, "n_clusters", owner, integer=True, minimum=1)
        check_fuzzifier(fuzzifier, owner, strict=False)
        if not isinstance(rng, np.random.Generator):
            raise ParameterError(
                f"The 'rng' parameter of {owner} must be a numpy.random.Generator. "
                f"Got {rng!r} instead; numpy.random.default_rng(seed) makes one."
            )
        items = as_items(X)
        check_enough_items(items.n, n_clusters, owner)
        return items

    @abstractmethod
    def _make(
        self, items: ItemSet, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        """Make the plan for checked parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperStrategy(Strategy):
    """Base class of the strategies of the paper."""

    sample_size: int = 100
    precision: float = 0.1
    order: Order = "relative"
    faithful: bool = False

    def __post_init__(self) -> None:
        check_number(self.sample_size, "sample_size", type(self).__name__, integer=True, minimum=1)
        check_share(self.precision, "precision", type(self).__name__)
        check_choice(self.order, ("relative", "distance"), "order", type(self).__name__)

    def _make(
        self, items: ItemSet, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        return self._search(
            SearchState(
                items, n_clusters, fuzzifier=fuzzifier, order=self.order, faithful=self.faithful,
                rng=rng,
            )
        )  # fmt: skip

    @abstractmethod
    def _search(self, state: SearchState) -> Plan:
        """Start the algorithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPhase(PaperStrategy):
    """All centres from one random sample, then a search for every membership (Algorithm 1).

    Parameters
    ----------
    sample_size : int, default=100
        Number of items in the sample that estimates the centres (m in the paper).
    precision : float, default=0.1
        Precision of the searched memberships (eta in the paper).
    order : {"relative", "distance"}, default="relative"
        Order of the items in the search: by closed-form membership from all centres, or by
        distance to one centre, as in the paper.
    faithful : bool, default=False
        Follow the paper exactly: distance order, questions about all entries of a row, memberships
        at the lower end of their cell. For comparisons of counts.
    """

    def _search(self, state: SearchState) -> Plan:
        return two_phase(state, sample_size=self.sample_size, precision=self.precision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential(PaperStrategy):
    """One centre after the other, the largest first, then a search (Algorithm 4).

    Parameters
    ----------
    sample_size : int, default=100
        Number of items in the sample that finds the largest cluster (m in the paper).
    precision : float, default=0.1
        Precision of the final search for memberships (eta, or eta_2, in the paper).
    order : {"relative", "distance"}, default="relative"
        Order of the items in the final search (see `TwoPhase`); coarse searches use distances.
    faithful : bool, default=False
        Follow the paper exactly (see `TwoPhase`).
    bin_size : int, default=50
        Number of queried items per bin of the membership in earlier clusters (r in the paper).
    coarse_precision : float, default=0.1
        Width of the bins (eta_1 in the paper).
    """

    bin_size: int = 50
    coarse_precision: float = 0.1

    def __post_init__(self) -> None:
        PaperStrategy.__post_init__(self)
        check_number(self.bin_size, "bin_size", type(self).__name__, integer=True, minimum=1)
        check_share(self.coarse_precision, "coarse_precision", type(self).__name__)

    def _search(self, state: SearchState) -> Plan:
        return sequential(
            state,
            sample_size=self.sample_size,
            bin_size=self.bin_size,
            coarse_precision=self.coarse_precision,
            precision=self.precision,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClusters(PaperStrategy):
    """Two clusters, however small one is: bins halve its membership (Algorithm 5).

    Parameters
    ----------
    sample_size : int, default=100
        Number of items in the sample that finds the larger cluster (m in the paper).
    precision : float, default=0.1
        Precision of the final search for memberships (eta, or eta_2, in the paper).
    order : {"relative", "distance"}, default="relative"
        Order of the items in the final search (see `TwoPhase`).
    faithful : bool, default=False
        Follow the paper exactly (see `TwoPhase`).
    bin_size : int, default=50
        Number of queried items per bin (r in the paper).
    """

    bin_size: int = 50

    def __post_init__(self) -> None:
        PaperStrategy.__post_init__(self)
        check_number(self.bin_size, "bin_size", type(self).__name__, integer=True, minimum=1)

    def _search(self, state: SearchState) -> Plan:
        if state.n_clusters != 2:
            raise ParameterError(
                "The 'n_clusters' parameter of TwoClusters must be 2. "
                f"Got {state.n_clusters} instead; use Sequential or TwoPhase for any number."
            )
        return two_clusters(
            state, sample_size=self.sample_size, bin_size=self.bin_size, precision=self.precision
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified(Strategy):
    """The default: greedy coverage of strata, later weighted by uncertainty.

    A stacked ensemble of models completes the memberships; each model's weight follows from its
    predictions of held-out answers.

    Parameters
    ----------
    precision : float, default=0.005
        Stop when the estimated mean error of a membership is below this, for soft answers.
    target : float or None, default=None
        Stop when the expected share of items in the wrong cluster is below this. None is twice the
        precision (0.01) for hard answers; for soft answers `precision` decides.
    max_items : int or None, default=100
        Maximum number of queried items; None for no limit. An item costs one question with groups,
        and n_clusters - 1 with memberships.
    noise : float or "auto", default=0.0
        Standard deviation of the answers' errors. Above 0, memberships of queried items are
        shrunk towards the models' predictions. "auto" estimates it.
    levels : int or None, default=None
        Number of points of the answers' scale, which determines their noise; None for a continuous
        scale.
    """

    precision: float = 0.005
    target: float | None = None
    max_items: int | None = 100
    noise: float | Literal["auto"] = 0.0
    levels: int | None = None

    def __post_init__(self) -> None:
        if self.noise != "auto":
            check_number(self.noise, "noise", "Stratified")
        if self.levels is not None:
            check_number(self.levels, "levels", "Stratified", integer=True, minimum=2)
        check_share(self.precision, "precision", "Stratified")
        if self.target is not None:
            check_share(self.target, "target", "Stratified")
        if self.max_items is not None:
            check_number(self.max_items, "max_items", "Stratified", integer=True, minimum=1)

    def policy(
        self,
        X: Any,
        n_clusters: int,
        *,
        fuzzifier: float,
        rng: np.random.Generator,
        ask: Ask = "membership",
        repeats: int = 1,
    ) -> StratifiedPolicy:
        """Make the policy for this data.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items.
        n_clusters : int
            Number of clusters.
        fuzzifier : float
            Alpha of the target, at least 1.
        rng : numpy.random.Generator
            The policy's randomness.
        ask : {"membership", "group", "similarity", "pairwise", "relative"}, default="membership"
            The kind of question, as for `ActiveFuzzyKMeans`.
        repeats : int, default=1
            Maximum mean number of times that a question is asked.

        Returns
        -------
        StratifiedPolicy
            A policy, for `askmeans.run`.
        """
        items = self._checked_items(X, n_clusters, fuzzifier, rng)
        settings = Settings(
            n_clusters=n_clusters,
            fuzzifier=float(fuzzifier),
            ask=ask,
            precision=self.precision,
            target=self.target,
            max_items=self.max_items,
            repeats=repeats,
            scale=Scale(noise=self.noise, levels=self.levels),
            seed=int(rng.integers(2**62)),
        )
        if ask in ("membership", "group"):
            return StratifiedPolicy(items, settings)
        return SimilarityPolicy(items, settings)

    def _make(
        self, items: ItemSet, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Plan:
        return as_plan(self.policy(items, n_clusters, fuzzifier=fuzzifier, rng=rng))
