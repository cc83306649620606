"""Batches of questions, the history of answers, and the ledger between driver and plan."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from askmeans.exceptions import AnswerError, QueryError
from askmeans.queries import (
    Answer,
    Answers,
    Ledger,
    MembershipQueries,
    PairQueries,
    TripletQueries,
)


def make(kind, table, repeat=0):
    """A batch from its rows of numbers; a membership's row is item and cluster."""
    table = np.asarray(table, dtype=int)
    if kind == "membership":
        table = table.reshape(-1, 2)
        return MembershipQueries(table[:, 0], table[:, 1], repeat=repeat)
    return {"pair": PairQueries, "triplet": TripletQueries}[kind](table, repeat=repeat)


def keys(queries):
    """What identifies each question, by the definition and not by the code under test."""
    if queries.kind == "membership":
        rows = zip(queries.items.tolist(), queries.clusters.tolist(), strict=True)
    else:
        rows = (tuple(sorted(row)) for row in queries.item_table.tolist())
    repeats = queries.repeat.tolist()
    return [(queries.kind, row, repeat) for row, repeat in zip(rows, repeats, strict=True)]


def different(n):
    """Draws rows of n different items."""
    return st.lists(st.integers(0, 4), min_size=n, max_size=n, unique=True)


@st.composite
def batches(draw):
    """A batch of any kind; few items, so that questions come again."""
    kind = draw(st.sampled_from(["membership", "pair", "triplet"]))
    row = {
        "membership": st.tuples(st.integers(0, 4), st.integers(0, 2)),
        "pair": different(2),
        "triplet": different(3),
    }[kind]
    rows = draw(st.lists(row, max_size=12))
    repeat = draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    return make(kind, rows, repeat)


# Batches


