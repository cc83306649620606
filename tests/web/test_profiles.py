"""What is typical of a group: words that others lack, and numbers that differ."""

import numpy as np
import pandas as pd
import pytest

from askmeans import sessions
from askmeans.web.profiles import Profiles

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
        profiles = Profiles(made, 24).of(made.result().memberships)
    assert sorted(sorted(profile.words) for profile in profiles) == [["lamp"], ["parcel"]]
    assert [profile.traits for profile in profiles] == [(), ()]  # numbers behind texts say nothing
