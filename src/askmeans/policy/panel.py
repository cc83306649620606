"""Language models beside people: what their answers are worth, by how they agree with people's.

Rules of this file:
- A model's answers never stand as people's do: they only move what the policy expects of an item.
- What a model says of items of each group is its confusion matrix (Dawid and Skene, 1979), learnt
  from items that people answered, too, and a little from what the policy expects of the others.
- A model counts only as far as it predicts people's answers better that it was not fitted to.
- Before people have answered enough to tell, a model is believed as one that is often right.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans.queries import Answers, GroupQueries, is_model

__all__ = ["Candidate", "ModelAnswers", "Panel", "People", "Weighed", "audit_order", "panel_of",
           "weigh", "without_models"]  # fmt: skip

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Where no other source is named: by benchmarks/panel.py. Beside a good model, five development sets
# and two seeds, .7 and .9, or half and twice as much, change the error by under .02 of people's.
_RIGHT, _WORTH = 0.8, 4.0  # how often a model is taken to be right, and for how many answers
_SMOOTH = 5.0  # answers that "wrong as elsewhere" counts for, in each row of a confusion matrix
_UNASKED = (0.0, 0.1, 0.3)  # what an item counts that nobody was asked about, beside one asked
_STEPS = 25  # of expectation maximisation; ten give the same to .01
_ENOUGH = 8  # people's answers to the same items, from which on these decide
# Standard errors by which a model must help. With 1.645 the error beside a good one is .72 of that
# of people alone after 12 cards, not .66, and .48, not .47, after 60; at chance it is the same.
_SURE = 1.0
_LEAST = 1e-4  # of a membership: nothing is impossible
_HARDLY = 0.05  # weight below which that is told: of one at chance it is below that (tests)
_SHARES = (0.25, 0.5, 0.75, 1.0)  # a grid: held-out answers choose


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """What a model said: items in ascending order, and a row of shares each, the rest last."""

    name: str
    items: Rows
    says: Floats  # (n, n_clusters + 1); the last column is "none of these"

    def digest(self) -> bytes:
        """What tells these answers from others."""
        parts = (self.name.encode(), self.items.tobytes(), self.says.tobytes())
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()

    def of(self, items: Rows) -> tuple[NDArray[np.bool_], Floats]:
        """Of which of these items it said something, and what."""
        if not len(self.items):
            return np.zeros(len(items), dtype=bool), self.says
        place = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        known = self.items[place] == items
        return known, self.says[place[known]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A way to use a model: as evidence on groups (a product), or as a share of the mean."""

    unasked: float = 0.1  # what an item counts that people were not asked about
    power: float = 1.0  # of what it says as evidence; 0 for no evidence
    share: float = 0.0  # of the mean, otherwise

    @property
    def is_silent(self) -> bool:
        """Whether it leaves everything as it is."""
        return self.power == 0.0 and self.share == 0.0


