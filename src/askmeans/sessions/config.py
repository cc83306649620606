"""The parameters of a session as JSON, which determine its policy.

The strategy is stored with its resolved name and sizes, so that another default in a later version
does not change an old session.
"""

import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from askmeans._util.checks import check_name, check_number, check_positive, check_share
from askmeans._util.message import Message
from askmeans.budgets import Forecast, forecast
from askmeans.exceptions import AskmeansError, ParameterError, StoreVersionError
from askmeans.fuzzy.items import as_items
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.sessions.group_numbers import RESERVED
from askmeans.sessions.store.records import (
    SessionRecord,
    as_written,
    check,
    from_stored,
    is_number,
    is_whole,
)
from askmeans.spec import ASK, SIMILARITIES, PlanSpec, as_seed, default_ask
from askmeans.strategies import Stratified

_OWNER = "sessions.create"
FEWEST = 2  # groups that "auto" starts from


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(PlanSpec):
    """The parameters of a session: those of its questions, and its own."""

    annotations: int = 1
    most_annotations: int | None = None  # if people disagree, or models expected another answer
    lease_seconds: float
    cluster_names: list[str] | None = None
    typical: list[list[int]] | None = None  # typical items of each cluster without a name
    feature_names: list[str] | None = None
    grows: bool | None = None  # whether groups are added when the answers suggest it
    units: list[list[float]] | None = None  # [middle, width] of each feature before scaling
    recipe: dict[str, Any] | None = None  # recipe of the features (askmeans.tables)
    uses_names: bool | None = None  # whether names are examples; None in older sessions: not
    encoded_names: dict[str, list[float]] | None = None  # by an embedding that is not stored

    @classmethod
    def of_create(
        cls,
        *,
        n_clusters: Any,
        ask: Any,
        strategy: Any,
        target: Any = None,
        annotations: Any = 1,
        random_state: Any = None,
        lease_seconds: Any,
        cluster_names: Any = None,
        use_names: bool = True,
        **spec: Any,
    ) -> "Config":
        """Check the parameters of `create`; an error names an invalid one."""
        grows = n_clusters == "auto"
        if grows:
            n_clusters = FEWEST if cluster_names is None else len(list(cluster_names))
        _check_strategy(strategy)
        least, most = _annotations(annotations)
        check_positive(lease_seconds, "lease_seconds", _OWNER)
        config = cls.checked(
            _OWNER, n_clusters=n_clusters, ask=default_ask(strategy) if ask is None else ask,
            strategy=strategy, seed=as_seed(random_state, _OWNER), annotations=least,
            most_annotations=most, lease_seconds=float(lease_seconds), grows=grows, **spec,
        )  # fmt: skip
        config.to_json()  # refuses what cannot be stored
        if target is not None:
            check_share(target, "target", _OWNER)
            stopping = replace(config.strategy, target=float(target))
            config = replace(config, strategy=stopping)
        if grows and config.ask != "group":
            raise ParameterError(
                f"The 'n_clusters' parameter of {_OWNER} must be a number, unless groups are asked "
                f"for. Got 'auto' with ask={config.ask!r}; use ask=\"group\"."
            )
        if least == 1 and most is not None and config.ask in SIMILARITIES:
            raise ParameterError(
                f"The 'annotations' parameter of {_OWNER} must be at least 2 for everybody where "
                "no model expects answers, as where items are compared. Got "
                f"{annotations!r:.60}; use (2, {most})."
            )
        return replace(
            config,
            cluster_names=check_names(cluster_names, config.n_clusters),
            uses_names=bool(use_names) and config.ask not in SIMILARITIES,
        )

    @classmethod
    def of_session(cls, record: SessionRecord, url: str) -> "Config":
        """The parameters of a stored session, which must ask with the default strategy."""
        with as_written(url):
            kind = record.config["strategy"]["kind"]
            check(isinstance(kind, str), "strategy")
            if kind == Stratified.__name__:
                return cls.from_json(record.config)
        made_at = time.strftime("%Y-%m-%d", time.gmtime(record.at))
        raise StoreVersionError(
            f"Sessions must ask with the default strategy. Got session {record.name!r} in {url}, "
            f"which {record.made_by} made on {made_at} with {kind}: that version can go on with "
            f"it. Here `askmeans export {shlex.quote(url)}` writes its answers, and `askmeans "
            "import` takes them into a new session.",
            user_message=Message(
                "This session was made with a strategy that this version no longer runs. "
                "Whoever runs it can export the answers and import them into a new session."
            ),
        )

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Config":
        """The inverse of `to_json`; a ValueError for values that `of_create` refuses."""
        spec = PlanSpec.from_json(values)
        named = {field.name: getattr(spec, field.name) for field in fields(PlanSpec)}
        config = from_stored(cls, values | named)
        config._check()
        return config

    def _check(self) -> None:
        """Raise a ValueError for values that `of_create` refuses."""
        check(is_whole(self.n_clusters, 1), "n_clusters")
        check(self.ask in ASK, "ask")
        check(is_whole(self.annotations, 1), "annotations")
        check(is_number(self.lease_seconds, 0.0), "lease_seconds")
        check(is_number(self.fuzzifier, 1.0), "fuzzifier")
        for name in ("budget", "levels", "most_annotations", "seed"):
            check(getattr(self, name) is None or is_whole(getattr(self, name)), name)
        for name in ("cluster_names", "feature_names"):
            listed = getattr(self, name)
            check(listed is None or all(isinstance(each, str) for each in listed), name)
        check(self.cluster_names is None or len(self.cluster_names) == self.n_clusters, "names")
        for rows in self.typical or ():
            check(all(map(is_whole, rows)), "typical")
        check(self.units is None or len(self.units) == 2, "units")
        check(all(is_number(each) for half in self.units or () for each in half), "units")
        check(self.recipe is None or isinstance(self.recipe, dict), "recipe")

    @property
    def target(self) -> float:
        """The share of wrong items at which to stop, as given to `create`; 0.0 for none."""
        return float(self.strategy.target or 0.0)

    def make_policy(self, X: Any, blank: Iterable[int] = ()) -> StratifiedPolicy:
        """Make the policy, the same at every call; blank items come last."""
        made = self.make(as_items(X, blank))
        assert isinstance(made, StratifiedPolicy)
        return made

    def forecast(self, n_items: int) -> Forecast | None:
        """The questions that the strategy will ask about so many items; None if it cannot say."""
        ask: Any = self.ask if self.ask in ("group", "relative") else "membership"
        if self.ask in ("similarity", "pairwise") and self.n_clusters > 1:
            ask = "similarity"
        try:
            return forecast(self.strategy, n_items, self.n_clusters, ask=ask)
        except (AskmeansError, AttributeError, StopIteration):
            return None


