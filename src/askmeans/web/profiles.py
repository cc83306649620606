"""What makes a group: its typical words, categories and numbers, read from a sample of items."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.sessions import Session
from askmeans.web.cards import is_number, sample, spread

__all__ = ["Profile", "Profiles", "Trait"]

Floats = NDArray[np.float64]

_WORDS = 6  # of a group
_TRAITS = 4
_VOCABULARY = 3000
_TWICE = 2  # times that a word must occur
_LIFT = 1.3  # how much more often a typical word occurs in its group than anywhere
_COMMON = 0.08  # of a group's items that a typical word is in
_APART = 0.3  # standard deviations that a group's mean is away from the whole's
_CATEGORIES = 30  # values from which a column of words is no category
_TOKEN = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A number that sets a group apart: its mean, and where that lies."""

    name: str
    value: str
    place: float  # between the smallest and the largest, 0 to 1
    overall: float  # the same of all items


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is typical of a group, the most telling first."""

    words: tuple[str, ...]
    traits: tuple[Trait, ...]


class Profiles:
    """Reads the items once, and tells of any memberships what makes the groups."""

    def __init__(self, session: Session, n: int) -> None:
        self.n_items = n
        self.rows = list(spread(n))
        items, values = sample(session, self.rows)
        self._names, self._numbers = _numbers(values, len(items))
        told = session.config.feature_names
        if not self._names and told:  # nothing but pictures is shown: the numbers behind them
            X = np.asarray(session.rows.matrix[self.rows], dtype=np.float64)
            if session.config.units is not None:
                middle, width = np.array(session.config.units)
                X = X * width + middle
            self._names, self._numbers = list(told), X
        tokens = [_tokens(item.text) for item in items]
        _add_categories(tokens, {name: values[name] for name in values.keys() - {*self._names}})
        self._words, self._has = _incidence(tokens)

    def of(self, memberships: Floats) -> list[Profile]:
        """The profile of each group."""
        W = memberships[self.rows]
        weights = np.maximum(W.sum(axis=0), 1e-12)
        return [
            Profile(words=self._typical(W[:, j] / weights[j], weights[j]),
                    traits=self._apart(W[:, j] / weights[j]))
            for j in range(W.shape[1])
        ]  # fmt: skip

    def _typical(self, share: Floats, weight: float) -> tuple[str, ...]:
        """Words that are in many of the group's items, and in few others."""
        if not self._words:
            return ()
        here, anywhere = share @ self._has, self._has.mean(axis=0)
        score = here * np.log(np.maximum(here, 1e-12) / anywhere)
        telling = (here > _LIFT * anywhere) & (here >= _COMMON) & (here * weight >= _TWICE - 0.5)
        best = np.argsort(-score, kind="stable")
        return tuple(self._words[place] for place in best if telling[place])[:_WORDS]

    def _apart(self, share: Floats) -> tuple[Trait, ...]:
        """Numbers whose mean is elsewhere than that of all items."""
        found = []
        for name, column in zip(self._names, self._numbers.T, strict=True):
            there = np.isfinite(column)
            low, high = column[there].min(), column[there].max()
            spread, whole = column[there].std(), column[there].mean()
            weight = share[there].sum()
            if high <= low or weight <= 0.0:
                continue
            mean = float(share[there] @ column[there] / weight)
            away = abs(mean - whole) / spread
            if away >= _APART:
                trait = Trait(
                    name=name, value=f"{mean:.3g}", place=(mean - low) / (high - low),
                    overall=float((whole - low) / (high - low)),
                )  # fmt: skip
                found.append((away, trait))
        found.sort(key=lambda pair: -pair[0])
        return tuple(trait for _, trait in found[:_TRAITS])


def _tokens(text: str | None) -> set[str]:
    """Words of a text, without those too short to tell anything."""
    return {word.casefold() for word in _TOKEN.findall(text or "")}


def _numbers(values: dict[str, list[Any]], n: int) -> tuple[list[str], Floats]:
    """Columns that are numbers, NaN where one is missing."""
    names = [
        name
        for name, column in values.items()
        if name.casefold() != "id"
        and any(value is not None for value in column)
        and all(value is None or is_number(value) for value in column)
    ]
    columns = [[math.nan if value is None else float(value) for value in values[n]] for n in names]
    return names, np.array(columns, dtype=np.float64).T.reshape(n, len(names))


def _add_categories(tokens: list[set[str]], values: dict[str, list[Any]]) -> None:
    """Take values of columns with few different ones for words."""
    for name, told in values.items():
        if 2 <= len(set(told)) <= _CATEGORIES:
            for words, value in zip(tokens, told, strict=True):
                words |= set() if value is None else {f"{name}: {value}"}


def _incidence(tokens: list[set[str]]) -> tuple[list[str], Floats]:
    """Words, and in which items they are."""
    counts = Counter(word for words in tokens for word in words)
    listed = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_VOCABULARY]
    words = [word for word, count in listed if count >= _TWICE]
    place = {word: column for column, word in enumerate(words)}
    has = np.zeros((len(tokens), len(words)))
    for row, mine in enumerate(tokens):
        has[row, [place[word] for word in mine if word in place]] = 1.0
    return words, has
