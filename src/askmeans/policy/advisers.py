"""Advisers: language models or other classifiers, weighted by their agreement with people.

Rules of this file:
- Advice is a row of shares for each item, of an adviser of unknown reliability. Unlike people's
  answers it is never final: it changes the expected memberships only.
- The confusion matrix of an adviser (Dawid and Skene, 1979) is learnt from items that people
  answered, and with a small weight from the expected memberships of the others.
- An adviser counts as much as it improves predictions of held-out answers. Before there are enough
  answers, it is assumed to have the usual accuracy.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans._util.message import Message, Percent
from askmeans.policy.calibration import calibrating_power, sharpened
from askmeans.policy.models.linear import lda
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool
from askmeans.policy.stacking import Stack, with_rows

# Where no other source is named: by benchmarks/panel.py. Beside a good model, five development sets
# and two seeds, .7 and .9, or half and twice as much, change the error by under .02 of people's.
_RIGHT, _WORTH = 0.8, 4.0  # prior accuracy of an adviser, and its weight in answers
_SMOOTH = 5.0  # weight in answers of the usual confusions, in each row of a confusion matrix
_UNASKED = (0.0, 0.1, 0.3)  # weights of an item without an answer
_STEPS = 25  # of expectation maximisation; ten give the same to .01
_ENOUGH = 8  # items with people's answers from which on these decide
_LEAST = 1e-4  # smallest probability
_HARDLY = 0.05  # weight below which a note warns; at chance it is lower (tests)
_SHARES = (0.25, 0.5, 0.75, 1.0)  # a grid: held-out answers choose


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The rows of one adviser: items in ascending order, and their shares, "none of these" last."""

    name: str
    items: Rows
    shares: Floats  # (n, n_clusters + 1); the last column is "none of these"
    is_smoothed: bool = False  # whether it is what the features say of another adviser's

    @classmethod
    def of_table(cls, name: str, items: Rows, table: Floats) -> "Advice":
        """The rows of a table (one for each item, a column for each group) without NaN."""
        known = ~np.isnan(table).any(axis=1)
        items, table = items[known], table[known]
        order = np.argsort(items, kind="stable")
        rest = np.clip(1.0 - table.sum(axis=1, keepdims=True), 0.0, 1.0)
        return cls(name=name, items=items[order], shares=np.hstack([table, rest])[order])

    @cached_property
    def digest(self) -> bytes:
        """A digest of the advice."""
        parts = (self.name.encode(), self.items.tobytes(), self.shares.tobytes())
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()

    def among(self, items: Rows) -> "Advice":
        """The advice on some items, by their place among these."""
        known, shares = self.of(items)
        return replace(self, items=np.flatnonzero(known), shares=shares)

    def of(self, items: Rows) -> tuple[NDArray[np.bool_], Floats]:
        """Which of these items have advice, and the rows."""
        if not len(self.items):
            return np.zeros(len(items), dtype=bool), self.shares
        place = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        known = self.items[place] == items
        return known, self.shares[place[known]]