def _check_strategy(strategy: Any) -> None:
    """Refuse strategies other than the default one."""
    if strategy in ("auto", "stratified") or isinstance(strategy, Stratified):
        return
    raise ParameterError(
        f"The 'strategy' parameter of {_OWNER} must be \"auto\" or a Stratified: sessions ask with "
        f"the default strategy only. Got {strategy!r:.80} instead; ActiveFuzzyKMeans, askmeans.run "
        "and `askmeans fit` take the strategies of the paper."
    )


def _annotations(value: Any) -> tuple[int, int | None]:
    """The number of answers to each question, and the maximum if people disagree."""
    pair = tuple(value) if isinstance(value, tuple | list) else (value,)
    for number in pair:
        check_number(number, "annotations", _OWNER, integer=True, minimum=1)
    if len(pair) == 1:
        return int(pair[0]), None
    if len(pair) != 2 or pair[0] > pair[1]:
        raise ParameterError(
            f"The 'annotations' parameter of {_OWNER} must be a number, or two: how many answers "
            "each question gets, and how many at most where people disagree or models expected "
            f"another answer. Got {value!r:.60} instead."
        )
    return int(pair[0]), int(pair[1])


def check_names(names: Any, n_clusters: int) -> list[str] | None:
    """Check the names of the clusters: one each, all different; None for none."""
    if names is None:
        return None
    listed = [check_name(str(name), "cluster_names", _OWNER) for name in names]
    if len(listed) != n_clusters or len({*listed, RESERVED}) != n_clusters + 1:
        raise ParameterError(
            f"The 'cluster_names' parameter of {_OWNER} must be {n_clusters} names, all different, "
            f"and none may be {RESERVED!r}, a column of the exports. Got {listed} instead.",
            user_message=Message(
                "Each group needs a name of its own, and none may be called “{name}”.",
                name=RESERVED,
            ),
        )
    return listed
