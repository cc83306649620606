"""How many clusters: result where it shows, and not claimed where it does not."""

import numpy as np
import pytest

from askmeans.exceptions import ParameterError
from askmeans.metrics import choose_n_clusters
from askmeans.metrics.choosing import ClusterNumbers


def blobs(k, n=300):
    rng = np.random.default_rng(k)
    angle = 2 * np.pi * np.arange(k) / k
    return np.stack([8 * np.cos(angle), 8 * np.sin(angle)], axis=1)[np.arange(n) % k] + rng.normal(
        size=(n, 2)
    )


@pytest.mark.parametrize("k", [3, 4, 5])
def test_clusters_that_stand_apart_are_counted(k):
    result = choose_n_clusters(blobs(k), range(2, 8), n_resamples=3, random_state=0)
    assert result.suggested == k
    assert result.summary.startswith(f"{k} clusters.")
    assert set(result.votes.values()) == {k}


def test_where_indices_disagree_nothing_is_suggested():
    result = ClusterNumbers(
        n_clusters=(2, 3, 4),
        indices={
            "xie_beni": np.array([0.1, 0.2, 0.3]),
            "partition_entropy": np.array([0.3, 0.1, 0.2]),
            "stability": np.array([0.1, 0.2, 0.3]),
        },
        merged=(False, False, False),
    )
    assert result.votes == {"xie_beni": 2, "partition_entropy": 3, "stability": 4}
    assert result.suggested is None
    assert "disagree (xie_beni 2, partition_entropy 3, stability 4)" in result.summary


def test_numbers_at_which_clusters_merged_are_not_preferred():
    X = np.random.default_rng(0).normal(size=(300, 20))
    X[:, 0] += 12.0 * (np.arange(300) % 2)
    result = choose_n_clusters(X, [2, 3, 6], n_resamples=0, random_state=0)
    assert result.merged[2]
    assert set(result.votes.values()) == {2}


def test_halves_agree_at_the_number_there_is_and_less_at_others():
    result = choose_n_clusters(blobs(3), [3, 6], random_state=0)
    right, wrong = result.indices["stability"]
    assert right > 0.95
    assert wrong < right - 0.2


def test_the_same_seed_gives_the_same_indices_and_a_table():
    X = blobs(3)
    a, b = (choose_n_clusters(X, [4, 2, 3, 2], random_state=1) for _ in range(2))
    assert a.to_frame().equals(b.to_frame())
    assert a.to_frame().index.tolist() == [2, 3, 4]


def test_what_is_shown_is_the_verdict():
    result = choose_n_clusters(blobs(3), [2, 3, 4], random_state=1)
    assert repr(result) == f"ClusterNumbers(n_clusters=(2, 3, 4): {result.summary})"


def test_resampling_may_be_left_out_and_few_items_have_none():
    assert "stability" not in choose_n_clusters(blobs(3), [2], n_resamples=0).indices
    result = choose_n_clusters([[0.0], [1.0], [9.0], [10.0]], [2, 3])
    assert np.isnan(result.indices["stability"][1])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [([1, 2], "range"), ([], "range or a list"), (3, "range or a list"), ([500], "at most")],
)
def test_numbers_that_cannot_be_are_refused(numbers, message):
    with pytest.raises(ParameterError, match=f"'n_clusters' parameter .*{message}"):
        choose_n_clusters(blobs(3), numbers)
