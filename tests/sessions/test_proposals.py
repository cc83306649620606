"""What is proposed for groups: parts of one, by an unsupervised fit of its items."""

import numpy as np

from askmeans import sessions
from askmeans.sessions.proposals import parts_of_group


def test_parts_of_a_group_are_what_an_unsupervised_fit_of_its_items_finds(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, 0.2, size=(12, 2)) for center in (0.0, 3.0, 20.0)])
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, cluster_names=["near", "far"], random_state=0
    ) as made:
        made.groups.move([0, 12], "near")
        made.groups.move([24], "far")
        parts = parts_of_group(made, 0, 2)
        assert sorted(map(sorted, parts)) == [list(range(12)), list(range(12, 24))]
        assert parts_of_group(made, 0, 2) == parts
        made.groups.move(range(24), "far")
        assert parts_of_group(made, 0) == []


def test_parts_are_of_the_group_that_is_named_also_where_groups_have_sub_groups(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, 0.2, size=(12, 2)) for center in (0.0, 20.0, 23.0)])
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, cluster_names=["near", "far"], random_state=0
    ) as made:
        made.groups.refine("near", ["this", "that"])
        made.groups.move([0], "this")
        made.groups.move([6], "that")
        made.groups.move(range(12, 36), "far")
        assert sorted(map(sorted, parts_of_group(made, 1, 2))) == [
            list(range(12, 24)), list(range(24, 36)),
        ]  # fmt: skip
        assert parts_of_group(made, 0) == []
