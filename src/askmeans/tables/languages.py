"""The language of a text, by its most common words: so that texts are compared within theirs.

In a space of words two languages lie farther apart than any two topics. Where a table has texts in
several, the mean of each language is taken off, and topics are what is left. Of a language that is
not listed here nothing is taken off.
"""

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["language_of", "languages_of"]

_WORDS = {
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
for _name, _listed in _WORDS.items():
    for _word in _listed.split():
        _LANGUAGES.setdefault(_word, []).append(_name)
_TOKEN = re.compile(r"\w+")
_SHARE = 0.05  # of the texts in a language from which on it counts


def language_of(text: str) -> str:
    """The language most of whose common words a text has, without doubt; else an empty string."""
    votes = Counter(
        name for word in _TOKEN.findall(text.lower()) for name in _LANGUAGES.get(word, ())
    )
    best = votes.most_common(2)
    sure = best and (len(best) == 1 or best[0][1] > best[1][1])
    return best[0][0] if sure else ""


def languages_of(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The languages that many texts are in, and the language of every text, empty for none."""
    found = [language_of(text) for text in texts]
    counts = Counter(name for name in found if name)
    many = sorted(name for name, count in counts.items() if count >= _SHARE * len(texts))
    return many, [name if name in many else "" for name in found]
