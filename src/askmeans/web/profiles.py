"""What is typical of a group: its words, and the numbers that differ from those of all items."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.stop_words import STOP_WORDS
from askmeans.sessions import Session
from askmeans.sessions.group_numbers import RESERVED
from askmeans.tables.texts import languages_of
from askmeans.web.cards import UNNAMED
from askmeans.web.item_views import is_number, sample

_MOST_WORDS = 6  # of a group
_MOST_TRAITS = 4
_VOCABULARY = 3000
_FEWEST = 2  # items that a word must occur in
_LIFT = 1.3  # how much more often a typical word occurs in its group than anywhere
_COMMON = 0.08  # of a group's items that a typical word is in
_APART = 0.3  # standard deviations between a group's mean and that of all items
_CATEGORIES = 30  # values from which a column of words is no category
_TOKEN = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A feature that distinguishes a group: its mean, and the place of that."""

    name: str
    value: str
    place: float  # between the smallest and the largest, 0 to 1
    overall: float  # the same of all items


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Typical items and words of a group, the most typical first."""

    words: tuple[str, ...]
    traits: tuple[Trait, ...]


class Profiles:
    """Reads the items once, and describes the groups of any memberships."""

    def __init__(self, session: Session, n: int) -> None:
        self.n_items = n
        items, columns = sample(session, n)
        self.rows = [item.row for item in items]
        self._names, self._numbers = _numbers(columns, len(items))
        features = session.config.feature_names
        if not self._names and features and not any(item.text for item in items):
            # only pictures are shown: the features behind them
            X = np.asarray(session.rows.matrix[self.rows], dtype=np.float64)
            if session.config.units is not None:
                middle, width = np.array(session.config.units)
                X = X * width + middle
            self._names, self._numbers = list(features), X
        texts = [(item.text or "").casefold() for item in items]
        languages = languages_of(texts)[0]
        stop_words = frozenset().union(*(STOP_WORDS.get(each, ()) for each in languages))
        tokens = [{*_TOKEN.findall(text)} - stop_words for text in texts]
        _add_categories(tokens, {name: columns[name] for name in columns.keys() - {*self._names}})
        self._words, self._has = _incidence(tokens)

    def of(self, memberships: Floats) -> list[Profile]:
        """The profile of each group."""
        U = memberships[self.rows]
        sizes = np.maximum(U.sum(axis=0), 1e-12)
        return [
            Profile(words=self._typical_words(U[:, j] / sizes[j], sizes[j]),
                    traits=self._traits(U[:, j] / sizes[j]))
            for j in range(U.shape[1])
        ]  # fmt: skip

    def _typical_words(self, weights: Floats, size: float) -> tuple[str, ...]:
        """Words that are in many of the group's items, and in few others."""
        if not self._words:
            return ()
        within, overall = weights @ self._has, self._has.mean(axis=0)
        score = within * np.log(np.maximum(within, 1e-12) / overall)
        typical = within > _LIFT * overall
        typical &= (within >= _COMMON) & (within * size >= _FEWEST - 0.5)
        order = np.argsort(-score, kind="stable")
        return tuple(self._words[place] for place in order if typical[place])[:_MOST_WORDS]

    def _traits(self, weights: Floats) -> tuple[Trait, ...]:
        """Numbers whose mean in the group differs from that of all items."""
        traits = []
        for name, column in zip(self._names, self._numbers.T, strict=True):
            known = np.isfinite(column)
            values, shares = column[known], weights[known]
            low, high = values.min(), values.max()
            if high <= low or shares.sum() <= 0.0:
                continue
            mean, overall = float(shares @ values / shares.sum()), float(values.mean())
            gap = abs(mean - overall) / values.std()
            if gap >= _APART:
                trait = Trait(
                    name=name, value=f"{mean:.3g}", place=(mean - low) / (high - low),
                    overall=(overall - low) / (high - low),
                )  # fmt: skip
                traits.append((gap, trait))
        traits.sort(key=lambda pair: -pair[0])
        return tuple(trait for _, trait in traits[:_MOST_TRAITS])


def suggested_names(names: Sequence[str], profiles: Sequence[Profile]) -> list[str | None]:
    """Names of two typical words each, all different, for groups without a name."""
    taken = {name.casefold() for name in names} | {RESERVED}
    suggested: list[str | None] = []
    for name, profile in zip(names, profiles, strict=True):
        words = [word.rpartition(": ")[2] for word in profile.words]
        pairs = [" and ".join(pair) for pair in itertools.combinations(words, min(2, len(words)))]
        new = [pair for pair in pairs if pair and pair.casefold() not in taken][:1]
        is_unnamed = UNNAMED.fullmatch(name) is not None
        suggested.append(new[0].capitalize() if is_unnamed and new else None)
        taken |= {each.casefold() for each in new}
    return suggested


def _numbers(columns: dict[str, list[Any]], n: int) -> tuple[list[str], Floats]:
    """Columns that are numbers, NaN where one is missing."""
    names = [
        name
        for name, column in columns.items()
        if name.casefold() != "id"
        and any(value is not None for value in column)
        and all(value is None or is_number(value) for value in column)
    ]
    rows = [[math.nan if value is None else float(value) for value in columns[n]] for n in names]
    return names, np.array(rows, dtype=np.float64).T.reshape(n, len(names))


def _add_categories(tokens: list[set[str]], columns: dict[str, list[Any]]) -> None:
    """Take values of columns with few different ones for words."""
    for name, column in columns.items():
        if 2 <= len(set(column)) <= _CATEGORIES:
            for words, value in zip(tokens, column, strict=True):
                words |= set() if value is None else {f"{name}: {value}"}


def _incidence(tokens: list[set[str]]) -> tuple[list[str], Floats]:
    """Words, and which items contain them."""
    counts = Counter(word for words in tokens for word in words)
    common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_VOCABULARY]
    words = [word for word, count in common if count >= _FEWEST]
    places = {word: column for column, word in enumerate(words)}
    has = np.zeros((len(tokens), len(words)))
    for row, mine in enumerate(tokens):
        has[row, [places[word] for word in mine if word in places]] = 1.0
    return words, has
