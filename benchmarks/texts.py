"""Texts: topics found without and with 60 cards, beside TF-IDF's usual company; speed and memory.

python benchmarks/texts.py           # topics and speed
python benchmarks/texts.py topics    # generated texts: two minutes
python benchmarks/texts.py speed     # one minute
python benchmarks/texts.py installed # real texts: docstrings of what is installed, two minutes
"""

import ast
import re
import resource
import sys
import sysconfig
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans
from askmeans.metrics import matched_accuracy
from askmeans.oracles import TableOracle
from askmeans.tables import read_items

Labels = NDArray[np.intp]

CARDS = 60
MANY = 50_000
# Words of a help desk, of each topic in English and in German.
TOPICS = (
    (
        "parcel courier delivered late package shipping tracking doorstep dispatch warehouse",
        "paket kurier geliefert spät sendung versand verfolgung haustür abholung lager postbote",
    ),
    (
        "invoice card charged refund payment bank transfer billing amount debit credit receipt fee",
        "rechnung karte abgebucht erstattung zahlung bank überweisung betrag lastschrift",
    ),
    (
        "password login account reset email locked username sign code verification access captcha",
        "passwort anmeldung konto zurücksetzen email gesperrt benutzername code bestätigung zugang",
    ),
    (
        "battery charger charging drains power cable overheats dead percent plug adapter socket",
        "akku ladegerät laden entlädt strom kabel überhitzt leer prozent stecker adapter steckdose",
    ),
    (
        "screen display cracked pixel flicker brightness touch glass scratch colours resolution",
        "bildschirm display gesprungen pixel flackert helligkeit berührung glas kratzer farben",
    ),
    (
        "speaker sound volume headphones microphone noise audio mute bass crackling music",
        "lautsprecher ton lautstärke kopfhörer mikrofon rauschen audio stumm bass knistern musik",
    ),
    (
        "wifi router internet connection signal network slow disconnects modem range hotspot ping",
        "wlan router internet verbindung signal netzwerk langsam getrennt modem reichweite hotspot",
    ),
    (
        "camera photo lens blurry focus picture flash zoom video selfie shutter gallery recording",
        "kamera foto linse unscharf fokus bild blitz zoom video selfie auslöser galerie aufnahme",
    ),
)
# Real texts: docstrings of parts of the standard library and of packages, which part is to be told.
LIBRARY = (
    "email", "tkinter", "asyncio", "unittest", "xml", "http", "logging", "multiprocessing",
)  # fmt: skip
PACKAGES = ("pandas", "scipy", "matplotlib", "sqlalchemy", "PIL", "sklearn", "dask", "pyarrow")
COMMON = (
    "the my is not and it with after since i have please help again very still new was on for this",
    "das mein ist nicht und es mit nach seit ich habe bitte hilfe wieder sehr noch neu war auf für",
)


