"""Groups of a result: how large, how sure, what is worth a look, how they might be called."""

import numpy as np
import pandas as pd
import pytest

from askmeans import sessions
from askmeans.web.group_views import answered_rows
from askmeans.web.profiles import Profiles
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


TEXTS = ["red apple tree", "green apple tree", "ripe apple tree", "fast car road",
         "slow car road", "new car road"]  # fmt: skip
HARD = np.repeat(np.eye(2), 3, axis=0)


@pytest.fixture
def make(tmp_path):
    def made(items, **options):
        X = [[float(place)] for place in range(len(items))]
        return sessions.create(
            tmp_path / "a.db", X, n_clusters=2, items=items, random_state=0, **options
        )

    return made


def test_typical_words_are_in_the_group_and_not_elsewhere(make):
    with make(TEXTS) as session:
        first, second = Profiles(session, 6).of(HARD)
    assert set(first.words) == {"apple", "tree"}
    assert set(second.words) == {"car", "road"}


def test_memberships_weigh_the_words(make):
    with make(TEXTS) as session:
        even = Profiles(session, 6).of(np.full((6, 2), 0.5))
    assert [profile.words for profile in even] == [(), ()]


def test_columns_of_few_words_and_of_numbers_tell_too_and_ids_do_not(make):
    rows = [
        {"id": place, "kind": "stone" if place < 3 else "pome", "grams": 10.0 + place // 3 * 90.0,
         "same": 1.0}
        for place in range(6)
    ]  # fmt: skip
    with make(rows) as session:
        first, second = Profiles(session, 6).of(HARD)
    assert first.words == ("kind: stone",)
    ((trait,), (other,)) = first.traits, second.traits
    assert (trait.name, trait.value, other.value) == ("grams", "10", "100")
    assert (trait.place, other.place, trait.overall) == pytest.approx((0.0, 1.0, 0.5))


def test_a_missing_number_is_left_out(make):
    rows = [{"grams": None if place == 0 else float(place)} for place in range(6)]
    with make(rows) as session:
        first, _ = Profiles(session, 6).of(HARD)
    assert first.traits[0].value == "1.5"


def test_many_items_are_read_from_a_sample(make):
    with make([f"word{place} thing" for place in range(5000)]) as session:
        profiles = Profiles(session, 5000)
        assert 1000 <= len(profiles.rows) <= 2000
        profiles.of(np.full((5000, 2), 0.5))


def test_words_of_grammar_are_typical_of_no_group(tmp_path):
    kinds = ["which lamp will there be", "the parcel was not for you"] * 12
    texts = [f"{text} {number % 3 * 'again '}" for number, text in enumerate(kinds)]
    X = pd.DataFrame({"a": [row % 2 for row in range(24)], "b": [row / 100 for row in range(24)]})
    with sessions.create(tmp_path / "s.db", X, n_clusters=2, items=texts, random_state=0) as made:
        profiles = [group.profile for group in shown(made).groups]
    assert sorted(sorted(profile.words) for profile in profiles) == [["lamp"], ["parcel"]]
    assert [profile.traits for profile in profiles] == [(), ()]  # numbers behind texts say nothing
