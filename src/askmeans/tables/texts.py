"""Texts as features without any download: TF-IDF of words and pieces of words, reduced (LSA).

Words tell topics; pieces of words (character n-grams) tell them where words are inflected,
compounded, misspelt or not separated. Both are weighted by how rare they are, reduced by a
truncated singular value decomposition and normalised, so that distances are those of directions.
Texts in several languages are compared within theirs (`languages.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.tables.columns import UNSPACED
from askmeans.tables.languages import language_of, languages_of
from askmeans.tables.packing import pack, unpack

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Text"]

Single = NDArray[np.float32]

# Chosen on generated texts, where `python benchmarks/texts.py` measures topics and speed.
_COMPONENTS = 16
_LEARNT = 20_000  # texts at most that vocabulary and components are learnt from
_TERMS = 15_000  # words, and as many pieces of words, at most
_LONGEST = 2_000  # characters of a text that are read
_BATCH = 10_000  # texts that are turned into features at a time
_FEW = 50  # texts below which a word that comes once counts
_LETTER = re.compile(r"\w")
_VIEWS: dict[str, dict[str, Any]] = {
    "words": {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"},
    "pieces": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Texts of one column in the space of its topics."""

    column: str
    terms: dict[str, list[str]]  # of each view
    rarity: dict[str, Any]  # of each term of all views, packed
    components: dict[str, Any]  # one row for each of those, packed
    means: dict[str, Any]  # of each language, where there are several, packed

    @classmethod
    def fit(cls, values: "pd.Series[Any]") -> "Text":
        """Vocabulary, rarity and components of texts."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.utils.extmath import randomized_svd

        texts = _texts(values)
        if len(texts) > _LEARNT:
            some = np.random.default_rng(0).permutation(len(texts))[:_LEARNT]
            texts = [texts[row] for row in np.sort(some)]
        terms, rarities, counted = {}, [], []
        for view, settings in _VIEWS.items():
            counter = CountVectorizer(
                **settings, min_df=1 if len(texts) < _FEW else 2, max_features=_TERMS,
                dtype=np.float32,
            )  # fmt: skip
            try:
                counts = counter.fit_transform(texts)
            except ValueError:  # no word at all, or none twice
                continue
            terms[view] = counter.get_feature_names_out().tolist()
            within = np.bincount(counts.indices, minlength=counts.shape[1])
            # Squared: what half of the texts have, in one of their languages, tells no topic.
            rarities.append((np.log((1 + len(texts)) / (1 + within)) ** 2).astype(np.float32))
            counted.append(counts)
        if not any(_LETTER.search(text) for text in texts) or not terms:
            raise DataError(
                f"Column {values.name!r} must have words to be a text. Got {texts[0]!r:.60} and "
                "the like; leave it out of the text columns."
            )
        weighted = _weighted(counted, rarities)
        n = max(1, min(_COMPONENTS, weighted.shape[0] - 1, weighted.shape[1] - 1))
        _, _, axes = randomized_svd(weighted, n, n_iter=4, random_state=0)
        languages, spoken = languages_of(texts)
        means = {}
        for name in languages if len(languages) > 1 else ():
            own = np.flatnonzero(np.array(spoken) == name)
            means[name] = pack((weighted[own] @ axes.T).mean(axis=0))
        return cls(
            column=str(values.name),
            terms=terms,
            rarity=pack(np.concatenate(rarities)),
            components=pack(axes.T.astype(np.float16)),
            means=means,
        )

    @property
    def names(self) -> list[str]:
        """The column, and the number of the topic."""
        return [f"{self.column} [{j + 1}]" for j in range(self.components["shape"][1])]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Topics have no units."""
        return [0.0] * len(self.names), [1.0] * len(self.names)

    @property
    def filled(self) -> str:
        """What becomes of a missing value."""
        return "counted as empty texts"

    def transform(self, values: "pd.Series[Any]") -> Single:
        """One feature for each topic; the length of every row is 1, or 0 where no word is known."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        texts = _texts(values)
        components, rarity = unpack(self.components), unpack(self.rarity)
        splits = np.cumsum([len(terms) for terms in self.terms.values()])[:-1]
        rarities = np.split(rarity, splits)
        counters = [
            CountVectorizer(**_VIEWS[view], vocabulary=terms, dtype=np.float32)
            for view, terms in self.terms.items()
        ]
        means = {name: unpack(packed) for name, packed in self.means.items()}
        found = np.zeros((len(texts), components.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            counted = [counter.transform(batch) for counter in counters]
            found[start : start + _BATCH] = _weighted(counted, rarities) @ components
            for name, mean in means.items():
                own = [start + j for j, text in enumerate(batch) if language_of(text) == name]
                found[own] -= mean
        normalize(found, copy=False)
        return found


def _texts(values: "pd.Series[Any]") -> list[str]:
    """The texts of a column, scripts without spaces in pairs; empty ones where there is none."""
    missing = values.isna().to_numpy()
    return [
        "" if gap else UNSPACED.sub(_in_pairs, str(value)[:_LONGEST])
        for value, gap in zip(values, missing, strict=True)
    ]


def _in_pairs(run: re.Match[str]) -> str:
    """Characters that no spaces separate as overlapping pairs, which serve as words."""
    text = run[0]
    pairs = [text[j : j + 2] for j in range(max(1, len(text) - 1))]
    return f" {' '.join(pairs)} "


def _weighted(counted: Sequence[Any], rarities: Sequence[Single]) -> Any:
    """TF-IDF with logarithms of counts; every view has the same length in every text."""
    from scipy.sparse import hstack
    from sklearn.preprocessing import normalize

    views = []
    for counts, rarity in zip(counted, rarities, strict=True):
        counts.data = (1.0 + np.log(counts.data)) * rarity[counts.indices]
        views.append(normalize(counts, copy=False))
    return hstack(views, format="csr", dtype=np.float32)
