"""Text features without a download: latent semantic analysis of words and character n-grams.

Character n-grams represent inflected, compounded, misspelt and unseparated words. Counts are
weighted by TF-IDF, reduced by a truncated singular value decomposition and normalised, so that
distances are those of directions.

The texts determine the number of topics: the mean is subtracted, and each principal component is
multiplied by the square of its singular value, which equals two steps of a diffusion between texts
through common words (Coifman and Lafon, 2006: Diffusion maps). Texts with few broad topics give few
components a weight, texts with many topics give many.

Texts in two languages share hardly any words, so languages are farther apart than topics. If a
table has texts in several languages, the mean of each language is subtracted. A language is
detected by its most common words. For a language that is not listed here the mean of all texts is
subtracted.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from askmeans._util.arrays import Single
from askmeans._util.progress import part_of_progress, report_progress, tracked
from askmeans.exceptions import DataError
from askmeans.tables.columns import UNSPACED
from askmeans.tables.encoders import Encoder, pack, unpack

if TYPE_CHECKING:
    import pandas as pd


# Chosen on 25 sets of docstrings, manuals and programs' messages in English, French and German (the
# first are what `python benchmarks/texts.py installed` reads): with 16 or 64 components, or powers
# from 1 to 4, k-means' mean accuracy is the same within .016; without weights .06 lower.
_COMPONENTS = 32
_POWER = 2  # power of the singular values
_MIN_WEIGHT = 1e-3  # relative to the first component; the rest is rounding
# Limits of time and memory: 20,000 texts take some seconds to fit.
_MAX_FITTED = 20_000  # texts in the fit
_MAX_TERMS = 15_000  # words, and as many n-grams
_MAX_LENGTH = 2_000  # characters of a text
_BATCH = 2_000  # texts that are transformed at a time
_SMALL_CORPUS = 50  # texts; in fewer, words that occur in one text only are kept
_MIN_SHARE = 0.05  # of the texts, for the mean of a language to be stable
_LETTER, _WORD = re.compile(r"\w"), re.compile(r"\w+")
_COMMON_WORDS = {
    "en": "the and is are was of to in it my i you this that not with for have has on but they be",
    "de": "der die das und ist sind war ein eine nicht ich es mit mein auf für den dem von zu sich",
    "fr": "le la les et est un une des du pas je il elle que qui dans pour mon avec ce sur sont ne",
    "es": "el la los las y es un una de que no en mi con por para se lo está del su pero muy fue",
    "it": "il la lo gli e è un una di che non in mi con per si sono della questo ho ma anche più",
    "pt": "o a os as e é um uma de que não em meu com por para se do da está foi mas muito eu",
    "nl": "de het een en is zijn was van niet ik in op met mijn voor dat deze die te maar naar er",
    "sv": "och är en ett det som inte jag på med för min att den av har var till men om så vi",
    "pl": "i w na nie jest się to z do że mój jak ale co po ja ten są był przez dla od czy",
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _COMMON_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)
_VIEWS: dict[str, dict[str, Any]] = {  # two ways to split a text into terms
    "words": {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"},
    "pieces": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}
# Progress when the counting of each view begins and ends: shares of the time for 20,000 texts of 6
# to 80 words.
_PROGRESS = {"words": (0.0, 0.07), "pieces": (0.07, 0.6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Encoder):
    """Encoder of texts as topics, which have no units."""

    missing_treatment: ClassVar[str] = "encoded as empty texts"
    terms: dict[str, list[str]]  # vocabulary of each view
    rarity: dict[str, Any]  # squared inverse document frequencies, packed
    components: dict[str, Any]  # one row per term, packed
    means: dict[str, Any]  # of all texts ("") and, if there are several, of each language, packed

    @classmethod
    def fit_transform(cls, values: "pd.Series[Any]") -> tuple["Text", Single]:
        """Learn vocabulary, inverse document frequencies, components and means; the features."""
        from sklearn.utils.extmath import randomized_svd

        all_texts = texts = _texts(values)
        if len(texts) > _MAX_FITTED:
            rows = np.random.default_rng(0).permutation(len(texts))[:_MAX_FITTED]
            texts = [texts[row] for row in np.sort(rows)]
        terms, rarities, counted = _count_terms(texts)
        if not any(_LETTER.search(text) for text in texts) or not terms:
            raise DataError(
                f"Column {values.name!r} must have words to be a text. Got {texts[0]!r:.60}; leave "
                "it out of the text columns."
            )
        report_progress(0.75)  # measured as `_PROGRESS`
        weighted = _weighted(counted, rarities)
        _, _, axes = randomized_svd(
            weighted, min(_COMPONENTS, *weighted.shape), n_iter=4, random_state=0
        )
        topics = weighted @ axes.T
        means = {"": topics.mean(axis=0)}
        frequent, languages = languages_of(texts)
        for name in frequent if len(frequent) > 1 else ():
            means[name] = topics[np.array(languages) == name].mean(axis=0)
        _centre(topics, languages, means)
        weighted_axes = _principal(topics)
        fitted = cls(
            column=str(values.name),
            terms=terms,
            rarity=pack(np.concatenate(rarities)),
            components=pack((axes.T @ weighted_axes).astype(np.float16)),
            means={name: pack(mean @ weighted_axes) for name, mean in means.items()},
        )
        if len(all_texts) > len(texts):
            return fitted, fitted.transform(values)
        return fitted, fitted._features(weighted, languages)

    @property
    def names(self) -> list[str]:
        """The column's name and the number of the topic."""
        return [f"{self.column} [{j + 1}]" for j in range(self.components["shape"][1])]

    def transform(self, values: "pd.Series[Any]") -> Single:
        """Return one feature per topic; rows have length 1, or 0 without a known word."""
        from sklearn.feature_extraction.text import CountVectorizer

        texts = _texts(values)
        splits = np.cumsum([len(terms) for terms in self.terms.values()])[:-1]
        rarities = np.split(unpack(self.rarity), splits)
        counters = [
            CountVectorizer(**_VIEWS[view], vocabulary=terms, dtype=np.float32)
            for view, terms in self.terms.items()
        ]
        blocks = []
        for start in tracked(range(0, max(len(texts), 1), _BATCH)):
            batch = texts[start : start + _BATCH]
            weighted = _weighted([counter.transform(batch) for counter in counters], rarities)
            languages = [language_of(text) if len(self.means) > 1 else "" for text in batch]
            blocks.append(self._features(weighted, languages))
        return np.concatenate(blocks)

    def _features(self, weighted: Any, languages: Sequence[str]) -> Single:
        """The topics of weighted counts, centred, in rows of length 1; 0 without a known word."""
        from sklearn.preprocessing import normalize

        topics: Single = weighted @ unpack(self.components)
        _centre(topics, languages, {name: unpack(packed) for name, packed in self.means.items()})
        topics[weighted.getnnz(axis=1) == 0] = 0.0
        normalize(topics, copy=False)
        return topics