def make_texts(n: int, seed: int) -> tuple[list[str], Labels]:
    """Short texts and their topics: a few of the topic's words, more common ones, some astray."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(len(TOPICS), size=n)
    texts = []
    for topic in topics:
        language = int(rng.integers(2))
        own, common = TOPICS[topic][language].split(), COMMON[language].split()
        words = [*rng.choice(own, rng.integers(2, 5), replace=False)]
        words += [*rng.choice(common, rng.integers(4, 9), replace=False)]
        if rng.random() < 0.35:
            words.append(rng.choice(TOPICS[rng.integers(len(TOPICS))][language].split()))
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, topics


def docstrings(folder: Path, n: int, rng: np.random.Generator) -> list[str]:
    """Some docstrings of a package's code, at most 300 characters each, without its own name."""
    found = set()
    for path in sorted(folder.rglob("*.py")):
        if "test" in str(path.relative_to(folder)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8", errors="ignore"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                words = (ast.get_docstring(node) or "").split()
                if len(words) >= 6:
                    found.add(re.sub(folder.name, "", " ".join(words)[:300], flags=re.IGNORECASE))
    texts = sorted(found)
    return [texts[row] for row in rng.permutation(len(texts))[:n]]


def real_texts(root: Path, names: Sequence[str], seed: int) -> tuple[list[str], Labels]:
    """Docstrings of the packages that are there, 60 of each, in random order."""
    rng = np.random.default_rng(seed)
    groups = [docstrings(root / name, 60, rng) for name in names if (root / name).is_dir()]
    texts = [(text, topic) for topic, group in enumerate(groups) for text in group]
    order = rng.permutation(len(texts))
    return [texts[row][0] for row in order], np.array([texts[row][1] for row in order])


def print_installed() -> None:
    """Matched accuracy on docstrings, of all parts and of three: no cards, 30 and 60."""
    paths = sysconfig.get_paths()
    print("docstrings, from which part?               no cards           30 cards      60 cards")
    print(
        "texts                        k  TF-IDF + KMeans  askmeans  logistic/askmeans, same items"
    )
    for root, names in ((paths["stdlib"], LIBRARY), (paths["purelib"], PACKAGES)):
        for some in (names, names[:3], names[-3:]):
            texts, topics = real_texts(Path(root), some, 0)
            k = int(topics.max()) + 1
            plain = TfidfVectorizer().fit_transform(texts)
            features = read_items(texts, text="text").features
            means = KMeans(k, n_init=10, random_state=0).fit_predict(plain)
            fuzzy = FuzzyKMeans(k, n_init=10, fuzzifier="auto", random_state=0).fit(features)
            cards = [same_items(plain, features, topics, budget) for budget in (30, CARDS)]
            print(
                f"{len(topics):4d} {f'{some[0]} to {some[-1]}':22s} {k:3d}  "
                f"{matched_accuracy(topics, means):15.1%}  "
                f"{matched_accuracy(topics, fuzzy.labels_):8.1%}  "
                + "   ".join(f"{logistic:.1%}/{asked:.1%}" for logistic, asked in cards)
            )


def same_items(
    plain: NDArray[np.float64], features: NDArray[np.floating], topics: Labels, budget: int
) -> tuple[float, float]:
    """Accuracy with the cards that askmeans asks: of logistic regression on TF-IDF, and its own."""
    asked = ActiveFuzzyKMeans(
        int(topics.max()) + 1, oracle=TableOracle.from_labels(topics), ask="group", budget=budget,
        random_state=0,
    ).fit(features)  # fmt: skip
    known = sorted({record.items[0] for record in asked.history_})
    logistic = LogisticRegression(C=10.0, max_iter=500).fit(plain[known], topics[known])
    return float((logistic.predict(plain) == topics).mean()), matched_accuracy(
        topics, asked.labels_
    )


def margin_sampling(X: NDArray[np.float64], topics: Labels, seed: int) -> Labels:
    """What logistic regression says after its 60 cards: 16 at random, then the closest calls."""
    known = np.random.default_rng(seed).choice(len(topics), 16, replace=False).tolist()
    while True:
        model = LogisticRegression(C=10.0, max_iter=500).fit(X[known], topics[known])
        if len(known) == CARDS:
            found: Labels = model.predict(X)
            return found
        shares = np.sort(model.predict_proba(X), axis=1)
        margin = shares[:, -1] - shares[:, -2]
        margin[known] = np.inf
        known += np.argsort(margin, kind="stable")[:4].tolist()


def print_topics() -> None:
    """Matched accuracy of both ways, without and with cards, over four data sets."""
    k = len(TOPICS)
    print(f"1,000 texts, {k} topics, 2 languages    no cards            {CARDS} cards")
    print("data   TF-IDF + KMeans   askmeans   TF-IDF + margin sampling   askmeans (cards asked)")
    for seed in range(4):
        texts, topics = make_texts(1000, seed)
        plain = TfidfVectorizer().fit_transform(texts)
        features = read_items(texts, text="text").features
        means = KMeans(k, n_init=10, random_state=seed).fit_predict(plain)
        fuzzy = FuzzyKMeans(k, n_init=10, fuzzifier="auto", random_state=seed).fit(features)
        asked = ActiveFuzzyKMeans(
            k, oracle=TableOracle.from_labels(topics), ask="group", budget=CARDS, random_state=seed
        ).fit(features)
        margin = float((margin_sampling(plain, topics, seed) == topics).mean())
        print(
            f"{seed:4d}   {matched_accuracy(topics, means):15.1%}   "
            f"{matched_accuracy(topics, fuzzy.labels_):8.1%}   {margin:24.1%}   "
            f"{matched_accuracy(topics, asked.labels_):8.1%} ({asked.n_queries_})"
        )


def print_speed() -> None:
    """Seconds and memory for the features of 50,000 texts of many words."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnoprstuvwz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(40_000)])
    ranks = np.minimum(rng.zipf(1.3, MANY * 6) - 1, len(words) - 1).reshape(MANY, 6)
    texts = make_texts(MANY, 0)[0]
    texts = [f"{text} {' '.join(words[row])}" for text, row in zip(texts, ranks, strict=True)]
    began = time.perf_counter()
    features = read_items(texts, text="text").features
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    length = np.mean([len(text) for text in texts])
    print(
        f"{MANY:,} texts of {length:.0f} characters: {features.shape[1]} features in "
        f"{seconds:.0f} s, {memory:.2f} GiB at most in the whole process"
    )


def main() -> None:
    """Print what was asked for."""
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or ["topics", "speed"]
    if "speed" in wanted:  # first, before anything else has taken memory
        print_speed()
    if "topics" in wanted:
        print_topics()
    if "installed" in wanted:
        print_installed()


if __name__ == "__main__":
    main()