def test_a_batch_gives_back_what_was_put_in():
    membership = MembershipQueries([4, 0], [1, 2], repeat=[0, 3])
    assert membership.kind == "membership"
    assert membership.items.tolist() == [4, 0]
    assert membership.clusters.tolist() == [1, 2]
    assert membership.item_table.tolist() == [[4], [0]]
    assert membership.repeat.tolist() == [0, 3]
    pairs = PairQueries([[5, 0], [1, 2], [3, 4]], repeat=2)
    assert pairs.kind == "pair"
    assert pairs.pairs.tolist() == pairs.item_table.tolist() == [[5, 0], [1, 2], [3, 4]]
    assert pairs.repeat.tolist() == [2, 2, 2]
    triplets = TripletQueries([[2, 0, 1]])
    assert triplets.kind == "triplet"
    assert triplets.triplets.tolist() == triplets.item_table.tolist() == [[2, 0, 1]]
    assert triplets.repeat.tolist() == [0]
    assert [len(batch) for batch in (membership, pairs, triplets)] == [2, 3, 1]
    assert repr(pairs) == "<PairQueries: 3 questions>"


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_integers_of_every_width_and_layout_are_the_same_questions(dtype):
    plain = PairQueries([[1, 2], [3, 0]])
    other = PairQueries(np.asfortranarray([[1, 2], [3, 0]], dtype=dtype))
    assert other.pairs.dtype == np.int64
    assert other.identities() == plain.identities()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MembershipQueries([0, 1], [0]), r"same length. Got shapes \(2,\) and \(1,\)"),
        (lambda: MembershipQueries([[0]], [[0]]), r"two lists .* Got shapes \(1, 1\)"),
        (lambda: MembershipQueries(0, 0), "two lists"),
        (lambda: MembershipQueries([-1], [0]), "numbered from 0. Got -1"),
        (lambda: MembershipQueries([0], [-2]), "numbered from 0. Got -2"),
        (lambda: MembershipQueries([0.0], [0]), "items must be integers. Got float64"),
        (lambda: MembershipQueries([0], [True]), "clusters must be integers. Got bool"),
        (lambda: MembershipQueries(["a"], [0]), "items must be integers"),
        (lambda: MembershipQueries([0], [0], repeat=-1), "repeat must be 0 or more. Got -1"),
        (lambda: MembershipQueries([0], [0], repeat=0.5), "repeat must be integers"),
        (lambda: MembershipQueries([0, 1], [0, 0], repeat=[1]), "each of the 2 questions"),
        (lambda: MembershipQueries([0, 1], [0, 0], repeat=[1, 2, 3]), r"Got shape \(3,\)"),
        (lambda: MembershipQueries([0], [0], repeat=[[1]]), r"Got shape \(1, 1\)"),
        (lambda: PairQueries([0, 1]), r"shape \(n_questions, 2\). Got shape \(2,\)"),
        (lambda: PairQueries([[0, 1, 2]]), r"shape \(n_questions, 2\). Got shape \(1, 3\)"),
        (lambda: PairQueries([[0, 1], [2]]), "pairs must be integers in rows of equal length"),
        (lambda: PairQueries([[0, 1], [4, 4]]), r"pair .* 2 different items. Got \[4, 4\]"),
        (lambda: PairQueries([[0, -1]]), "numbered from 0. Got -1"),
        (lambda: PairQueries([[0.5, 1.0]]), "pairs must be integers"),
        (lambda: TripletQueries([[0, 1]]), r"shape \(n_questions, 3\). Got shape \(1, 2\)"),
        (lambda: TripletQueries([[5, 1, 5]]), r"triplet .* 3 different items. Got \[5, 1, 5\]"),
        (lambda: TripletQueries([[5, 5, 1]]), "3 different items"),
        (lambda: TripletQueries([[1, 5, 5]]), "3 different items"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_the_rule(call, message):
    with pytest.raises(QueryError, match=message):
        call()


def test_an_item_may_be_asked_about_the_cluster_of_its_own_number():
    assert len(MembershipQueries([1], [1])) == 1


@pytest.mark.parametrize(
    "batch",
    [MembershipQueries([0, 7], [9, 0]), PairQueries([[7, 1]]), TripletQueries([[0, 7, 1]])],
    ids=lambda batch: batch.kind,
)
def test_items_that_do_not_exist_are_refused_and_clusters_are_not_mistaken_for_items(batch):
    batch.check_items(8)
    with pytest.raises(QueryError, match=r"items 0 to 6. Got item 7"):
        batch.check_items(7)
    batch.take(slice(0)).check_items(1)


@pytest.mark.parametrize("kind", ["membership", "pair", "triplet"])
def test_a_batch_may_be_empty(kind):
    batch = make(kind, [])
    assert len(batch) == 0
    assert batch.identities() == []
    assert batch.item_table.shape == (0, batch.width)


@pytest.mark.parametrize(
    ("batch", "names"),
    [
        (MembershipQueries([0, 1], [1, 0]), ("items", "clusters", "item_table", "repeat")),
        (PairQueries([[0, 1]]), ("pairs", "item_table", "repeat")),
        (TripletQueries([[0, 1, 2]]), ("triplets", "item_table", "repeat")),
    ],
    ids=["membership", "pair", "triplet"],
)
def test_a_batch_can_not_be_changed(batch, names):
    for part in (batch, batch.take(np.array([0])), batch.take(slice(1))):
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(part, name)[0] = 9
            with pytest.raises(AttributeError):
                setattr(part, name, np.array([9]))
        with pytest.raises(AttributeError):
            part.note = "a batch has no room for more"


def test_the_callers_arrays_stay_writable_and_do_not_reach_into_the_batch():
    pairs, repeat = np.array([[0, 1], [2, 3]]), np.array([0, 1])
    batch = PairQueries(pairs, repeat=repeat)
    pairs[0], repeat[0] = [8, 9], 5
    assert batch.pairs.tolist() == [[0, 1], [2, 3]]
    assert batch.repeat.tolist() == [0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        np.array([3, 0, 0]),
        np.array([True, False, True, False]),
        slice(1, 3),
        slice(None, None, 2),
        slice(None, None, -1),
        np.array([], dtype=int),
    ],
    ids=["numbers", "mask", "slice", "steps", "backwards", "none"],
)
@pytest.mark.parametrize("kind", ["membership", "pair", "triplet"])
def test_take_gives_the_rows_in_the_order_asked_for(kind, rows):
    table = {"membership": [[0, 9], [1, 8], [2, 7], [3, 6]],
             "pair": [[0, 9], [8, 1], [2, 7], [6, 3]],
             "triplet": [[0, 9, 4], [8, 1, 4], [2, 7, 4], [6, 3, 4]]}[kind]  # fmt: skip
    batch = make(kind, table, repeat=[0, 1, 2, 3])
    numbers = np.arange(4)[rows]
    part = batch.take(rows)
    assert type(part) is type(batch)
    assert keys(part) == [keys(batch)[i] for i in numbers]
    assert part.item_table.tolist() == batch.item_table[numbers].tolist()
    assert part.identities() == [batch.identities()[i] for i in numbers]
    assert len(batch) == 4