def smoothed(advice: Advice, pool: Pool) -> Advice | None:
    """What the pool's features say of an adviser's shares; None of too few.

    It lacks the slips that do not follow from the features: each item's shares come from the advice
    about others, by a discriminant analysis.
    """
    known, shares = advice.of(pool.rows)
    is_placed = shares[:, :-1].sum(axis=1) > 0.5
    rows, Y = np.flatnonzero(known)[is_placed], shares[is_placed, :-1]
    if len(rows) < _ENOUGH * Y.shape[1]:
        return None
    even = np.ones(len(rows))
    fitted = lda(pool, Training.of(rows, Y / Y.sum(axis=1, keepdims=True), even, even))
    U = fitted.pool.copy()
    U[rows] = fitted.held_out
    name = f"{advice.name}, smoothed"
    return replace(Advice.of_table(name, pool.rows, U), is_smoothed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A use of advice: as evidence (a product of probabilities), or as a share of a mean."""

    unasked: float = 0.1  # the weight of an item without an answer, to learn the confusion matrix
    power: float = 1.0  # exponent of the evidence; 0 for no evidence
    share: float = 0.0  # share of the mean, without evidence

    @property
    def is_silent(self) -> bool:
        """Whether advice is ignored."""
        return self.power == 0.0 and self.share == 0.0


_SILENT = Use(power=0.0)
_FIRST = Use(unasked=0.0)  # before enough people's answers
_USES = (
    *(Use(unasked=u, power=p) for u in _UNASKED for p in (1.0, 0.5)),
    *(Use(power=0.0, share=s) for s in _SHARES),
)
# What follows from the features is not independent of the models.
_USES_SMOOTHED = tuple(Use(unasked=u, power=p) for u in _UNASKED for p in (0.5, 0.25))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adviser:
    """An adviser with its confusion matrix and the use of its advice."""

    advice: Advice
    confusion: Floats  # (k, n_clusters + 1): distributions of advice on items of each group
    use: Use
    n_together: int  # number of items with people's answers
    agreement: float | None  # share of these with the same strongest group

    @property
    def weight(self) -> float:
        """The used information in its advice, from 0 (chance) to 1."""
        k = len(self.confusion)
        joint = self.confusion / k
        marginal = joint.sum(axis=0)
        information = float((joint * np.log(self.confusion / marginal)).sum()) / np.log(max(k, 2))
        return float(max(0.0, information) * max(self.use.power, self.use.share))

    def applied(self, items: Rows, U: Floats) -> Floats:
        """Rows of these items, changed by its advice."""
        known, shares = self.advice.of(items)
        changed = U.copy()
        changed[known] = _changed(U[known], shares, self.confusion, self.use)
        return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisers:
    """All advisers, and the power that calibrates rows after their advice."""

    members: tuple[Adviser, ...] = ()
    sharpness: float = 1.0

    def applied(self, items: Rows, U: Floats) -> Floats:
        """Rows of these items, changed by all advice that is used."""
        for adviser in self.members:
            if not adviser.use.is_silent:
                U = adviser.applied(items, U)
        return U

    @property
    def given(self) -> tuple[Adviser, ...]:
        """The advisers themselves, without what was made of their advice."""
        return tuple(adviser for adviser in self.members if not adviser.advice.is_smoothed)

    @property
    def are_silent(self) -> bool:
        """Whether all advice is ignored."""
        return all(adviser.use.is_silent for adviser in self.members)

    @property
    def are_proven(self) -> bool:
        """Whether every used adviser was compared with enough answers of people."""
        return all(a.n_together >= _ENOUGH for a in self.members if not a.use.is_silent)

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """The advisers, for diagnostics."""
        return {
            adviser.advice.name: {
                "weight": adviser.weight,
                "agreement": adviser.agreement,
                "together": adviser.n_together,
                "answers": len(adviser.advice.items),
            }
            for adviser in self.given
        }

    def notes(self) -> list[str]:
        """A sentence about each adviser that is hardly better than chance."""
        return [
            Message(
                "The answers of '{name}' agree with people's hardly more than chance would "
                "({share} of {n_items} items): next to nothing rests on them.",
                name=adviser.advice.name,
                share=Percent(round(adviser.agreement or 0.0, 2)),
                n_items=adviser.n_together,
            )
            for adviser in self.given
            if adviser.n_together >= _ENOUGH and adviser.weight < _HARDLY
        ]


def weigh_before_answers(advice: Sequence[Advice], items: Rows, U: Floats) -> Advisers:
    """Advisers with the usual accuracy, before people's answers."""
    members = []
    for one in advice:
        nothing = _Rows(truth=U[:0], shares=one.shares[:0])
        confusion = _confusion(nothing, nothing, 0.0)
        adviser = Adviser(advice=one, confusion=confusion, use=_FIRST, n_together=0, agreement=None)
        members.append(adviser)
        U = adviser.applied(items, U)
    return Advisers(members=tuple(members))


def consult(
    stack: Stack,
    advice: Sequence[Advice],
    training: Training,
    items: Rows,
    smooth: Callable[[Advice], Advice | None],
) -> tuple[Advisers, Stack]:
    """Weight the advisers, and return them with the changed stack.

    `items` are the numbers of the pool's items. Advisers are added one after the other, each to the
    predictions with those before it; after one that helps, what `smooth` makes of it.
    """
    unasked = np.setdiff1d(np.arange(len(items)), training.rows)
    held_out, U, members = stack.held_out, stack.pool[unasked], []
    waiting = list(advice)
    while waiting:
        one = waiting.pop(0)
        adviser, held_out = _weighed(one, training, items, held_out, items[unasked], U)
        members.append(adviser)
        if adviser.use.is_silent:
            continue
        U = adviser.applied(items[unasked], U)
        if adviser.n_together >= _ENOUGH and not one.is_smoothed:
            more = smooth(one)
            waiting[:0] = [] if more is None else [more]
    advisers = Advisers(members=tuple(members))
    if advisers.are_silent:
        return advisers, stack
    pool = advisers.applied(items, stack.pool)
    power = calibrating_power(
        held_out, training.Y, training.known, training.weight, hard=training.is_hard
    )
    calibrated = sharpened(held_out, power)
    # Unproven advisers do not change the ranking: one at chance would cost questions.
    uncertainty = _uncertainty(pool)
    changed = with_rows(
        stack, training, sharpened(pool, power), calibrated, uncertainty,
        held_out_uncertainty=_uncertainty(held_out),
        errors=np.abs(calibrated - training.Y).mean(axis=1),
    )  # fmt: skip
    if not advisers.are_proven:
        changed = replace(changed, uncertainty=stack.uncertainty)
    return replace(advisers, sharpness=power), changed


def _uncertainty(mean: Floats) -> Floats:
    """The uncertainty of each row: the error of a group drawn by these probabilities."""
    return np.asarray(2.0 * (mean * (1.0 - mean)).mean(axis=1) + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Known rows, and an adviser's rows of the same items."""

    truth: Floats
    shares: Floats

    def part(self, chosen: NDArray[np.bool_]) -> "_Rows":
        """Some of them."""
        return _Rows(truth=self.truth[chosen], shares=self.shares[chosen])


def _weighed(
    advice: Advice, training: Training, items: Rows, held_out: Floats, unasked: Rows, U: Floats
) -> tuple[Adviser, Floats]:
    """An adviser with its best use, and the held-out rows of people's answers with it."""
    other, shares = advice.of(unasked)
    more = _Rows(truth=U[other], shares=shares)
    known, shares = advice.of(items[training.rows])
    both = _Rows(truth=training.Y[known], shares=shares)
    use, changed = _FIRST, held_out
    if known.sum() >= _ENOUGH:
        use, changed = _best(both, more, held_out, known, training, is_smoothed=advice.is_smoothed)
    same = both.truth.argmax(axis=1) == shares.argmax(axis=1)
    adviser = Adviser(
        advice=advice, confusion=_confusion(both, more, use.unasked), use=use,
        n_together=int(known.sum()), agreement=float(same.mean()) if known.any() else None,
    )  # fmt: skip
    return adviser, changed


def _best(
    both: _Rows,
    more: _Rows,
    held_out: Floats,
    known: NDArray[np.bool_],
    training: Training,
    *,
    is_smoothed: bool,
) -> tuple[Use, Floats]:
    """The use that predicts people's answers best by cross-validation, and its rows."""
    folds, before = training.folds[known], held_out[known]
    weight = training.weight[known] / training.weight[known].sum()
    confusions = {
        (u, fold): _confusion(both.part(folds != fold), more, u)
        for u in {use.unasked for use in _USES}
        for fold in np.unique(folds)
    }
    plain = np.square(before - both.truth).sum(axis=1)
    chosen, best, most = _SILENT, held_out, 0.0
    for use in _USES_SMOOTHED if is_smoothed else _USES:
        rows = before.copy()
        for fold in np.unique(folds):
            inside = folds == fold
            confusion = confusions[use.unasked, fold]
            rows[inside] = _changed(before[inside], both.shares[inside], confusion, use)
        gain = plain - np.square(rows - both.truth).sum(axis=1)
        mean = float(weight @ gain)
        # An adviser must improve predictions by a standard error. By 1.645 of them the error beside
        # a good one is .72 of people's alone after 12 cards, not .66, and .48, not .47, after 60;
        # at chance it is the same.
        surely = mean - np.sqrt(float(weight**2 @ np.square(gain - mean)))
        if surely > most:
            chosen, most = use, surely
            best = held_out.copy()
            best[known] = rows
    return chosen, best


def _confusion(both: _Rows, more: _Rows, unasked: float) -> Floats:
    """The distribution of advice on items of each group: rows sum to one.

    By expectation maximisation: given the expected memberships, the likelihood is concave. A row is
    shrunk to the general accuracy, with errors distributed like the advice.
    """
    if not unasked:
        more = more.part(np.zeros(len(more.shares), dtype=bool))
    truth = np.vstack([both.truth, more.truth])
    shares = np.vstack([both.shares, more.shares])
    weight = np.repeat([1.0, unasked], [len(both.shares), len(more.shares)])
    k, width = truth.shape[1], shares.shape[1]
    spread = (weight @ shares + 0.5) / (weight.sum() + 0.5 * width)
    counts = np.zeros((k, width))
    confusion = _usual(counts, spread)
    for _ in range(_STEPS):
        probability = np.maximum(((truth @ confusion) * shares).sum(axis=1), 1e-300)
        counts = confusion * ((truth * (weight / probability)[:, None]).T @ shares)
        confusion = (counts + _SMOOTH * _usual(counts, spread)) / (
            counts.sum(axis=1, keepdims=True) + _SMOOTH
        )
    return confusion


def _usual(counts: Floats, spread: Floats) -> Floats:
    """A confusion matrix with the accuracy of these counts."""
    k, width = counts.shape
    right = (float(np.trace(counts)) + _WORTH * _RIGHT) / (float(counts.sum()) + _WORTH)
    chance = float(spread[:k].mean())
    skill = min(max((right - chance) / (1.0 - chance), 0.0), 0.99)
    return np.asarray(skill * np.eye(k, width) + (1.0 - skill) * spread)


def _changed(U: Floats, shares: Floats, confusion: Floats, use: Use) -> Floats:
    """Rows after advice."""
    if use.share:
        advised = shares @ (confusion / confusion.sum(axis=0)).T
        return np.asarray((1.0 - use.share) * U + use.share * advised)
    product = np.maximum(U, _LEAST) * (shares @ confusion.T) ** use.power
    return np.asarray(product / product.sum(axis=1, keepdims=True))


def audit_order(n: int, seed: int) -> list[int]:
    """All items in a random order, which answers and added items do not change."""
    drawn = np.random.default_rng([seed, 23]).random(n)
    order: list[int] = np.argsort(drawn, kind="stable").tolist()
    return order
