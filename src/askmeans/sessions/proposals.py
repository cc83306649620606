"""Proposals for groups, by the items in them: parts, names of sub-groups, samples for a model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Items
from askmeans._util.checks import check_number
from askmeans.fuzzy import lloyd
from askmeans.llm.names import GroupSample, typical_words
from askmeans.results import strongest_clusters
from askmeans.sessions.display import Item
from askmeans.sessions.reports import PATH_SEPARATOR, Group
from askmeans.sessions.session import Session

_EXAMPLES = 5
_READ = 2000  # items whose words are counted
_SURE = 0.5  # of a membership, from which on an item speaks for a group
_FEWEST_OF_A_PART = 4  # different items


def parts_of_group(session: Session, group: int, n: int = 3) -> list[list[int]]:
    """At most n parts of a group, by an unsupervised fit of its items in the present result.

    The rows of each, the largest part first and its central items first. None if the group has
    sub-groups or too few different items.
    """
    check_number(n, "n", "parts_of_group", integer=True, minimum=2)
    U = session.learning.compute().result.clustering.memberships
    tree = session.runtime.groups.tree
    if group not in tree.top or group in tree.children or session.config.ask != "group":
        return []
    rows = np.flatnonzero(strongest_clusters(U) == tree.leaves.index(group))
    n = min(n, len(np.unique(session.rows.matrix[rows], axis=0)) // _FEWEST_OF_A_PART)
    if n < 2:
        return []
    distances = _distances_to_parts(session, rows, n)
    nearest = distances.argmin(axis=1)
    parts = []
    for j in range(n):
        places = np.flatnonzero(nearest == j)
        parts.append(rows[places[np.argsort(distances[places, j], kind="stable")]].tolist())
    return sorted(filter(None, parts), key=len, reverse=True)


def group_samples(session: Session, groups: Sequence[Group]) -> list[GroupSample]:
    """For each of these groups its name, typical items, and typical words of their texts."""
    result = session.result()
    U = result.memberships
    rows = np.flatnonzero(U.max(axis=1) > _SURE)[:_READ]
    texts = [_words(session.item(int(row))) for row in rows]
    # A group may have no items, or sub-groups that have them: it has no words then.
    columns = typical_words(texts, U[rows].argmax(axis=1).tolist())
    by_name = dict(zip(result.group_names, columns, strict=False))
    words = [by_name.get(group.name, []) for group in groups]
    return [
        GroupSample(
            name=group.name,
            examples=tuple(
                session.item(row).shown for row in session.exemplars(group.number, n=_EXAMPLES)
            ),
            words=tuple(typical),
        )
        for group, typical in zip(groups, words, strict=False)
    ]


def suggested_sub_groups(session: Session, group: int, n: int = 3) -> list[str]:
    """Names for sub-groups of a group: typical words of the clusters of an unsupervised fit.

    Of the items that belong to the group most; none where these are too few.
    """
    result, paths = session.result(), {each.name: each for each in session.groups}
    path = next(each.path for each in session.groups if each.number == group)
    inside = [paths[name].path == path or paths[name].path.startswith(path + PATH_SEPARATOR)
              for name in result.group_names]  # fmt: skip
    share = result.memberships[:, inside].sum(axis=1)
    rows = np.flatnonzero(share > _SURE)[:_READ]
    if len(rows) < 2 * n:
        return []
    clusters = _distances_to_parts(session, rows, n).argmin(axis=1).tolist()
    texts = [_words(session.item(int(row))) for row in rows]
    taken = {name.casefold() for name in session.groups.names}
    names: list[str] = []
    for words in typical_words(texts, clusters):
        free = [word for word in words if word.casefold() not in taken]
        if free:
            names.append(" and ".join(free[:2]))
            taken |= {word.casefold() for word in free[:2]}
    return names


def _distances_to_parts(session: Session, rows: NDArray[np.intp], n: int) -> Items:
    """Squared distances of items to the centres of an unsupervised fit of them."""
    X = np.asarray(session.rows.matrix[rows], dtype=np.float64)
    rng = np.random.default_rng(0)
    return lloyd.distances(X, lloyd.fit(X, n, fuzzifier="auto", n_init=5, rng=rng).centers)


def _words(item: Item) -> str:
    """The texts of an item."""
    fields = [value for value in item.fields.values() if isinstance(value, str)]
    return " ".join([item.text or "", *fields])