SILENT = Candidate(power=0.0)
FIRST = Candidate(unasked=0.0)  # before people's answers decide
_CANDIDATES = (
    *(Candidate(unasked=u, power=p) for u in _UNASKED for p in (1.0, 0.5)),
    *(Candidate(power=0.0, share=s) for s in _SHARES),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A model, what it says of items of each group, and how it is used."""

    answers: ModelAnswers
    confusion: Floats  # (k, n_clusters + 1): how often it says what of items of each group
    use: Candidate
    n_together: int  # items that people answered, too
    agreement: float | None  # share of these in which it says what people say

    @property
    def weight(self) -> float:
        """How much of what there is to know it tells, from 0 (chance) to 1; 0 if it is not used."""
        k = len(self.confusion)
        joint = self.confusion / k
        marginal = joint.sum(axis=0)
        told = float((joint * np.log(self.confusion / marginal)).sum()) / np.log(max(k, 2))
        return float(max(0.0, told) * max(self.use.power, self.use.share))

    def applied(self, items: Rows, U: Floats) -> Floats:
        """Rows of these items, moved by what the model says of them."""
        known, says = self.answers.of(items)
        moved = U.copy()
        moved[known] = _moved(U[known], says, self.confusion, self.use)
        return moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Every model with its weight, and the power that calibrates rows after they spoke."""

    models: tuple[Weighed, ...] = ()
    sharpness: float = 1.0

    def applied(self, items: Rows, U: Floats, without: str | None = None) -> Floats:
        """Rows of these items, moved by what the models say; as they are where none is used."""
        for model in self.models:
            if not model.use.is_silent and model.answers.name != without:
                U = model.applied(items, U)
        return U

    @property
    def is_silent(self) -> bool:
        """Whether nothing rests on any model."""
        return all(model.use.is_silent for model in self.models)

    @property
    def is_proven(self) -> bool:
        """Whether people's answers decided how each model is used that is."""
        return all(model.n_together >= _ENOUGH for model in self.models if not model.use.is_silent)

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """The models as diagnostics have them."""
        return {
            model.answers.name: {
                "weight": model.weight,
                "agreement": model.agreement,
                "together": model.n_together,
                "answers": len(model.answers.items),
            }
            for model in self.models
        }

    def notes(self) -> list[str]:
        """A sentence about each that tells hardly more than chance."""
        return [
            f"The answers of {model.answers.name!r} agree with people's hardly more than chance "
            f"would ({model.agreement or 0.0:.0%} of {model.n_together} items): next to nothing "
            "rests on them."
            for model in self.models
            if model.n_together >= _ENOUGH and model.weight < _HARDLY
        ]


def without_models(answers: Answers) -> Answers:
    """People's answers only."""
    if not any(is_model(name) for batch in answers.batches for name in set(batch.annotators or ())):
        return answers
    kept = []
    for batch in answers.batches:
        mine = np.array([not is_model(batch.who(row)) for row in range(len(batch.queries))])
        if mine.all():
            kept.append(batch)
        elif mine.any():
            names = batch.annotators or ()
            kept.append(
                replace(
                    batch, queries=batch.queries.take(mine), values=batch.values[mine],
                    annotators=tuple(n for n, keep in zip(names, mine, strict=True) if keep),
                )
            )  # fmt: skip
    return Answers(kept)


def panel_of(answers: Answers, n_clusters: int) -> tuple[ModelAnswers, ...]:
    """What each model said of whole rows, as far as it could say; the last of several stands."""
    said: dict[str, dict[int, Floats]] = {}
    for batch in answers.batches:
        if not any(map(is_model, set(batch.annotators or ()))):
            continue
        if batch.annotators is None or not isinstance(batch.queries, GroupQueries):
            continue
        for item, name, row in zip(
            batch.queries.items.tolist(), batch.annotators, batch.values, strict=True
        ):
            if is_model(name) and len(row) == n_clusters and not np.isnan(row).any():
                said.setdefault(name, {})[item] = row
    found = []
    for name, rows in sorted(said.items()):
        items = np.array(sorted(rows), dtype=np.intp)
        says = np.array([rows[item] for item in items.tolist()])
        rest = np.clip(1.0 - says.sum(axis=1, keepdims=True), 0.0, 1.0)
        found.append(ModelAnswers(name=name, items=items, says=np.hstack([says, rest])))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What people said of some items (numbers), and what models expected that had not seen it."""

    items: Rows
    Y: Floats
    expected: Floats
    weight: Floats
    folds: Rows


def weigh(
    models: Sequence[ModelAnswers], people: People | None, unasked: Rows, U: Floats
) -> tuple[Panel, Floats]:
    """The panel, and what it says of people's items by models weighed without them.

    U has what is expected of the items in `unasked`, which people were not asked about. One model
    after the other is added, each to what those before it tell.
    """
    weighed = []
    held = np.empty((0, U.shape[1])) if people is None else people.expected
    for answers in models:
        model, held = _weighed(answers, people, held, unasked, U)
        weighed.append(model)
        U = U if model.use.is_silent else model.applied(unasked, U)
    return Panel(models=tuple(weighed)), held


def _weighed(
    answers: ModelAnswers, people: People | None, held: Floats, unasked: Rows, U: Floats
) -> tuple[Weighed, Floats]:
    """A model, used as suits people's answers best, and what follows for these, held out."""
    other, says = answers.of(unasked)
    more = _Rows(truth=U[other], says=says)
    if people is None:
        nothing = _Rows(truth=U[:0], says=says[:0])
        confusion = _confusion(nothing, more, 0.0)
        return Weighed(answers=answers, confusion=confusion, use=FIRST, n_together=0,
                       agreement=None), held  # fmt: skip
    known, said = answers.of(people.items)
    both = _Rows(truth=people.Y[known], says=said)
    use, best = FIRST, held
    if known.sum() >= _ENOUGH:
        use, best = _best(both, more, held, known, people)
    agreement = float((both.truth.argmax(1) == said.argmax(1)).mean()) if known.any() else None
    confusion = _confusion(both, more, use.unasked)
    model = Weighed(answers=answers, confusion=confusion, use=use, n_together=int(known.sum()),
                    agreement=agreement)  # fmt: skip
    return model, best


def _best(
    both: "_Rows", more: "_Rows", held: Floats, known: NDArray[np.bool_], people: People
) -> tuple[Candidate, Floats]:
    """The use that predicts people's answers best, each fold by the others, and what it says."""
    folds, before = people.folds[known], held[known]
    weight = people.weight[known] / people.weight[known].sum()
    confusions = {
        (u, fold): _confusion(both.part(folds != fold), more, u)
        for u in {candidate.unasked for candidate in _CANDIDATES}
        for fold in np.unique(folds)
    }
    plain = np.square(before - both.truth).sum(axis=1)
    chosen, best, most = SILENT, held, 0.0
    for candidate in _CANDIDATES:
        rows = before.copy()
        for fold in np.unique(folds):
            inside = folds == fold
            confusion = confusions[candidate.unasked, fold]
            rows[inside] = _moved(before[inside], both.says[inside], confusion, candidate)
        gain = plain - np.square(rows - both.truth).sum(axis=1)
        mean = float(weight @ gain)
        luck = np.sqrt(float(weight**2 @ np.square(gain - mean)))
        if mean - _SURE * luck > most:
            chosen, most = candidate, mean - _SURE * luck
            best = held.copy()
            best[known] = rows
    return chosen, best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What is so, as far as is known, and what a model says of it."""

    truth: Floats
    says: Floats

    def part(self, chosen: NDArray[np.bool_]) -> "_Rows":
        """Some of them."""
        return _Rows(truth=self.truth[chosen], says=self.says[chosen])


def _confusion(both: _Rows, more: _Rows, unasked: float) -> Floats:
    """What a model says of items of each group: rows sum to one.

    By expectation maximisation: given what is expected of items, the likelihood is concave. A row
    is shrunk to being right as often as in general, and wrong as its answers are spread.
    """
    if not unasked:
        more = more.part(np.zeros(len(more.says), dtype=bool))
    truth, says = np.vstack([both.truth, more.truth]), np.vstack([both.says, more.says])
    weight = np.repeat([1.0, unasked], [len(both.says), len(more.says)])
    k, width = truth.shape[1], says.shape[1]
    spread = (weight @ says + 0.5) / (weight.sum() + 0.5 * width)
    counts = np.zeros((k, width))
    found = _usual(counts, spread)
    for _ in range(_STEPS):
        likely = np.maximum(((truth @ found) * says).sum(axis=1), 1e-300)
        counts = found * ((truth * (weight / likely)[:, None]).T @ says)
        found = (counts + _SMOOTH * _usual(counts, spread)) / (
            counts.sum(axis=1, keepdims=True) + _SMOOTH
        )
    return found


def _usual(counts: Floats, spread: Floats) -> Floats:
    """A confusion matrix that is right as often as these counts are in general."""
    k, width = counts.shape
    right = (float(np.trace(counts)) + _WORTH * _RIGHT) / (float(counts.sum()) + _WORTH)
    chance = float(spread[:k].mean())
    skill = min(max((right - chance) / (1.0 - chance), 0.0), 0.99)
    usual: Floats = skill * np.eye(k, width) + (1.0 - skill) * spread
    return usual


def _moved(U: Floats, says: Floats, confusion: Floats, use: Candidate) -> Floats:
    """Rows as they are after a model has spoken."""
    if use.share:
        told = says @ (confusion / confusion.sum(axis=0)).T
        mixed: Floats = (1.0 - use.share) * U + use.share * told
        return mixed
    likely = np.maximum(U, _LEAST) * (says @ confusion.T) ** use.power
    moved: Floats = likely / likely.sum(axis=1, keepdims=True)
    return moved


def audit_order(n: int, seed: int) -> list[int]:
    """All items in a random order that neither answers nor items added later change."""
    drawn = np.random.default_rng([seed, 23]).random(n)
    order: list[int] = np.argsort(drawn, kind="stable").tolist()
    return order