def _count_terms(texts: list[str]) -> tuple[dict[str, list[str]], list[Single], list[Any]]:
    """The vocabulary of each view, the squared inverse document frequencies, and the counts."""
    from sklearn.feature_extraction.text import CountVectorizer

    terms, rarities, counted = {}, [], []
    for view, settings in _VIEWS.items():
        counter = CountVectorizer(
            **settings, min_df=1 if len(texts) < _SMALL_CORPUS else 2, max_features=_MAX_TERMS,
            dtype=np.float32,
        )  # fmt: skip
        try:
            with part_of_progress(*_PROGRESS[view]):
                counts = counter.fit_transform(tracked(texts))
            counts.sort_indices()  # sums have the order of those in `transform`
        except ValueError:  # an empty vocabulary
            continue
        terms[view] = counter.get_feature_names_out().tolist()
        n_texts = np.bincount(counts.indices, minlength=counts.shape[1])  # with each term
        # Squared, since the common words of one language may be in half of the texts only.
        rarities.append((np.log((1 + len(texts)) / (1 + n_texts)) ** 2).astype(np.float32))
        counted.append(counts)
    return terms, rarities, counted


def _centre(topics: Single, languages: Sequence[str], means: Mapping[str, Single]) -> None:
    """Subtract the mean of each text's language, or of all texts if its language has no mean."""
    means_used = np.array([name if name in means else "" for name in languages])
    for name, mean in means.items():
        topics[means_used == name] -= mean


def _principal(topics: Single) -> Single:
    """Principal axes of centred topics, multiplied by their weights; without negligible ones."""
    values, axes = np.linalg.eigh(topics.T.astype(np.float64) @ topics)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    weights = (values / (values[0] or np.inf)) ** (_POWER / 2)  # values are singular ones squared
    n = max(1, int((weights >= _MIN_WEIGHT).sum()))
    weighted_axes: Single = (axes * signs * weights)[:, :n].astype(np.float32)
    return weighted_axes


def _texts(values: "pd.Series[Any]") -> list[str]:
    """Return the texts of a column, with scripts without spaces split into pairs of characters."""
    missing = values.isna().to_numpy()
    return [
        "" if is_missing else UNSPACED.sub(_in_pairs, str(value)[:_MAX_LENGTH])
        for value, is_missing in zip(values, missing, strict=True)
    ]


def _in_pairs(run: re.Match[str]) -> str:
    """Split a run of characters into overlapping pairs, which serve as words."""
    text = run[0]
    pairs = [text[j : j + 2] for j in range(max(1, len(text) - 1))]
    return f" {' '.join(pairs)} "


def _weighted(counted: Sequence[Any], rarities: Sequence[Single]) -> Any:
    """TF-IDF with logarithms of counts; the row of each view has length 1."""
    from scipy.sparse import hstack
    from sklearn.preprocessing import normalize

    views = []
    for counts, rarity in zip(counted, rarities, strict=True):
        counts.data = (1.0 + np.log(counts.data)) * rarity[counts.indices]
        views.append(normalize(counts, copy=False))
    return hstack(views, format="csr", dtype=np.float32)


def language_of(text: str) -> str:
    """The language with the most of its common words in a text; empty for a tie or none."""
    votes = Counter(
        language for word in _WORD.findall(text.lower()) for language in _LANGUAGES.get(word, ())
    )
    best = votes.most_common(2)
    is_clear = best and (len(best) == 1 or best[0][1] > best[1][1])
    return best[0][0] if is_clear else ""


def languages_of(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The frequent languages of texts, and the language of each text, empty for rare ones."""
    languages = [language_of(text) for text in texts]
    counts = Counter(language for language in languages if language)
    frequent = sorted(name for name, count in counts.items() if count >= _MIN_SHARE * len(texts))
    return frequent, [name if name in frequent else "" for name in languages]
