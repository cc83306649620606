"""Data with a known target: planted ones satisfy the paper's assumptions, others can be judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans import metrics
from askmeans.datasets import (
    make_cores_and_arms,
    make_faces,
    make_far_cluster,
    make_messages,
    make_scenes,
)
from askmeans.exceptions import ParameterError


def make(core_sizes, seed=0, **options):
    return make_cores_and_arms(core_sizes, rng=np.random.default_rng(seed), **options)


def check_assumptions(planted, fuzzifier):
    X, centers, U = planted.X, planted.centers, planted.memberships
    assert metrics.is_monotone(X, centers, U)
    assert metrics.are_centers_consistent(X, centers, U, fuzzifier)
    assert_allclose(U.sum(axis=1), 1.0)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.05, 1.5, 2.0, 5.0])
@pytest.mark.parametrize(
    "core_sizes",
    [
        [800, 100],
        [100, 100],
        [600, 400, 200],
        [80] * 4,
        [90, 70, 50, 30, 10],
        [60, 50, 40, 30, 20, 6],
    ],
)
def test_memberships_are_monotone_and_centers_consistent(core_sizes, fuzzifier):
    for seed in range(3):
        check_assumptions(make(core_sizes, seed, fuzzifier=fuzzifier), fuzzifier)


@given(
    core_sizes=st.lists(st.integers(1, 40), min_size=2, max_size=6),
    fuzzifier=st.floats(1.0, 6.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_sizes_and_fuzzifiers_satisfy_the_assumptions(core_sizes, fuzzifier, seed):
    check_assumptions(make(core_sizes, seed, fuzzifier=fuzzifier), fuzzifier)


def test_arms_are_soft_and_cores_are_not():
    U = make([60, 40, 20]).memberships
    own = np.sort(U.max(axis=1))
    arms, cores = own[:30], own[30:]
    assert len(own) == 60 + 40 + 20 + 3 * 10
    assert (cores == 1.0).all()
    assert ((arms >= 1 / 3) & (arms < 1.0)).all()
    assert arms.max() > 0.9  # all the way from 1 / k
    assert arms.min() < 0.45
    # What an item does not give to its own cluster it shares evenly.
    assert_allclose(np.sort(U, axis=1)[:, 0], np.sort(U, axis=1)[:, 1])


def test_items_have_one_feature_less_than_there_are_clusters():
    assert make([10, 10]).X.shape == (30, 1)
    assert make([10] * 5).X.shape == (75, 4)


def test_arms_have_the_size_asked_for_and_none_is_allowed():
    assert len(make([20, 30], arm_size=3).X) == 56
    hard = make([20, 30], arm_size=0)
    assert len(hard.X) == 50
    assert set(hard.memberships.ravel()) == {0.0, 1.0}
    check_assumptions(hard, 2.0)


def test_clusters_have_the_sizes_given_in_their_order():
    U = make([30, 50, 20], arm_size=0).memberships
    assert U.sum(axis=0).tolist() == [30.0, 50.0, 20.0]


def test_items_come_in_random_order():
    labels = make([50, 50], arm_size=0).memberships.argmax(axis=1)
    assert (np.diff(labels) != 0).sum() > 25


def test_the_same_generator_gives_the_same_data():
    assert (make([9, 9], 3).X == make([9, 9], 3).X).all()
    assert (make([9, 9], 3).X != make([9, 9], 4).X).any()


@pytest.mark.parametrize(
    ("core_sizes", "options", "message"),
    [
        ([], {}, r"'core_sizes' .* at least two clusters. Got \[\] instead"),
        ([5], {}, r"'core_sizes' .* at least two clusters. Got \[5\] instead"),
        ([5, 0], {}, r"'core_sizes' .* \[1, inf\). Got 0 instead"),
        ([5, 2.5], {}, r"'core_sizes' .* an int .* Got 2.5 instead"),
        ([9, 6], {"arm_size": 4}, r"'arm_size' .* at most half the smallest core, 3. Got 4"),
        ([9, 6], {"arm_size": -1}, r"'arm_size' .* \[0, inf\). Got -1 instead"),
        ([9, 6], {"arm_size": 1.5}, r"'arm_size' .* an int .* Got 1.5 instead"),
        ([9, 6], {"fuzzifier": 0.9}, r"'fuzzifier' .* \[1, inf\). Got 0.9 instead"),
    ],
)
def test_bad_parameters_are_named(core_sizes, options, message):
    with pytest.raises(ParameterError, match=message):
        make(core_sizes, **options)


def test_the_far_cluster_is_the_papers_synthetic_data():
    X, means = make_far_cluster(4, first_size=3000, other_size=6000, rng=np.random.default_rng(1))
    assert X.shape == (21_000, 10)
    gaps = np.abs(means[0][:, None] - means[1:].ravel())
    assert gaps.min() >= 1000.0  # every coordinate from every other
    own = np.repeat(np.arange(4), [3000, 6000, 6000, 6000])
    assert np.allclose((X - means[own]).std(axis=0), 20.0, rtol=0.03)
    for j in range(4):
        assert np.allclose(X[own == j].mean(axis=0), means[j], atol=2.0)


def test_the_same_generator_gives_the_same_means_for_all_sizes():
    first, second = (
        make_far_cluster(3, first_size=5, other_size=size, rng=np.random.default_rng(2))[1]
        for size in (5, 50)
    )
    assert (first == second).all()


@pytest.mark.parametrize(
    ("name", "value"), [("n_clusters", 1), ("first_size", 0), ("other_size", 2.5)]
)
def test_the_far_cluster_needs_whole_numbers(name, value):
    with pytest.raises(ParameterError, match=name):
        make_far_cluster(**{name: value}, rng=np.random.default_rng(0))


def test_faces_are_always_the_same_and_some_lie_between_moods():
    faces, again = make_faces(), make_faces()
    assert (faces.X == again.X).all()
    assert_allclose(faces.memberships.sum(axis=1), 1.0)
    strongest = faces.memberships.max(axis=1)
    assert (strongest < 0.6).sum() >= 6 < (strongest > 0.9).sum()
    assert metrics.are_centers_consistent(faces.X, faces.centers, faces.memberships)


def test_faces_of_one_mood_look_alike():
    faces = make_faces()
    mood, sure = faces.memberships.argmax(axis=1), faces.memberships.max(axis=1) > 0.9
    gaps = np.square(faces.X[sure, None] - faces.centers).sum(axis=2)
    assert (gaps.argmin(axis=1) == mood[sure]).all()


def test_no_faces_are_refused():
    with pytest.raises(ParameterError, match="'n' parameter of make_faces"):
        make_faces(0)


def test_every_fifth_message_has_two_topics_and_says_both():
    messages = make_messages(10)
    assert [int((row > 0).sum()) for row in messages.shares] == [1, 1, 1, 1, 2] * 2
    assert len(messages.texts[4].split(". ")) == 2
    assert messages.topics[4] == messages.names[messages.shares[4].argmax()]


def test_messages_with_two_topics_are_mixed_in_several_shares():
    shares = make_messages().shares
    assert_allclose(shares.sum(axis=1), 1.0)
    assert sorted(set(shares.max(axis=1))) == [0.55, 0.6, 0.7, 1.0]


@given(n=st.integers(1, 300), n_topics=st.integers(2, 8), mixed=st.floats(0.0, 1.0))
def test_as_many_messages_have_two_topics_as_asked_for(n, n_topics, mixed):
    messages = make_messages(n, n_topics=n_topics, mixed=mixed)
    assert len(messages.texts) == n
    assert messages.shares.shape == (n, n_topics) == (n, len(messages.names))
    assert abs(int((messages.shares.max(axis=1) < 1.0).sum()) - n * mixed) < 1.0


def test_a_seed_makes_other_messages():
    assert make_messages(5).texts == make_messages(5).texts != make_messages(5, seed=1).texts


@pytest.mark.parametrize(
    "given",
    [{"n": 0}, {"seed": -1}, {"n_topics": 1}, {"n_topics": 9}, {"mixed": -0.1}, {"mixed": 1.1}],
)
def test_messages_out_of_range_are_refused(given):
    with pytest.raises(ParameterError, match=f"'{next(iter(given))}' parameter of make_messages"):
        make_messages(**given)


def test_every_fourth_picture_shows_two_scenes_side_by_side():
    scenes = make_scenes(8)
    assert [int((row > 0).sum()) for row in scenes.shares] == [1, 1, 1, 2] * 2
    assert np.allclose(scenes.shares.sum(axis=1), 1.0)
    assert scenes.images.dtype == np.uint8


def test_a_night_is_darker_than_a_beach():
    scenes = make_scenes()
    light = scenes.images.mean(axis=(1, 2, 3))
    pure = {name: light[scenes.shares[:, j] == 1.0] for j, name in enumerate(scenes.names)}
    assert pure["night"].max() < pure["forest"].min() < pure["beach"].min()


def test_no_pictures_are_refused():
    with pytest.raises(ParameterError, match="'n' parameter of make_scenes"):
        make_scenes(0)
