"""Groups within groups: cards for groups and sub-groups, beside flat cards of the same groups.

    python benchmarks/nested.py [--texts FILE] [--sets NAME ...] [--seeds 3] [--keys 32 64 ...]

A flat card names one of all the leaves. A nested card names a group, or, where sub-groups are
shown, a sub-group of the probable group or another group; who named a group only may be asked for
its sub-group with another key. Keys are counted as on the page: 1 for each of the first nine groups
of a card; others are found by "/", a letter at least, and Enter: 3. Accuracy is that of the
strongest leaf, and of the strongest group at the top; flat shares are summed for it.

`mcid` and `stackoverflow` are questions with intents from FILE (an .npz with NAME_text and NAME_y;
skipped without one), grouped into domains below. `docstrings` are of what is installed: a package
and the part of it.
"""

import argparse
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans import sessions
from askmeans.sessions import Session
from askmeans.tables import read_items
from texts import docstrings

Labels = NDArray[np.intp]

KEYS = (16, 32, 48, 64, 96, 128, 192)
_FIRST, _FOUND = 9, 3  # groups of a card that have a key; keys that another one takes
# Intents by their numbers in the file, grouped by hand before anything was measured.
DOMAINS = {
    "mcid": {
        "talk": (0, 1, 6, 8), "news": (3, 4, 5), "disease": (10, 11, 13),
        "infection": (2, 14, 15), "conduct": (7, 9, 12),
    },
    "stackoverflow": {
        "languages": (3, 4, 13, 19), "web": (2, 5, 8, 9, 16), "microsoft": (11, 14, 17, 18),
        "databases": (1, 6, 15), "desktop": (0, 7, 10, 12),
    },
}  # fmt: skip
TAGS = (  # of stackoverflow; the file has only numbers
    "mac os", "oracle", "apache", "scala", "haskell", "wordpress", "hibernate", "cocoa", "drupal",
    "ajax", "svn", "linq", "qt", "bash", "excel", "spring", "magento", "visual studio",
    "sharepoint", "matlab",
)  # fmt: skip
PACKAGES = ("pandas", "scipy", "matplotlib", "sqlalchemy", "sklearn")
PARTS, EACH = 4, 25  # of a package, and texts of each part


@dataclass(frozen=True)
class Tree:
    """Texts, the leaf of each, and the group of each leaf."""

    texts: list[str]
    leaf: Labels
    group_of: Labels
    leaves: list[str]  # names
    groups: list[str]


def intents(file: Path, name: str) -> Tree:
    """Questions with intents, which are grouped into domains."""
    data = np.load(file, allow_pickle=False)
    group_of = np.empty(sum(map(len, DOMAINS[name].values())), dtype=np.intp)
    for number, members in enumerate(DOMAINS[name].values()):
        group_of[list(members)] = number
    leaves = TAGS if name == "stackoverflow" else data[f"{name}_names"].tolist()
    texts, y = data[f"{name}_text"].tolist(), data[f"{name}_y"].astype(np.intp)
    return Tree(texts, y, group_of, list(leaves), list(DOMAINS[name]))


def installed() -> Tree:
    """Docstrings of the parts of packages that have most of them."""
    root, rng = Path(sysconfig.get_paths()["purelib"]), np.random.default_rng(0)
    texts, leaf, group_of, names = list[str](), list[int](), list[int](), list[str]()
    packages = [name for name in PACKAGES if (root / name).is_dir()]
    for number, package in enumerate(packages):
        folders = [each for each in sorted((root / package).iterdir()) if each.is_dir()]
        parts = [(each, docstrings(each, EACH, rng)) for each in folders]
        full = [part for part in parts if len(part[1]) == EACH][:PARTS]
        for folder, some in full:
            names.append(f"{package} {folder.name}")
            texts += some
            leaf += [len(group_of)] * EACH
            group_of.append(number)
    order = rng.permutation(len(texts))
    texts = [texts[row] for row in order]
    return Tree(texts, np.array(leaf)[order], np.array(group_of), names, packages)


def accuracies(session: Session, tree: Tree, *, nested: bool) -> tuple[float, float]:
    """The share of items whose strongest leaf is right, and of those whose group is."""
    result = session.result()
    columns = np.array([tree.leaves.index(name) for name in result.group_names])
    right = columns[result.memberships.argmax(axis=1)] == tree.leaf
    if nested:
        top = result.at_level(1).memberships
    else:
        top = np.zeros((len(tree.leaf), len(tree.groups)))
        np.add.at(top.T, tree.group_of[columns], result.memberships.T)
    groups = top.argmax(axis=1) == tree.group_of[tree.leaf]
    return float(right.mean()), float(groups.mean())


def run(
    tree: Tree, seed: int, keys: Sequence[int], *, nested: bool
) -> Iterator[tuple[int, int, float, float]]:
    """How many cards so many keys answer, and the accuracies then."""
    items = read_items(tree.texts, text="text")
    names = tree.groups if nested else tree.leaves
    with tempfile.TemporaryDirectory() as folder:
        session = sessions.create(
            Path(folder) / "s.db", items, n_clusters=len(names), cluster_names=names, ask="group",
            random_state=seed,
        )  # fmt: skip
        with session:
            if nested:
                for number, name in enumerate(tree.groups):
                    members = np.flatnonzero(tree.group_of == number)
                    session.groups.refine(name, [tree.leaves[j] for j in members])
            pressed = cards = 0
            for budget in keys:
                while True:
                    (question,) = session.ask()
                    leaf = int(tree.leaf[question.items[0]])
                    group = int(tree.group_of[leaf])
                    is_shown = not nested or question.cluster == group  # its leaves are
                    answer = tree.leaves[leaf] if is_shown else tree.groups[group]
                    shown = [each.name for each in session.groups.choices(question.cluster)]
                    price = 1 if shown.index(answer) < _FIRST else _FOUND
                    if pressed + price > budget:
                        break
                    session.tell(question.id, answer)
                    pressed, cards = pressed + price, cards + 1
                yield budget, cards, *accuracies(session, tree, nested=nested)


def main() -> None:
    """Print the mean accuracies over seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--sets", nargs="+", default=[*DOMAINS, "docstrings"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keys", type=int, nargs="+", default=KEYS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print("set              keys   cards: flat nested   leaf: flat nested   group: flat nested")
    for name in chosen.sets:
        if name in DOMAINS and chosen.texts is None:
            continue
        tree = installed() if name == "docstrings" else intents(chosen.texts, name)
        results = np.array([
            [list(run(tree, seed, chosen.keys, nested=nested)) for nested in (False, True)]
            for seed in range(chosen.seeds)
        ]).mean(axis=0)  # fmt: skip
        for (keys, cards, leaf, group), (_, n_cards, n_leaf, n_group) in zip(*results, strict=True):
            print(
                f"{name:16s} {keys:4.0f}   {cards:11.0f} {n_cards:6.0f}   "
                f"{leaf:10.1%} {n_leaf:6.1%}   {group:11.1%} {n_group:6.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