# Identities


@pytest.mark.parametrize("n", [2, 3])
def test_pairs_and_triplets_are_the_same_question_in_any_order(n):
    rows = list(itertools.permutations([7, 1, 300][:n]))
    batch = make({2: "pair", 3: "triplet"}[n], rows)
    assert len(set(batch.identities())) == 1
    assert batch.item_table.tolist() == [list(row) for row in rows]  # asked as the plan says it


def test_a_membership_of_item_1_in_cluster_2_is_not_that_of_item_2_in_cluster_1():
    assert len(set(MembershipQueries([1, 2], [2, 1]).identities())) == 2


def test_a_repeat_is_a_new_question_and_never_mistaken_for_an_item():
    assert len(set(MembershipQueries([0, 0, 0], [1, 1, 1], repeat=[0, 1, 1]).identities())) == 2
    assert len(set(PairQueries([[0, 1], [0, 2]], repeat=[2, 1]).identities())) == 2


@given(st.lists(batches(), max_size=4))
def test_identities_are_equal_exactly_when_the_questions_are(several):
    found, expected = [], []
    for batch in several:
        found += [(batch.kind, identity) for identity in batch.identities()]
        expected += keys(batch)
    pairing = set(zip(found, expected, strict=True))
    assert len(pairing) == len(set(found)) == len(set(expected))


# Answers


@pytest.fixture
def history():
    return Answers(
        [
            (1, MembershipQueries([4, 2], [0, 1]), np.array([0.5, 0.25])),
            (2, PairQueries(np.empty((0, 2))), np.array([])),
            (2, PairQueries([[9, 3]], repeat=1), np.array([0.75])),
            (5, TripletQueries([[2, 0, 1], [0, 1, 3]]), np.array([1.0, 0.0])),
        ]
    )


RECORDS = [
    Answer(round=1, kind="membership", items=(4,), cluster=0, repeat=0, value=0.5),
    Answer(round=1, kind="membership", items=(2,), cluster=1, repeat=0, value=0.25),
    Answer(round=2, kind="pair", items=(9, 3), cluster=None, repeat=1, value=0.75),
    Answer(round=5, kind="triplet", items=(2, 0, 1), cluster=None, repeat=0, value=1.0),
    Answer(round=5, kind="triplet", items=(0, 1, 3), cluster=None, repeat=0, value=0.0),
]


def test_a_history_is_a_sequence_of_records_in_the_order_given(history):
    assert len(history) == 5
    assert list(history) == RECORDS
    assert [history[i] for i in range(5)] == RECORDS
    assert [history[i] for i in range(-5, 0)] == RECORDS
    assert history[np.int64(2)] == RECORDS[2]
    assert list(reversed(history)) == RECORDS[::-1]
    assert history.index(RECORDS[3]) == 3
    assert RECORDS[4] in history


@given(st.slices(7))
def test_a_slice_of_a_history_is_a_list_of_its_records(part):
    batch = MembershipQueries(range(4), [0] * 4), np.arange(4) / 4
    more = PairQueries([[0, 1], [1, 2], [2, 3]]), np.arange(3) / 8
    records = Answers([(1, *batch), (2, *more)])
    assert records[part] == list(records)[part]


@pytest.mark.parametrize("index", [5, -6, 100])
def test_a_record_beyond_the_history_is_an_index_error(history, index):
    with pytest.raises(IndexError):
        history[index]


def test_a_record_holds_plain_python_values_and_can_not_be_changed(history):
    for record in (history[1], next(iter(history))):
        assert type(record.items[0]) is int
        assert type(record.cluster) is int
        assert type(record.repeat) is int
        assert type(record.value) is float
        with pytest.raises(AttributeError):
            record.value = 1.0


def test_an_empty_history_has_no_records():
    assert len(Answers()) == 0
    assert list(Answers()) == Answers()[:] == []


def test_a_history_says_how_long_it_is(history):
    assert repr(history) == "<Answers: 5 answers in 4 batches>"


