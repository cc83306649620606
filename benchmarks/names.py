"""Names of groups as examples: accuracy without and with names, beside logistic regression.

    python benchmarks/names.py [--sets NAME ...] [--texts FILE.npz] [--encoders NAME ...]

Sets: "sklearn" and "scipy" are first lines of docstrings, by the subpackage; "tags" and "packages"
descriptions of Debian packages by 77 tags, or by the section (`apt-cache dumpavail`). FILE has for
further sets NAME_text, NAME_y and NAME_names, as the test set M-CID (349 questions on covid, 16
intents; part of ALUP, NAACL 2024).

Each name becomes an example by the recipe of the texts; "shuffled" gives each group the name of
another. The rival asks for the closest calls, and with names has these as training rows; without,
it begins with as many random items as there are groups. Cards are counted per group. "advice" is a
classifier's for every item, right in 70 % or by chance.
"""

import argparse
import ast
import re
import subprocess
import sysconfig
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans
from askmeans.oracles import TableOracle
from askmeans.tables import apply_recipe, read_items

Floats = NDArray[np.floating]
Labels = NDArray[np.intp]
Set = tuple[list[str], Labels, list[str]]

CARDS = (0, 1, 3, 6)  # per group
ENCODERS = {"topics": None, "wordllama": "wordllama"}
EACH = 40  # texts of a group
FEWEST = 12  # of a group
NO_TOPIC = ("role", "interface", "implemented-in", "uitoolkit", "suite", "devel", "scope", "x11",
            "made-of", "special", "culture", "admin", "security", "network")  # fmt: skip


def debian(by: str, n_groups: int, seed: int) -> Set:
    """Short descriptions of packages, and their section or the rarest of their tags."""
    listed = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    records, counts = [], Counter[str]()
    for record in listed.split("\n\n"):
        fields = dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", record, flags=re.MULTILINE))
        text = fields.get("Description", "").partition("\n")[0]
        names = [fields.get("Section", "")]
        if by == "tags":
            tags = re.findall(r"([\w-]+)::([\w-]+)", fields.get("Tag", ""))
            names = [f"{f} {v}" for f, v in tags if f not in NO_TOPIC]
        if len(text.split()) > 2 and names:
            records.append((text, names))
            counts.update(names)
    groups: dict[str, set[str]] = defaultdict(set)
    for text, names in records:
        groups[min(names, key=lambda name: (counts[name], name))].add(text)
    large = sorted(groups, key=lambda name: (-len(groups[name]), name))[:n_groups]
    return mixed({name.replace("-", " "): sorted(groups[name]) for name in large}, seed)


def modules(package: str, seed: int) -> Set:
    """First lines of the docstrings of a package, and the subpackage."""
    root = Path(sysconfig.get_paths()["purelib"]) / package
    groups: dict[str, list[str]] = {}
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        lines = {
            (ast.get_docstring(node) or "").partition("\n")[0]
            for path in folder.rglob("*.py")
            if "test" not in str(path.relative_to(root)) and not folder.name.startswith("_")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        groups[folder.name.replace("_", " ")] = sorted(x for x in lines if len(x.split()) > 2)
    return mixed(groups, seed)


def mixed(groups: dict[str, list[str]], seed: int) -> Set:
    """Some texts of each group in a random order."""
    rng = np.random.default_rng(seed)
    groups = {name: texts for name, texts in groups.items() if len(texts) >= FEWEST}
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
    X: Floats,
    y: Labels,
    cards: int,
    seed: int,
    examples: tuple[Floats, Labels] | None,
    right: float | None = None,
) -> float:
    """The share of items in their groups after so many cards, with advice that is often `right`."""
    model = ActiveFuzzyKMeans(
        int(y.max()) + 1, oracle=TableOracle.from_labels(y) if cards else None, ask="group",
        budget=cards or None, random_state=seed,
    )  # fmt: skip
    advice = None
    if right is not None:
        rng, k = np.random.default_rng([seed, 5]), int(y.max()) + 1
        wrong = (y + rng.integers(1, k, len(y))) % k
        advice = {"classifier": np.eye(k)[np.where(rng.random(len(y)) < right, y, wrong)]}
    if not cards and examples is None and advice is None:
        return float("nan")
    return float((model.fit(X, examples=examples, advice=advice).labels_ == y).mean())


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
    parser.add_argument("--sets", nargs="+", default=["scipy", "sklearn"])
    parser.add_argument("--encoders", nargs="+", default=list(ENCODERS))
    parser.add_argument("--cards", nargs="+", type=int, default=list(CARDS))
    parser.add_argument("--rows", nargs="+", default=["plain", "names", "shuffled", "rival"])
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        if name in ("scipy", "sklearn"):
            texts, y, names = modules(name, 0)
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
            rows: dict[str, tuple[Callable[..., float], tuple[Floats, Labels] | None]] = {
                "plain": (accuracy, None), "names": (accuracy, (given, y0)),
                "shuffled": (accuracy, (wrong, y0)), "rival": (rival, None),
                "rival, names": (rival, (given, y0)),
                "advice, 70 % right": (partial(accuracy, right=0.7), None),
                "advice, at chance": (partial(accuracy, right=1 / k), None),
            }  # fmt: skip
            for label, (way, examples) in rows.items():
                if label.partition(",")[0] not in options.rows:
                    continue
                began, cells = time.perf_counter(), []
                for cards in options.cards:
                    with threadpool_limits(1):
                        each = [way(X, y, cards * k, s, examples) for s in range(options.seeds)]
                    cells.append(f"{np.mean(each):7.3f}")
                seconds = time.perf_counter() - began
                print(f"{label:24s}{''.join(cells)}   ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
