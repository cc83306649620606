"""Texts as features without any download: TF-IDF of words and pieces of words, reduced (LSA).

Words tell topics; pieces of words (character n-grams) tell them where words are inflected,
compounded, misspelt or not separated. Both are weighted by how rare they are, reduced by a
truncated singular value decomposition and normalised, so that distances are those of directions.
Texts in several languages are compared within theirs (`languages.py`).

How many topics count is left to the texts: the mean is taken off, and each principal component is
multiplied by the square of its singular value, as two steps of a diffusion from text to text by
way of their words do (Coifman and Lafon, 2006: Diffusion maps). Of texts with few broad topics few
components have weight; of texts with many, many do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.tables.columns import UNSPACED
from askmeans.tables.encoders import Encoder
from askmeans.tables.languages import language_of, languages_of
from askmeans.tables.packing import pack, unpack

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Text"]

Single = NDArray[np.float32]

# Chosen on 25 sets of docstrings, manuals and programs' messages in English, French and German (the
# first are what `python benchmarks/texts.py installed` reads): with 16 or 64 components, or powers
# from 1 to 4, k-means' mean accuracy is the same within .016; without weights .06 lower.
_COMPONENTS = 32
_STEPS = 2  # power of the singular values
_LEAST = 1e-3  # weight of a component, the first one's being 1, below which it is rounding
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
class Text(Encoder):
    """Texts of one column in the space of its topics, which have no units."""

    filled: ClassVar[str] = "counted as empty texts"
    terms: dict[str, list[str]]  # of each view
    rarity: dict[str, Any]  # of each term of all views, packed
    components: dict[str, Any]  # one row for each of those, packed
    means: dict[str, Any]  # of all texts ("") and of each language, where several, packed

    @classmethod
    def fit(cls, values: "pd.Series[Any]") -> "Text":
        """Vocabulary, rarity, components and means of texts."""
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
        _, _, axes = randomized_svd(
            weighted, min(_COMPONENTS, *weighted.shape), n_iter=4, random_state=0
        )
        found = weighted @ axes.T
        means = {"": found.mean(axis=0)}
        languages, spoken = languages_of(texts)
        for name in languages if len(languages) > 1 else ():
            means[name] = found[np.array(spoken) == name].mean(axis=0)
        _centre(found, spoken, means)
        turned = _principal(found)
        return cls(
            column=str(values.name),
            terms=terms,
            rarity=pack(np.concatenate(rarities)),
            components=pack((axes.T @ turned).astype(np.float16)),
            means={name: pack(mean @ turned) for name, mean in means.items()},
        )

    @property
    def names(self) -> list[str]:
        """The column, and the number of the topic."""
        return [f"{self.column} [{j + 1}]" for j in range(self.components["shape"][1])]

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
            weighted = _weighted([counter.transform(batch) for counter in counters], rarities)
            rows = found[start : start + _BATCH]
            rows[:] = weighted @ components
            spoken = [language_of(text) for text in batch] if len(means) > 1 else [""] * len(batch)
            _centre(rows, spoken, means)
            rows[weighted.getnnz(axis=1) == 0] = 0.0
        normalize(found, copy=False)
        return found


def _centre(found: Single, spoken: Sequence[str], means: Mapping[str, Single]) -> None:
    """Take off the mean of each text's language, or of all texts where it has none of its own."""
    listed = np.array([name if name in means else "" for name in spoken])
    for name, mean in means.items():
        found[listed == name] -= mean


def _principal(found: Single) -> Single:
    """Principal axes of centred texts, each times its weight: of those that have some."""
    values, axes = np.linalg.eigh(found.T.astype(np.float64) @ found)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    weights = (values / (values[0] or np.inf)) ** (_STEPS / 2)  # values are singular ones squared
    n = max(1, int((weights >= _LEAST).sum()))
    turned: Single = (axes * signs * weights)[:, :n].astype(np.float32)
    return turned


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