# Ledger


def test_a_new_ledger_knows_nothing():
    ledger = Ledger()
    assert (ledger.n_distinct, ledger.n_raw, ledger.n_rounds, ledger.counts) == (0, 0, 0, {})
    assert len(ledger.history) == 0
    assert np.isnan(ledger.answers(PairQueries([[0, 1]]))).all()


def test_a_batchs_repetitions_are_asked_once_first_come_first():
    queries = PairQueries([[3, 1], [0, 2], [1, 3], [2, 0], [4, 0], [3, 1]])
    assert Ledger().unanswered(queries).pairs.tolist() == [[3, 1], [0, 2], [4, 0]]


def test_what_was_answered_in_another_batch_is_not_asked_again():
    ledger = Ledger()
    ledger.record(MembershipQueries([1, 2], [0, 0]), [0.1, 0.2])
    later = MembershipQueries([3, 2, 1, 2], [0, 0, 1, 0])
    new = ledger.unanswered(later)
    assert new.items.tolist() == [3, 1]
    assert new.clusters.tolist() == [0, 1]
    assert_array_equal(ledger.answers(later), [np.nan, 0.2, np.nan, 0.2])
    assert len(ledger.unanswered(MembershipQueries([2, 1], [0, 0]))) == 0


def test_an_answer_about_a_pair_holds_for_either_order():
    ledger = Ledger()
    ledger.record(PairQueries([[5, 2]]), [0.5])
    assert ledger.answers(PairQueries([[2, 5], [5, 2]])).tolist() == [0.5, 0.5]
    assert ledger.history[0].items == (5, 2)  # as it was asked


def test_a_repeat_has_an_answer_of_its_own():
    ledger = Ledger()
    ledger.record(PairQueries([[0, 1]]), [0.5])
    again = PairQueries([[0, 1], [1, 0]], repeat=[0, 1])
    assert ledger.unanswered(again).repeat.tolist() == [1]
    ledger.record(PairQueries([[1, 0]], repeat=1), [0.75])
    assert ledger.answers(again).tolist() == [0.5, 0.75]
    assert ledger.n_distinct == 2


def test_different_kinds_of_question_do_not_answer_each_other():
    ledger = Ledger()
    ledger.record(MembershipQueries([0], [1]), [0.5])
    assert len(ledger.unanswered(PairQueries([[0, 1]]))) == 1


def test_asking_what_is_unanswered_or_known_counts_nothing():
    ledger = Ledger()
    queries = PairQueries([[0, 1]])
    ledger.unanswered(queries)
    ledger.answers(queries)
    assert len(ledger.unanswered(queries)) == 1
    assert ledger.n_distinct == ledger.n_raw == ledger.n_rounds == 0


def test_counts_are_of_different_questions_by_kind():
    ledger = Ledger()
    ledger.record(MembershipQueries([0, 1], [0, 0]), [0.0, 1.0])
    ledger.record(PairQueries([[0, 1]]), [0.5])
    ledger.record(MembershipQueries([0, 1], [1, 1]), [1.0, 0.0])
    assert ledger.counts == {"membership": 4, "pair": 1}
    assert ledger.n_distinct == 5
    ledger.counts["pair"] = 99
    assert ledger.n_distinct == 5


def test_cannot_say_is_remembered_as_an_answer():
    ledger = Ledger()
    queries = PairQueries([[0, 1]])
    ledger.record(queries, [np.nan])
    assert len(ledger.unanswered(queries)) == 0
    assert ledger.n_distinct == 1
    assert np.isnan(ledger.history[0].value)


@pytest.mark.parametrize("answers", [[0.5], [0.5] * 3, [[0.5, 0.5]], 0.5, []])
def test_another_number_of_answers_than_questions_changes_nothing(answers):
    ledger = Ledger()
    ledger.record(PairQueries([[0, 2]]), [1.0])
    queries = PairQueries([[0, 1], [1, 2]])
    with pytest.raises(AnswerError, match=r"each of the 2 questions. Got shape"):
        ledger.record(queries, answers)
    assert ledger.counts == {"pair": 1}
    assert len(ledger.unanswered(queries)) == 2
    assert [record.value for record in ledger.history] == [1.0]


