"""Messages have one topic or two, in known shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.datasets import make_messages
from askmeans.exceptions import ParameterError


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
