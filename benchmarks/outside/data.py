"""Data sets in folders of the user's; `docs/compare.md` says where each comes from."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from askmeans.tables import apply_recipe, read_items

from .protocol import Items, Task

Floats = NDArray[np.float64]
PAIRS = (20, 50, 100)
CARDS = (1, 3, 6)  # for each group
ROWS = (20, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A data set: features, what the oracle knows, and the budgets."""

    name: str
    kind: str
    X: Floats
    truth: NDArray[Any]  # labels, or rows of shares
    budgets: tuple[int, ...]
    examples: tuple[Floats, NDArray[np.intp]] | None = None

    @property
    def n_clusters(self) -> int:
        """How many groups there are."""
        return int(self.truth.shape[1] if self.truth.ndim == 2 else self.truth.max() + 1)

    def task(self, budget: int, seed: int) -> Task:
        """Return the task of a method: items in random order, by the seed."""
        X = self.X[self.order(seed)]
        X.flags.writeable = False
        return Task(X=X, n_clusters=self.n_clusters, budget=budget, seed=seed, kind=self.kind,
                    examples=self.examples)  # fmt: skip

    def order(self, seed: int) -> NDArray[np.intp]:
        """The order in which a method gets the items: it tells nothing of labels."""
        return np.random.default_rng([seed, 39]).permutation(len(self.X))

    def answer(self, items: Items, seed: int) -> Any:
        """Answer a question."""
        told = self.truth[self.order(seed)[list(items)]]
        return bool(told[0] == told[1]) if self.kind == "pair" else told[0]


def _read(folders: Sequence[Path], name: str) -> Any:
    """The arrays of a file; none, where no folder has it."""
    for folder in folders:
        if (folder / name).is_file():
            return dict(np.load(folder / name))
    print(f"{name}: not there, left out")
    return {}


def pairs(folders: Sequence[Path]) -> Iterator[Case]:
    """Points with labels, as `NAME_X` and `NAME_y` in pairs.npz; features are standardised."""
    arrays = _read(folders, "pairs.npz")
    for name in [key[:-2] for key in arrays if key.endswith("_X")]:
        X = StandardScaler().fit_transform(arrays[f"{name}_X"].astype(np.float64))
        yield Case(name=name, kind="pair", X=X, truth=arrays[f"{name}_y"], budgets=PAIRS)


def published(folders: Sequence[Path]) -> Iterator[tuple[str, str, int, float]]:
    """Published figures of the same sets: set, method, pairs, mean ARI."""
    text = _read(folders, "pairs.npz").get("published")
    for name, methods in json.loads(str(text) if text is not None else "{}").items():
        for method, values in methods.items():
            for budget, value in zip(PAIRS, values[1:], strict=True):
                yield name, method, budget, value


def texts(folders: Sequence[Path]) -> Iterator[Case]:
    """Texts with intents or tags, by both kinds of features; with names where these are words."""
    arrays = _read(folders, "texts.npz")
    for name in [key[:-5] for key in arrays if key.endswith("_text")]:
        y, names = arrays[f"{name}_y"].astype(np.intp), arrays[f"{name}_names"].tolist()
        cards = tuple(n * (int(y.max()) + 1) for n in CARDS)
        for features, embed in (("TF-IDF topics", None), ("wordllama", "wordllama")):
            items = read_items(arrays[f"{name}_text"].tolist(), text="text", embed=embed)
            X = np.asarray(items.features, dtype=np.float64)
            case = Case(name=f"{name}, {features}", kind="item", X=X, truth=y, budgets=cards)
            yield case
            if not all(word.isdigit() for word in names):
                encoded = apply_recipe(items.recipe, {"text": names}, embed=embed).features
                examples = np.asarray(encoded, dtype=np.float64), np.arange(len(names))
                yield Case(name=f"{case.name}, names", kind="item", X=X, truth=y, budgets=cards,
                           examples=examples)  # fmt: skip
    bank = _read(folders, "bank_texts.npz")
    if bank:
        cards = tuple(n * (int(bank["y"].max()) + 1) for n in CARDS)
        X = bank["X"].astype(np.float64)
        yield Case(name="bank, TF-IDF", kind="item", X=X, truth=bank["y"], budgets=cards)


def soft(folders: Sequence[Path]) -> Iterator[Case]:
    """Label distributions of many raters, as ldl_NAME.npz."""
    for folder in folders:
        for path in sorted(folder.glob("ldl_*.npz")):
            arrays = np.load(path)
            U = arrays["U"].astype(np.float64)
            U /= U.sum(axis=1, keepdims=True)
            X = arrays["X"].astype(np.float64)
            yield Case(name=path.stem[4:], kind="row", X=X, truth=U, budgets=ROWS)


def crowd(folders: Sequence[Path]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs that a crowd answered (item, item, same, worker, ...), and the items' species."""
    arrays = _read(folders, "birds_pairs.npz")
    if not arrays:
        raise SystemExit("The crowd's pairs are in none of the folders.")
    return arrays["edges"].astype(np.intp), arrays["y"].astype(np.intp)
