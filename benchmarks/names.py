"""Names of groups as examples: accuracy without and with names, beside logistic regression.

    python benchmarks/names.py [--texts FILE.npz] [--sets NAME ...] [--encoders NAME ...] [--seeds 1]

Sets: "packages" are descriptions of Debian packages by the name of their section, "tags" the same
by 77 of Debian's tags (both by `apt-cache dumpavail`), "docstrings" those of installed Python
packages by the package's name. FILE has for further sets NAME_text, NAME_y and NAME_names, as the
test set M-CID (349 questions on covid, 16 intents; part of ALUP, NAACL 2024).

Each name becomes an example by the recipe of the texts. "shuffled" gives each group the name of
another. The rival learns from as many cards: the first of each group at random, then by margin;
with names these are training rows. Cards are counted per group.
"""

import argparse
import re
import subprocess
import sysconfig
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans
from askmeans.oracles import TableOracle
from askmeans.tables import apply_recipe, read_items
from texts import docstrings

Floats = NDArray[np.floating]
Labels = NDArray[np.intp]
Set = tuple[list[str], Labels, list[str]]

CARDS = (0, 1, 3, 6)  # per group
ENCODERS = {"topics": None, "wordllama": "wordllama"}
EACH = 40  # texts of a group
PACKAGES = ("pandas", "scipy", "matplotlib", "sqlalchemy", "sklearn", "dask", "pyarrow", "jinja2",
            "httpx", "fastapi", "click", "numba", "jupyter_client", "playwright", "pytest",
            "hypothesis")  # fmt: skip
FACETS = ("game", "field", "use", "protocol", "works-with", "hardware", "web", "mail", "sound")


def debian(by: str, n_groups: int, seed: int) -> Set:
    """Short descriptions of packages, and their section or their only tag of these facets."""
    listed = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    groups: dict[str, set[str]] = defaultdict(set)
    for record in listed.split("\n\n"):
        fields = dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", record, flags=re.MULTILINE))
        names = [fields.get("Section", "")]
        if by == "tags":
            tags = re.findall(r"([\w-]+)::([\w-]+)", fields.get("Tag", ""))
            names = [f"{f} {v}" for f, v in tags if f in FACETS]
        text = fields.get("Description", "").partition("\n")[0]
        if len(names) == 1 and len(text.split()) > 2:
            groups[names[0].replace("-", " ")].add(text)
    large = sorted(groups, key=lambda name: (-len(groups[name]), name))[:n_groups]
    return mixed({name: sorted(groups[name]) for name in large}, seed)


def installed(seed: int) -> Set:
    """Docstrings of Python packages, and the package."""
    root, rng = Path(sysconfig.get_paths()["purelib"]), np.random.default_rng(seed)
    return mixed({n: docstrings(root / n, EACH, rng) for n in PACKAGES if (root / n).is_dir()}, seed)


def mixed(groups: dict[str, list[str]], seed: int) -> Set:
    """Some texts of each group in a random order."""
    rng = np.random.default_rng(seed)
    groups = {name: texts for name, texts in groups.items() if len(texts) > EACH // 2}
    names = list(groups)
    pairs = [
        (texts[row], j)
        for j, texts in enumerate(groups.values())
        for row in rng.permutation(len(texts))[:EACH]
    ]
    order = rng.permutation(len(pairs))
    return [pairs[i][0] for i in order], np.array([pairs[i][1] for i in order]), names


def from_file(path: Path, name: str) -> Set:
    """A set of a file."""
    with np.load(path) as data:
        texts, y, names = (data[f"{name}_{part}"] for part in ("text", "y", "names"))
    return texts.tolist(), y.astype(np.intp), names.tolist()


def accuracy(
    X: Floats, y: Labels, cards: int, seed: int, examples: tuple[Floats, Labels] | None
) -> float:
    """The share of items in their groups after so many cards."""
    model = ActiveFuzzyKMeans(
        int(y.max()) + 1, oracle=TableOracle.from_labels(y) if cards else None, ask="group",
        budget=cards or None, random_state=seed,
    )  # fmt: skip
    if not cards and examples is None:
        return float("nan")
    return float((model.fit(X, examples=examples).labels_ == y).mean())


def rival(
    X: Floats, y: Labels, cards: int, seed: int, examples: tuple[Floats, Labels] | None
) -> float:
    """The same of logistic regression, which asks for the closest calls."""
    k = int(y.max()) + 1
    X0, y0 = examples if examples is not None else (X[:0], y[:0])
    known: list[int] = []
    while True:
        rows, labels = np.vstack([X0, X[known]]), np.concatenate([y0, y[known]])
        model = None
        if len(set(labels.tolist())) > 1:
            model = LogisticRegression(C=10.0, max_iter=500).fit(rows, labels)
        if len(known) >= cards:
            return float("nan") if model is None else float((model.predict(X) == y).mean())
        if model is None or (examples is None and len(known) < k):
            known = np.random.default_rng(seed).choice(len(y), k, replace=False).tolist()
            continue
        shares = np.sort(model.predict_proba(X), axis=1)
        margin = shares[:, -1] - shares[:, -2]
        margin[known] = np.inf
        step = min(max(1, k // 8), cards - len(known))
        known += np.argsort(margin, kind="stable")[:step].tolist()


def main() -> None:
    """Print a table for each set and encoder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--sets", nargs="+", default=["packages", "docstrings"])
    parser.add_argument("--encoders", nargs="+", default=list(ENCODERS))
    parser.add_argument("--cards", nargs="+", type=int, default=list(CARDS))
    parser.add_argument("--rows", nargs="+", default=["plain", "names", "shuffled", "rival"])
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        if name == "docstrings":
            texts, y, names = installed(0)
        elif name in ("packages", "tags"):
            texts, y, names = debian(name, 24 if name == "packages" else 77, 0)
        else:
            texts, y, names = from_file(options.texts, name)
        k = len(names)
        for encoder in options.encoders:
            items = read_items({"text": texts}, text="text", embed=ENCODERS[encoder])
            words = apply_recipe(items.recipe, {"text": names}, embed=ENCODERS[encoder])
            X, y0 = items.features.astype(float), np.arange(k)
            given = words.features.astype(float)
            wrong = np.roll(given, k // 2, axis=0)
            print(f"\n{name}, {encoder}: {len(y)} texts, {k} groups, {X.shape[1]} features")
            print(f"{'cards per group':24s}" + "".join(f"{c:7d}" for c in options.cards))
            rows = {
                "plain": (accuracy, None), "names": (accuracy, (given, y0)),
                "shuffled": (accuracy, (wrong, y0)), "rival": (rival, None),
                "rival, names": (rival, (given, y0)),
            }  # fmt: skip
            for label, (way, examples) in rows.items():
                if label.partition(",")[0] not in options.rows:
                    continue
                began, cells = time.perf_counter(), []
                for cards in options.cards:
                    with threadpool_limits(1):
                        each = [
                            way(X, y, cards * k, s, examples) for s in range(options.seeds)
                        ]
                    cells.append(f"{np.mean(each):7.3f}")
                seconds = time.perf_counter() - began
                print(f"{label:24s}{''.join(cells)}   ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
