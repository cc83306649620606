"""A session's parameters as JSON: all that is needed to make the same policy again.

The strategy is stored with its resolved name and sizes, so that another default in a later version
does not change an old session.
"""

import dataclasses
import json
import secrets
from collections.abc import Generator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from askmeans import strategies
from askmeans.asking import check_asking, make_plan, named_strategy
from askmeans.checks import check_name, check_number, check_positive, check_seed
from askmeans.exceptions import DataError, ParameterError, SessionError
from askmeans.plans.answers import Plan
from askmeans.policy import Policy
from askmeans.policy.adapter import PlanPolicy
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.sessions.display import RESERVED
from askmeans.sessions.stored import from_stored
from askmeans.strategies import Strategy, Stratified

__all__ = ["Config"]

_OWNER = "sessions.create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a session was made with."""

    n_clusters: int
    ask: str
    strategy: dict[str, Any]  # {"kind": "TwoPhase", "sample_size": 100, ...}
    budget: int | None
    levels: int | None
    annotations: int
    fuzzifier: float
    seed: int
    lease_seconds: float
    cluster_names: list[str] | None
    typical: list[list[int]] | None  # items that tell what each cluster is, where nobody named it
    feature_names: list[str] | None
    units: list[list[float]] | None  # [middle, width] of each feature: what it was scaled by

    @classmethod
    def checked(
        cls,
        *,
        n_clusters: Any,
        ask: Any,
        strategy: Any,
        budget: Any,
        levels: Any,
        annotations: Any,
        fuzzifier: Any,
        random_state: Any,
        lease_seconds: Any,
        cluster_names: Any,
    ) -> "Config":
        """The parameters, or an error that names the one that breaks its rule."""
        check_asking(
            _OWNER, n_clusters=n_clusters, ask=ask, budget=budget, levels=levels,
            fuzzifier=fuzzifier,
        )  # fmt: skip
        check_number(annotations, "annotations", _OWNER, integer=True, minimum=1)
        check_positive(lease_seconds, "lease_seconds", _OWNER)
        return cls(
            n_clusters=int(n_clusters),
            ask=ask,
            strategy=_as_json(named_strategy(strategy, _OWNER)),
            budget=None if budget is None else int(budget),
            levels=None if levels is None else int(levels),
            annotations=int(annotations),
            fuzzifier=float(fuzzifier),
            seed=_seed(random_state),
            lease_seconds=float(lease_seconds),
            cluster_names=check_names(cluster_names, int(n_clusters)),
            typical=None,
            feature_names=None,
            units=None,
        )

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Config":
        """What `to_json` made."""
        return from_stored(cls, values)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return dataclasses.asdict(self)

    def make_strategy(self) -> Strategy:
        """The strategy, as it was."""
        sizes = dict(self.strategy)
        kind = getattr(strategies, sizes.pop("kind"), None)
        try:
            if kind is None:
                raise TypeError("no such strategy")
            strategy: Strategy = kind(**sizes)
        except TypeError as error:
            raise SessionError(
                f"The session's strategy must be one of this version. Got {self.strategy} "
                f"({error}); install the version of askmeans that made the session."
            ) from error
        return strategy

    @property
    def has_plan(self) -> bool:
        """Whether questions are those of a plan, in rounds, and not of the default policy."""
        similar = self.ask != "membership" and self.n_clusters > 1
        return similar or self.strategy["kind"] != Stratified.__name__

    def make_policy(self, X: Any) -> PlanPolicy | StratifiedPolicy:
        """The policy, from its beginning; the same at every call."""
        if self.has_plan:
            return PlanPolicy(lambda: self.make_plan(X), self.n_clusters)
        made = self._make(X)
        assert isinstance(made, StratifiedPolicy)
        return made

    def make_plan(self, X: Any) -> Plan:
        """The plan, from its beginning; the same at every call."""
        made = self._make(X)
        assert isinstance(made, Generator)
        return made

    def _make(self, X: Any) -> Plan | Policy:
        """The plan or policy of these parameters."""
        return make_plan(
            X,
            self.n_clusters,
            strategy=self.make_strategy(),
            ask=self.ask,
            budget=self.budget,
            levels=self.levels,
            fuzzifier=self.fuzzifier,
            rng=np.random.default_rng(self.seed),
        )


def check_names(names: Any, n_clusters: int) -> list[str] | None:
    """Names of the clusters, one each and all different; None stays None."""
    if names is None:
        return None
    listed = [check_name(str(name), "cluster_names", _OWNER) for name in names]
    if len(listed) != n_clusters or len({*listed, RESERVED}) != n_clusters + 1:
        raise ParameterError(
            f"The 'cluster_names' parameter of {_OWNER} must be {n_clusters} names, all different, "
            f"and none may be {RESERVED!r}, a column of the exports. Got {listed} instead."
        )
    return listed


def _as_json(strategy: Any) -> dict[str, Any]:
    """A strategy of ours as plain values."""
    kind = type(strategy).__name__
    if getattr(strategies, kind, None) is not type(strategy):
        raise ParameterError(
            f"The 'strategy' parameter of {_OWNER} must be one of askmeans' own, which can be made "
            f"again from its sizes. Got {strategy!r} instead."
        )
    try:
        sizes: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(strategy)))
    except TypeError as error:
        raise DataError(f"A strategy's sizes must be plain numbers. Got {strategy!r}.") from error
    return {"kind": kind, **sizes}


def _seed(random_state: Any) -> int:
    """One number to make the same questions from, again and again."""
    if random_state is None:
        return secrets.randbits(62)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if isinstance(random_state, Integral):
        check_seed(random_state, "random_state", _OWNER)
        return int(random_state)
    raise ParameterError(
        f"The 'random_state' parameter of {_OWNER} must be an int, a numpy Generator or None. "
        f"Got {random_state!r} instead."
    )
