"""PlanSpec: all parameters that determine the questions, as a validated record and as JSON."""

import dataclasses
import json
import secrets
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self, get_args

import numpy as np

from askmeans._util.checks import check_choice, check_number, check_seed
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import check_fuzzifier
from askmeans.paper import Plan, by_similarity, repeated
from askmeans.paper.known import Similarities
from askmeans.paper.pool import Route, least_questions
from askmeans.paper.same_or_different import same_or_different
from askmeans.policy import Policy
from askmeans.policy.growing import GrowingPolicy
from askmeans.policy.ranking import Ask
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.strategies import Sequential, Strategy, Stratified, TwoClusters, TwoPhase

ASK: tuple[str, ...] = get_args(Ask)
SIMILARITIES = ("similarity", "pairwise", "relative")
_DEFAULT_ONLY = ("group", "relative")  # kinds that the strategies of the paper do not have
_NAMED: dict[str, type[Strategy]] = {
    "auto": Stratified,
    "stratified": Stratified,
    "two-phase": TwoPhase,
    "sequential": Sequential,
    "two-clusters": TwoClusters,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSpec:
    """Parameters of a strategy and its questions.

    >>> spec = PlanSpec.checked("me", n_clusters=3)
    >>> spec.strategy.max_items, PlanSpec.from_json(spec.to_json()) == spec
    (100, True)
    """

    n_clusters: int
    ask: str = "membership"  # one of ASK; "group" and "relative" with the default strategy only
    strategy: Any = "auto"  # a name, or an object with a method `plan`, as `checked` makes it
    budget: int | None = None  # maximum number of different questions
    levels: int | None = None  # number of points of the answers' scale; None for a continuous one
    repeats: int = 1  # maximum mean number of times that a question is asked
    fuzzifier: float = 2.0  # alpha of the target
    seed: int = 0  # of the choice of questions

    @classmethod
    def checked(cls, owner: str, **raw: Any) -> Self:
        """Make a record with plain numbers and a strategy object.

        An invalid parameter is a ParameterError that names the owner.
        """
        spec = cls(**raw)
        check_number(spec.n_clusters, "n_clusters", owner, integer=True, minimum=1)
        check_fuzzifier(spec.fuzzifier, owner, strict=False)
        check_choice(spec.ask, ASK, "ask", owner)
        for name, least in (("budget", 1), ("levels", 2)):
            if (value := getattr(spec, name)) is not None:
                check_number(value, name, owner, integer=True, minimum=least)
        check_number(spec.repeats, "repeats", owner, integer=True, minimum=1)
        check_seed(spec.seed, "seed", owner)
        strategy = _as_strategy(spec.strategy, owner)
        kind = type(strategy).__name__
        if spec.levels is not None and not isinstance(strategy, Stratified):
            raise ParameterError(
                f"The 'levels' parameter of {owner} must be None with {kind}, which "
                f"assumes exact answers. Got {spec.levels} instead; use the default "
                'strategy, "auto", for answers on a coarse scale.'
            )
        if spec.ask in _DEFAULT_ONLY and not isinstance(strategy, Stratified):
            raise ParameterError(
                f"The 'ask' parameter of {owner} must not be {spec.ask!r} with "
                f"{kind}, which asks for single memberships. Got {spec.ask!r} instead; "
                'use ask="membership", or the default strategy, "auto".'
            )
        integers = ("n_clusters", "budget", "levels", "repeats", "seed")
        numbers = {name: getattr(spec, name) for name in integers}
        plain: dict[str, Any] = {n: int(value) for n, value in numbers.items() if value is not None}
        return replace(spec, strategy=strategy, fuzzifier=float(spec.fuzzifier), **plain)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "PlanSpec":
        """Read the record of a session, which this or another version wrote.

        Missing fields have their defaults and unknown ones are ignored, also those of the strategy.
        """
        spec = cls(**_known(cls, values))
        if isinstance(spec.strategy, dict):
            if spec.strategy.get("kind") != Stratified.__name__:
                raise ParameterError(
                    "The strategy of a session must be Stratified. Got "
                    f"{spec.strategy} instead; install the version of askmeans that made it."
                )
            spec = replace(spec, strategy=Stratified(**_known(Stratified, spec.strategy)))
        return spec

    def to_json(self) -> dict[str, Any]:
        """Convert to plain values for a session, which has the default strategy.

        The strategy's sizes are included, so that another default in a later version does not
        change a stored record.
        """
        strategy = _as_strategy(self.strategy, "PlanSpec")
        if type(strategy) is not Stratified:
            raise ParameterError(
                "The 'strategy' parameter of a session must be a Stratified, which can be stored. "
                f"Got {strategy!r} instead."
            )
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        try:
            sizes = json.loads(json.dumps(dataclasses.asdict(strategy)))
        except TypeError as error:
            raise ParameterError(
                f"A strategy's sizes must be plain numbers. Got {strategy!r} instead."
            ) from error
        return plain | {"strategy": {"kind": Stratified.__name__, **sizes}}

    def make(self, X: Any, *, noisy: bool | None = None) -> Plan | Policy:
        """Make the policy or plan for this data; equal calls make equal ones.

        `noisy` states whether similarities are noisy; None detects it from the answers.
        """
        rng = np.random.default_rng(self.seed)
        similar, strategy = self._similar, self._prepared(noisy=noisy)
        if isinstance(strategy, Stratified):
            ask: Any = "membership" if self.ask in SIMILARITIES and not similar else self.ask
            return strategy.policy(
                X, self.n_clusters, fuzzifier=self.fuzzifier, rng=rng, repeats=self.repeats, ask=ask
            )
        plan = self._by_similarity(X, rng, noisy) if similar else self._plan(X, strategy, rng)
        if self.repeats == 1:
            return plan
        # The median ignores one wrong answer of three to a pair.
        return repeated(plan, self.repeats, how="median" if similar else "mean")

    def make_growing(self, X: Any, most: int) -> Policy:
        """Make the policy that learns the number of clusters, from this one's to `most`."""
        if self.ask != "group":
            raise ParameterError(
                "The 'n_clusters' parameter must be a number unless ask=\"group\". "
                f"Got 'auto' with ask={self.ask!r}; use ask=\"group\"."
            )

        def policy(n_clusters: int) -> StratifiedPolicy:
            made = replace(self, n_clusters=n_clusters).make(X)
            assert isinstance(made, StratifiedPolicy)
            return made

        return GrowingPolicy(policy, self.n_clusters, most)

    @property
    def _similar(self) -> bool:
        """Whether similarities are asked; one cluster needs no comparisons."""
        return self.ask in SIMILARITIES and self.n_clusters > 1

    def _prepared(self, *, noisy: bool | None = None) -> Any:
        """Return the strategy with the levels, the noise and the size that follow from the spec."""
        strategy = _as_strategy(self.strategy, "PlanSpec")
        if not isinstance(strategy, Stratified):
            return strategy
        if self.budget is not None:
            strategy = replace(strategy, max_items=None)  # the budget is the limit
        if strategy.noise != 0.0 or strategy.levels is not None:
            return strategy  # its own settings take precedence
        several = self.repeats > 1 and (self.levels is not None or self._similar)
        unknown = several or (self._similar and noisy and self.levels is None)
        return replace(strategy, levels=self.levels, noise="auto" if unknown else 0.0)

    def _plan(self, X: Any, strategy: Any, rng: np.random.Generator) -> Plan:
        """Make a plan that asks for memberships."""
        made: Plan = strategy.plan(X, self.n_clusters, fuzzifier=self.fuzzifier, rng=rng)
        return made

    def _by_similarity(self, X: Any, rng: np.random.Generator, noisy: bool | None) -> Plan:
        """Make a plan of the paper that asks for similarities (Algorithm 9).

        It starts with "same or different?" questions, as long as the answers are 0 or 1.
        """
        route: Route = "triplet" if self.ask == "similarity" else "pairwise"
        budget = self.budget
        if budget is not None and self.repeats > 1:  # leave a part for the repeats
            budget = max(
                budget // self.repeats, min(budget, least_questions(self.n_clusters, route))
            )
        make = partial(self._plan, X, self._prepared())

        def pooled(rng: np.random.Generator, similar: Similarities | None = None) -> Plan:
            return by_similarity(
                make(rng), len(X), self.n_clusters, rng=rng, route=route, noisy=noisy,
                budget=budget, similar=similar,
            )  # fmt: skip

        if self.repeats > 1 or noisy:
            return pooled(rng)
        return same_or_different(make, pooled, len(X), self.n_clusters, rng=rng)


def _known(record: type, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are fields of this dataclass."""
    names = {field.name for field in dataclasses.fields(record)}
    return {name: value for name, value in values.items() if name in names}


def default_ask(strategy: Any) -> str:
    """The default kind of question: groups, if the strategy supports them."""
    plain = strategy in ("auto", "stratified") or isinstance(strategy, Stratified)
    return "group" if plain else "membership"


def as_seed(random_state: Any, owner: str) -> int:
    """Convert a random state to one reproducible seed."""
    if random_state is None:
        return secrets.randbits(62)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if isinstance(random_state, Integral):
        check_seed(random_state, "random_state", owner)
        return int(random_state)
    raise ParameterError(
        f"The 'random_state' parameter of {owner} must be an int, a numpy Generator or None. "
        f"Got {random_state!r} instead."
    )


def _as_strategy(strategy: Any, owner: str) -> Any:
    """Return the strategy of this name with its defaults; strategy objects are unchanged."""
    if hasattr(strategy, "plan") and not isinstance(strategy, type):
        return strategy
    check_choice(strategy, _NAMED, "strategy", owner)
    return _NAMED[strategy]()
