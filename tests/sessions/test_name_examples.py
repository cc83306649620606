"""Names and descriptions of groups are examples, through the recipe of the items' texts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askmeans.datasets import make_messages
from askmeans.tables import read_items

MESSAGES = make_messages(120, mixed=0.0)
TOPICS = np.array(MESSAGES.topics)
NAMES = ["parcel and courier", "invoice and card", "refund and exchange", "log in and password"]

DESCRIPTIONS = [
    "The courier or the parcel is late. It went to a wrong address or a neighbour.",
    "Charged twice by card or bank. A wrong invoice or bill.",
    "Send something back. Refund or exchange of a broken thing.",
    "Cannot log in. Password, email or profile.",
]


@pytest.fixture
def talk(make):
    """A session about messages, whose groups have these names."""

    def create(names=NAMES, *, texts=MESSAGES.texts, **options):
        items = read_items({"message": list(texts)}, text="message")
        options = {"ask": "group", "n_clusters": 4} | options
        return make(X=items, cluster_names=names, **options)

    return create


def right(session):
    """The share of messages in the group of their topic."""
    strongest = session.result().memberships.argmax(axis=1)
    return float((np.array(MESSAGES.names)[strongest] == TOPICS).mean())


def answer(session, count):
    """Answer as the topics say."""
    for _ in range(count):
        (question,) = session.ask()
        session.tell(question.id, MESSAGES.names.index(TOPICS[question.items[0]]))


def test_names_place_items_before_the_first_answer_and_the_session_says_so(talk):
    session = talk()
    result = session.result()
    assert right(session) > 0.6
    assert result.basis == "names"
    about = float(result.without_answers.split("about ")[1].split(" of 120")[0])
    assert abs(about / 120 - right(session)) < 0.25
    assert session.status().answered == 0
    assert session.result().n_queries == 0
    answer(session, 1)
    assert session.result().without_answers == ""


def test_every_change_of_groups_changes_the_evidence_at_once(talk, again):
    session = talk()
    before = session.result().memberships
    accuracy = right(session)
    session.groups.rename(0, "sofa and bathroom")
    assert right(session) < accuracy - 0.1
    session.groups.rename(0, NAMES[0])
    for number, line in enumerate(DESCRIPTIONS):
        session.groups.describe(number, line)
    assert right(session) > accuracy + 0.05
    assert_array_equal(again(session).result().memberships, session.result().memberships)
    for number in range(4):
        session.groups.describe(number, "")
    assert_array_equal(session.result().memberships, before)
    added = session.groups.add("voucher and discount")
    assert session.result().memberships[:, added].max() > 0.5
    session.groups.merge(0, 1)  # what the second was called is an example of the whole
    strongest = session.result().memberships.argmax(axis=1)
    assert np.mean(strongest[np.isin(TOPICS, MESSAGES.names[:2])] == 0) > 0.6


def test_a_synonym_and_back_gives_the_same_questions_and_result(talk):
    one, other = talk(path="one.db"), talk(path="other.db")
    for session in (one, other):
        answer(session, 6)
    other.groups.rename(2, "money back")
    other.result()
    other.groups.rename(2, NAMES[2])
    assert_array_equal(one.result().memberships, other.result().memberships)
    assert one.ask()[0].items == other.ask()[0].items


@pytest.mark.parametrize(
    "options",
    [
        {"names": ["Group A", "cluster 2", "C", "4"]},
        {"names": ["qqq", "zzz", "xxx", "jjj"]},
        {"use_names": False},
    ],
)
def test_names_that_say_nothing_are_no_examples(talk, options):
    assert talk(**options).result().basis == "nothing"


def test_shuffled_names_fade(talk):
    plain, shuffled = talk(use_names=False, path="plain.db"), talk(NAMES[1:] + NAMES[:1])
    assert right(shuffled) < 0.4
    for session in (plain, shuffled):
        answer(session, 16)
    assert right(shuffled) > right(plain) - 0.05


def test_items_without_texts_take_no_names(make, kit):
    items = read_items({"x": kit.X[:, 0], "y": kit.X[:, 1]})
    assert make(X=items, cluster_names=["a b", "c d", "e f"]).result().basis == "nothing"


def test_names_beside_numbers_and_dates(make):
    n = len(MESSAGES.texts)
    columns = {
        "message": MESSAGES.texts,
        "price": np.arange(n) % 7 * 1.5,
        "day": [f"2024-01-{1 + row % 28:02d}" for row in range(n)],
        "kind": [f"k{row % 3}" for row in range(n)],
        "open": [row % 2 == 0 for row in range(n)],
    }
    items = read_items(columns, text="message", features=list(columns))
    session = make(X=items, cluster_names=NAMES, n_clusters=4, ask="group")
    assert session.result().basis == "names"
    assert right(session) > 0.35


def test_names_of_sub_groups_are_examples_at_each_level(talk):
    session = talk(["parcel and courier", "money"], n_clusters=2)
    before = session.result().memberships
    session.groups.refine("money", ["invoice and card", "refund and exchange"])
    result = session.result()
    assert result.basis == "names"
    strongest = np.array(result.group_names)[result.memberships.argmax(axis=1)]
    returns, payment = strongest[TOPICS == "returns"], strongest[TOPICS == "payment"]
    assert np.mean(returns == "refund and exchange") > 0.5
    assert np.mean(payment == "invoice and card") > 0.5
    session.groups.flatten("money")  # as if there had been no sub-groups
    np.testing.assert_allclose(session.result().memberships, before)


def test_the_name_of_a_merged_sub_group_stays_an_example_until_it_is_flattened(talk):
    names = ["first", "second", "third", "fourth"]
    one, other = talk(names, path="one.db"), talk(names, path="other.db")
    one.groups.refine("first", NAMES)
    one.groups.merge(NAMES[0], NAMES[1])
    other.groups.refine("first", NAMES[:1] + NAMES[2:])
    assert not np.allclose(one.result().memberships, other.result().memberships)
    for session in (one, other):
        session.groups.flatten("first")
    assert_array_equal(one.result().memberships, other.result().memberships)