@pytest.mark.parametrize("first", [0.25, np.nan])
def test_the_first_answer_stands_and_another_leaves_no_trace(first):
    ledger = Ledger()
    ledger.record(PairQueries([[0, 1]]), [first])
    ledger.record(PairQueries([[1, 0]]), [0.75])
    ledger.record(PairQueries([[2, 0], [1, 0], [0, 2]]), [0.5, 0.75, 1.0])
    assert_array_equal(ledger.answers(PairQueries([[0, 1], [0, 2]])), [first, 0.5])
    assert [record.items for record in ledger.history] == [(0, 1), (2, 0)]
    assert_array_equal([record.value for record in ledger.history], [first, 0.5])
    assert ledger.n_distinct == 2


def test_recording_nothing_leaves_no_trace():
    ledger = Ledger()
    ledger.record(PairQueries([]), [])
    assert ledger.counts == {}
    assert repr(ledger.history) == "<Answers: 0 answers in 0 batches>"


def test_a_history_taken_earlier_does_not_grow():
    ledger = Ledger()
    ledger.record(PairQueries([[0, 1]]), [0.5])
    before = ledger.history
    ledger.record(PairQueries([[0, 2]]), [0.5])
    assert (len(before), len(list(before)), len(ledger.history)) == (1, 1, 2)


def test_answers_changed_afterwards_by_the_caller_change_nothing():
    ledger, queries, answers = Ledger(), PairQueries([[0, 1]]), np.array([0.5])
    ledger.record(queries, answers)
    answers[0] = 0.0
    ledger.answers(queries)[0] = 0.0
    assert ledger.answers(queries)[0] == ledger.history[0].value == 0.5


def test_a_record_tells_the_round_in_which_it_was_recorded():
    ledger = Ledger()
    for round_, pair in ((1, [0, 1]), (3, [0, 2])):
        ledger.n_rounds = round_
        ledger.record(PairQueries([pair]), [0.5])
    assert [record.round for record in ledger.history] == [1, 3]


@given(st.lists(batches(), max_size=8))
def test_any_sequence_of_batches_asks_each_question_once_and_agrees_with_a_dict(several):
    ledger, model = Ledger(), {}
    for queries in several:
        new = ledger.unanswered(queries)
        assert keys(new) == list(dict.fromkeys(key for key in keys(queries) if key not in model))
        for key in keys(new):
            model[key] = np.nan if len(model) % 3 == 2 else len(model) / 1000
        ledger.record(new, [model[key] for key in keys(new)])
        assert_array_equal(ledger.answers(queries), [model[key] for key in keys(queries)])
    for queries in several:  # a replay asks nothing
        assert len(ledger.unanswered(queries)) == 0
        assert_array_equal(ledger.answers(queries), [model[key] for key in keys(queries)])
    assert ledger.n_distinct == len(model)
    assert ledger.counts == Counter(kind for kind, _, _ in model)
    assert_array_equal([record.value for record in ledger.history], list(model.values()))


@given(st.lists(batches(), max_size=6))
def test_recording_whatever_comes_keeps_the_first_answers(several):
    ledger, model, told = Ledger(), {}, itertools.count()
    for queries in several:
        values = [next(told) / 1000 for _ in keys(queries)]
        ledger.record(queries, values)
        for key, value in zip(keys(queries), values, strict=True):
            model.setdefault(key, value)
    for queries in several:
        assert_array_equal(ledger.answers(queries), [model[key] for key in keys(queries)])
    assert ledger.n_distinct == len(ledger.history) == len(model)
    assert [record.value for record in ledger.history] == list(model.values())


KINDS = {"membership": 1, "group": 1, "pair": 2, "triplet": 3}


@given(st.lists(st.sampled_from(sorted(KINDS)), max_size=8), st.integers(0, 8))
def test_a_table_that_is_extended_is_the_table_of_all(kinds, cut):
    records = [
        Answer(round=0, kind=kind, items=tuple(range(place, place + KINDS[kind])), repeat=0,
               cluster=place if kind == "membership" else None, annotator=f"ann{place % 2}",
               value=(0.25, place / 8) if kind == "group" else place / 8)
        for place, kind in enumerate(kinds)
    ]  # fmt: skip
    extended = Answers.of(records[:cut], 2).extended(records[cut:], 2)
    assert list(extended) == records
    assert len(extended.batches) == len(Answers.of(records, 2).batches)
