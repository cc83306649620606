"""Groups of a result: how large, how sure, what is worth a look, how they might be called."""

import numpy as np
import pytest

from askmeans import sessions
from askmeans.web.group_views import answered_rows
from askmeans.web.result_views import ResultViews

WORDS = [("apple", "tree"), ("car", "road"), ("fish", "pond")]


@pytest.fixture
def session(tmp_path):
    """Texts of three kinds along a line, so that some lie between."""
    X = np.concatenate([np.linspace(j, j + 0.7, 8) for j in range(3)])[:, None]
    texts = [f"{WORDS[row // 8][0]} and {WORDS[row // 8][1]} number {row}" for row in range(24)]
    with sessions.create(tmp_path / "a.db", X, n_clusters=3, items=texts, random_state=0) as made:
        yield made


def answer(session, n):
    for _ in range(n):
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, question.items[0] // 8, annotator="ann")


def shown(session):
    views = ResultViews(session)
    view = views.latest(60.0)
    views.close()
    return view


def test_sizes_are_surer_the_more_is_answered(session):
    answer(session, 6)
    early = shown(session)
    for group in early.groups:
        low, high = group.band
        assert 0 <= low <= group.count <= high <= 24
    assert len(early.to_check) == 18  # all that nobody was asked about
    confidence = early.result.confidence[list(early.to_check)]
    assert (np.diff(confidence) >= 0.0).all()
    assert sum(level.count for level in early.levels) == 18
    wrong = sum(level.wrong for level in early.levels)
    assert wrong == pytest.approx((1.0 - confidence).sum())
    for level in early.levels:
        below = (100.0 * confidence < level.high) | (level.high == 100)
        assert level.count == (below & (100.0 * confidence >= level.low)).sum()
    answer(session, 18)
    late = shown(session)
    assert [(group.count, group.band) for group in late.groups] == [(8, (8, 8))] * 3
    assert late.to_check == ()
    assert late.reviews == ()


def test_reviews_are_items_between_groups_that_nobody_was_asked_about(session):
    answer(session, 6)
    view = shown(session)
    asked = set(answered_rows(session, session.history.answers())[0].tolist())
    assert len(asked) == 6
    assert all(review.item.row not in asked for review in view.reviews)
    for review in view.reviews:
        values = [value for _, value in review.choices]
        assert values == sorted(values, reverse=True)
        assert values[0] - values[1] < 0.5


def test_groups_that_nobody_named_get_names_of_their_typical_words(session):
    answer(session, 12)
    names = [group.suggested for group in shown(session).groups]
    assert [set(name.lower().split(" and ")) for name in names] == [set(pair) for pair in WORDS]
    session.groups.rename(0, "Orchard")
    again = shown(session).groups
    assert [group.suggested is None for group in again] == [True, False, False]
    assert again[0].group.name == "Orchard"


def test_typical_items_are_the_most_central_of_those_that_belong_most(session):
    answer(session, 24)
    for j, group in enumerate(shown(session).groups):
        rows = [item.row for item, _ in group.typical]
        middle = session.result().clustering.centers[j]
        gaps = np.abs(session.rows.base - middle).ravel()
        mine = [row for row in range(24) if row // 8 == j]
        assert rows == sorted(mine, key=lambda row: gaps[row])[:4]
