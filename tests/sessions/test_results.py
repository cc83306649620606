"""Results in items: confidence, unassigned, how many are wrong, and when that is good enough."""

import numpy as np
import pytest

from askmeans import sessions
from askmeans.exceptions import ParameterError

NAMES = ["left", "right"]


@pytest.fixture
def line(tmp_path):
    """A session on two groups on a line, and some items far from both."""
    made = []

    def create(**options):
        X = np.r_[np.linspace(0, 3, 20), np.linspace(3.2, 6, 20), np.linspace(40, 41, 8)][:, None]
        given = {"n_clusters": 2, "cluster_names": NAMES, "random_state": 0} | options
        made.append(sessions.create(tmp_path / f"{len(made)}.db", X, **given))
        return made[-1]

    yield create
    for session in made:
        session.close()


def put(session, **answers):
    """Put rows into groups: left=(0, 3), none=(40,)."""
    for group, rows in answers.items():
        for row in rows:
            question = session.add_question("group", (row,), None)
            session.tell(question.id, () if group == "none" else group)


def test_before_the_first_answer_no_number_of_wrong_items_is_known(line):
    session = line()
    result, status = session.result(), session.status(estimate=True)
    assert (result.expected_wrong, result.expected_wrong_band) == (None, None)
    assert (status.expected_wrong, status.estimated_error) == (None, None)
    assert status.wrong_items == "No answers yet, so nothing is known of wrong items."
    assert "no answers yet" in result._repr_html_()


def test_who_could_only_not_say_leaves_the_number_unknown(line):
    session = line()
    (question,) = session.ask()
    session.unsure(question.id)
    assert session.status(estimate=True).wrong_items.startswith("No answers yet")
    assert session.error_curve()[-1].wrong is None


def test_a_result_has_a_confidence_of_every_item_and_counts_wrong_ones(line):
    session = line()
    put(session, left=(0, 10, 18), right=(21, 30, 38))
    result = session.result()
    assert result.group_names == tuple(NAMES)
    assert result.confidence.shape == (48,)
    assert (result.confidence[[0, 10, 18, 21, 30, 38]] == 1.0).all()
    unasked = np.setdiff1d(np.arange(48), [0, 10, 18, 21, 30, 38])
    assert (result.confidence[unasked] < 1.0).all()
    assert result.expected_wrong == pytest.approx((1.0 - result.confidence).sum(), rel=0.01)
    low, high = result.expected_wrong_band
    assert low <= result.expected_wrong <= high
    sentence = session.status(estimate=True).wrong_items
    assert "of 48" in sentence
    assert f"({low} to {high})" in sentence
    assert "probably in the wrong group about" in result._repr_html_()


def test_rows_added_later_have_a_confidence_too(line):
    session = line()
    put(session, left=(0, 10), right=(30, 38), none=(40, 42, 47))
    session.add_rows([[1.0], [5.0], [40.2]])
    result = session.result()
    assert len(result.confidence) == len(result.unassigned) == len(result.memberships) == 51
    assert result.unassigned[50] > 0.5 > result.unassigned[48]


def test_unassigned_and_memberships_sum_to_one(line):
    session = line()
    put(session, left=(0, 10), right=(30, 38), none=(40, 42, 47))
    result = session.result()
    np.testing.assert_allclose(result.memberships.sum(axis=1) + result.unassigned, 1.0)
    assert (result.unassigned[40:] > 0.5).all()
    assert (result.unassigned[:40] < 0.5).all()


def test_a_group_without_members_hardly_changes_the_number_of_wrong_items(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 3)) + labels[:, None]
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, cluster_names=NAMES, random_state=0
    ) as session:
        for _ in range(20):
            (question,) = session.ask()
            session.tell(question.id, int(labels[question.items[0]]))
        before = session.result().expected_wrong
        session.groups.add("empty")
        after = session.result().expected_wrong
    assert before / 1.5 < after < 1.5 * before


def test_items_of_no_group_or_that_nobody_could_say_are_no_exemplars(line):
    session = line()
    put(session, left=(10,), right=(30,), none=(0, 1, 40, 47))
    for row in (2, 3, 38):
        session.unsure(session.add_question("group", (row,), None).id)
    session.result()
    for group in (0, 1):
        shown = session.exemplars(group, n=48)
        assert not {0, 1, 40, 47, 2, 3, 38} & set(shown)
    named = line(cluster_names=None)  # examples of the unsupervised fit
    row = named.exemplars(0)[0]
    named.unsure(named.add_question("group", (row,), None).id)
    assert row not in named.exemplars(0, n=48)


def test_a_target_says_how_many_wrong_items_are_good_enough(line):
    answers = {"left": (0, 3, 6, 10, 14, 18), "right": (21, 25, 28, 30, 34, 38, 41, 46)}
    strict, easy = line(target=1e-6), line(target=0.5)
    for session in (strict, easy):
        put(session, **answers)
    assert easy.status(estimate=True).good_enough
    assert not strict.status(estimate=True).good_enough
    with sessions.open(easy.url) as again:
        assert again.status(estimate=True).good_enough
        assert again.result().clustering.diagnostics.target == 0.5


@pytest.mark.parametrize("target", [0, -0.1, 1.5, "5%", True])
def test_a_target_is_a_share(line, target):
    with pytest.raises(ParameterError, match=r"'target' parameter of sessions\.create"):
        line(target=target)
