"""People's scales: what is corrected, and above all what is left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from askmeans.policy.annotators import drift_notes
from askmeans.policy.evidence import evidence_of
from askmeans.queries import Answers, GroupQueries, MembershipQueries
from askmeans.queries.answers import AnswerBatch


def entries(table, items, clusters):
    """Answers to single entries of a table."""
    return Answers([(1, MembershipQueries(items, clusters), table[items, clusters])])


def rows_by(*people):
    """Answers to group questions: (name, items, rows) each."""
    return Answers(
        [
            AnswerBatch(
                round=0,
                queries=GroupQueries(np.asarray(items), rows.shape[1]),
                values=rows,
                annotators=(name,) * len(rows),
            )
            for name, items, rows in people
        ]
    )


def told(rows):
    return evidence_of(rows_by(("me", np.arange(len(rows)), rows)), rows.shape[1])


def nearly_hard(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.1), size=n)


@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 40),
    k=st.integers(2, 7),
    softness=st.sampled_from([0.05, 0.3, 1.0, 30.0]),
    silent=st.sampled_from([0.0, 0.2]),
    nowhere=st.sampled_from([0.0, 0.4]),
)
def test_rows_that_sum_to_one_or_nothing_stay_as_they_are(seed, n, k, softness, silent, nowhere):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(k, softness), size=n)
    if k == 2:  # two clusters: see below
        rows[0] = [1.0, 0.0]
    rows[rng.random(n) < nowhere] = 0.0
    rows[rng.random(n) < silent] = np.nan
    found = told(rows)
    assert_array_equal(found.values, rows)
    assert (found.annotators["me"].scale.offset, found.annotators["me"].scale.gain) == (0.0, 1.0)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_an_offset_that_is_cut_off_at_one_is_found_and_taken_away(k):
    rows = nearly_hard(60, k)
    found = told(np.minimum(rows + 0.2, 1.0))
    assert found.annotators["me"].scale.offset == pytest.approx(0.2, abs=0.01)
    assert_allclose(found.values, rows, atol=0.03)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_compressed_scale_is_stretched(k):
    rows = nearly_hard(60, k)
    found = told(0.25 + 0.5 * rows)
    assert found.annotators["me"].scale.gain == pytest.approx(0.5, abs=0.02)
    assert_allclose(found.values, rows, atol=0.03)


@pytest.mark.parametrize("k", [3, 5])
def test_a_compressed_scale_is_found_in_noisy_answers(k):
    rows = nearly_hard(60, k)
    noise = np.random.default_rng(1).normal(0.0, 0.03, size=rows.shape)
    found = told(0.2 + 0.6 * rows + noise)
    scale = found.annotators["me"].scale
    assert abs(scale.gain - 0.6) < 0.1
    assert abs(scale.offset - 0.2) < 0.03


def test_rows_that_all_lack_the_same_are_scaled_but_a_single_one_is_in_none_of_the_clusters():
    rows = nearly_hard(40, 3)
    assert told(0.6 * rows).annotators["me"].scale.gain == pytest.approx(0.6, abs=0.01)
    rows[7] *= 0.3
    assert_array_equal(told(rows).values, rows)


@pytest.mark.parametrize("k", [3, 6])
def test_soft_label_distributions_are_shifted_but_never_stretched(k):
    rows = np.random.default_rng(1).dirichlet(np.full(k, 40.0), size=80)
    assert_array_equal(told(rows).values, rows)
    assert_allclose(told(rows + 0.2).values, rows, atol=1e-9)


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize(("offset", "gain"), [(0.25, 0.5), (0.1, 0.8)])
def test_answers_that_avoid_both_ends_are_stretched_where_none_pile_up_there(k, offset, gain):
    rows = np.random.default_rng(0).dirichlet(np.ones(k), size=60)
    found = told(offset + gain * rows)
    assert found.annotators["me"].scale.gain == pytest.approx(gain, abs=0.01)
    assert_allclose(found.values, rows, atol=0.01)


@pytest.mark.parametrize("k", [3, 4, 6])
def test_soft_answers_that_are_all_raised_are_not_stretched(k):
    rows = np.random.default_rng(0).dirichlet(np.full(k, 3.0), size=60)
    found = told(rows + 0.1)
    assert found.annotators["me"].scale.gain == 1.0
    assert_allclose(found.values, rows, atol=1e-9)


def test_the_stretch_of_rounded_answers_stays_near_what_was_meant():
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=60)
    found = told(np.round(0.1 + 0.8 * rows, 1))
    assert np.abs(found.values - rows).mean() < 0.04


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("power", [0.5, 1.5])
def test_answers_that_are_powers_of_memberships_are_undone(k, power):
    rows = np.random.default_rng(0).dirichlet(np.full(k, 0.5), size=40)
    found = told(rows**power)
    assert found.annotators["me"].to_dict()["power"] == pytest.approx(power, abs=0.01)
    assert_allclose(found.values, rows, atol=0.01)


def test_repeated_answers_on_a_bent_scale_keep_their_differences():
    rows = np.random.default_rng(0).dirichlet(np.full(3, 1.0), size=40)
    queries = GroupQueries(np.arange(40), 3)
    again = GroupQueries(np.array([0]), 3, repeat=1)
    other = np.array([[0.5, 0.3, 0.2]])
    found = evidence_of(Answers([(1, queries, np.sqrt(rows)), (2, again, np.sqrt(other))]), 3)
    assert_allclose(found.value[-3:] - found.value[:3], (other - rows[:1])[0], atol=0.01)


def two_clusters(first):
    """Answers about the first of two clusters, and three whole rows."""
    table = np.column_stack([first, 1.0 - first])
    items = np.append(np.arange(len(first)), [0, 1, 2])
    clusters = np.append(np.zeros(len(first), dtype=int), [1, 1, 1])
    return evidence_of(
        Answers([(1, MembershipQueries(items, clusters), table[items, clusters])]), 2
    )


def test_two_clusters_single_answers_near_zero_are_ends_of_the_scale():
    first = np.append(np.linspace(0.11, 0.89, 60), np.full(20, 0.04))
    first = np.random.default_rng(0).permutation(first)
    assert two_clusters(first).annotators["me"].scale.gain == 1.0


def test_two_clusters_the_ends_of_a_scale_are_those_of_the_items_asked_about_early():
    rng = np.random.default_rng(0)
    early, late = rng.beta(0.8, 0.8, size=40), rng.normal(0.5, 0.05, size=60)
    found = two_clusters(0.25 + 0.5 * np.append(early, late))
    assert found.annotators["me"].scale.gain == pytest.approx(0.5, abs=0.03)


def test_two_clusters_a_bell_of_soft_answers_is_believed():
    for seed in range(5):
        first = np.random.default_rng(seed).beta(6.0, 6.0, size=100)
        rows = np.column_stack([first, 1.0 - first])
        assert_array_equal(told(rows).values, rows)


def test_a_drift_is_corrected_and_told():
    rows = np.random.default_rng(2).dirichlet(np.ones(3), size=80)
    moved = np.minimum(rows + np.linspace(0.0, 0.3, 80)[:, None], 1.0)
    found = told(moved)
    assert found.annotators["me"].drifted == pytest.approx(0.3, abs=0.01)
    assert_allclose(found.values, rows, atol=0.02)
    (note,) = drift_notes(found.annotators)
    assert "'me' drifted by +0.30" in note
    assert drift_notes(told(rows).annotators) == []


def test_noise_without_a_lean_is_no_scale():
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.full(4, 5.0), size=60)
    noisy = rows + 0.05 * rng.normal(size=rows.shape)
    assert_array_equal(told(noisy).values, noisy)


def test_entries_asked_one_by_one_are_calibrated_by_the_rows_that_are_whole():
    rows = np.random.default_rng(4).beta(0.8, 0.8, size=40)
    table = np.column_stack([rows, 1.0 - rows])
    items = np.concatenate([np.arange(40), np.arange(4)])
    clusters = np.concatenate([np.zeros(40, dtype=int), np.ones(4, dtype=int)])
    halved = 0.25 + 0.5 * table[items, clusters]
    found = evidence_of(Answers([(1, MembershipQueries(items, clusters), halved)]), 2)
    assert found.annotators["me"].scale.gain == pytest.approx(0.5, abs=0.02)
    shifted = np.minimum(table[items, clusters] + 0.2, 1.0)
    found = evidence_of(Answers([(1, MembershipQueries(items, clusters), shifted)]), 2)
    assert found.annotators["me"].scale.offset == pytest.approx(0.2)
    assert len(found.cut_off)
    assert found.to_complete[found.cut_off].any()


def test_whole_rows_are_wanted_unless_answers_reach_both_ends():
    soft = np.linspace(0.3, 0.6, 30)
    queries = MembershipQueries(np.arange(30), np.zeros(30, dtype=int))
    assert evidence_of(Answers([(1, queries, soft)]), 2).to_complete.sum() == 3
    few = MembershipQueries(np.arange(10), np.zeros(10, dtype=int))  # a tenth of these at most
    assert evidence_of(Answers([(1, few, soft[:10])]), 2).to_complete.sum() == 1
    hard = (soft > 0.4).astype(float)
    assert not evidence_of(Answers([(1, queries, hard)]), 2).to_complete.any()


@pytest.mark.parametrize(
    ("answers", "more"),
    [
        (lambda rows: rows, 0),
        (lambda rows: np.round(rows, 1), 2),  # a person's tenths may sum to one by chance
        (lambda rows: np.full_like(rows, 1.0 / 3.0), 2),  # on four points they often do
        (lambda rows: np.repeat([[0.375, 0.375, 0.25]], len(rows), axis=0), 2),
        (lambda rows: 0.1 + rows, 2),
        (lambda rows: rows**2, 2),
    ],
    ids=["a program", "a person", "four points", "nine points", "an offset", "a crooked scale"],
)
def test_one_whole_row_is_enough_where_a_program_answers(answers, more):
    first = np.linspace(0.3137, 0.6, 40)
    table = answers(np.column_stack([first, 0.6 * (1.0 - first), 0.4 * (1.0 - first)]))
    items = np.append(np.arange(40), [0, 0])
    clusters = np.append(np.zeros(40, dtype=int), [1, 2])
    told = evidence_of(
        Answers([(1, MembershipQueries(items, clusters), table[items, clusters])]), 3
    )
    assert told.to_complete.sum() == more


def test_a_row_of_which_an_entry_was_not_told_does_not_show_a_program():
    first = np.linspace(0.3137, 0.6, 40)
    items = np.append(np.arange(40), [0, 0])
    clusters = np.append(np.zeros(40, dtype=int), [1, 2])
    answers = np.append(first, [0.2411, np.nan])
    assert not evidence_of(Answers([(1, MembershipQueries(items, clusters), answers)]), 3).is_exact


def test_a_program_whose_scale_has_an_offset_is_none_whose_rows_are_exact():
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=10)
    told = evidence_of(
        Answers([(1, GroupQueries(np.arange(10), 3), np.minimum(rows + 0.1, 1.0))]), 3
    )
    assert told.annotators["me"].scale.offset == pytest.approx(0.1, abs=0.02)
    assert not told.is_exact
    assert evidence_of(Answers([(1, GroupQueries(np.arange(10), 3), rows)]), 3).is_exact


@pytest.mark.parametrize(("n_whole", "more"), [(1, 2), (3, 0)])
def test_two_clusters_sum_to_one_on_a_compressed_scale_too(n_whole, more):
    first = np.random.default_rng(0).normal(0.5, 0.12, size=60)
    items = np.append(np.arange(60), np.arange(n_whole))
    clusters = np.append(np.zeros(60, dtype=int), np.ones(n_whole, dtype=int))
    table = np.column_stack([first, 1.0 - first])
    told = evidence_of(
        Answers([(1, MembershipQueries(items, clusters), table[items, clusters])]), 2
    )
    assert told.to_complete.sum() == more


def strongest_entries(table):
    """Answers to the two strongest entries of each row, and to two in the middle of some."""
    order = np.argsort(-table, axis=1)
    columns = np.hstack([order[:, :2], order[:, 4:6]])[:, [0, 2, 1, 3]]
    items = np.concatenate([np.repeat(np.arange(len(table)), 2), np.repeat(np.arange(6), 2)])
    clusters = np.concatenate([columns[:, :2].ravel(), columns[:6, 2:].ravel()])
    return evidence_of(entries(table, items, clusters), table.shape[1])


@pytest.mark.parametrize(("offset", "gain"), [(0.25, 0.5), (0.1, 0.8), (0.2, 1.0)])
def test_many_clusters_show_a_scale_before_any_row_is_complete(offset, gain):
    rows = nearly_hard(20, 10)
    scale = strongest_entries(np.minimum(offset + gain * rows, 1.0)).annotators["me"].scale
    assert (scale.offset, scale.gain) == pytest.approx((offset, gain), abs=0.01)


@pytest.mark.parametrize("softness", [0.1, 1.0, 40.0])
def test_soft_rows_of_many_clusters_are_left_alone_before_any_is_complete(softness):
    for seed in range(5):
        rows = np.random.default_rng(seed).dirichlet(np.full(10, softness), size=20)
        assert strongest_entries(rows).annotators["me"].scale.gain == 1.0
        assert strongest_entries(rows).annotators["me"].scale.offset == 0.0


def crowd(seed=5, n=80, k=4):
    """A careful, a crooked and two careless people on the same items, with the truth."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(k, 0.15), size=n)
    careless = [np.where(rng.random((n, 1)) < 0.4, rng.dirichlet(np.ones(k), size=n), rows)
                for _ in range(2)]  # fmt: skip
    return rows, {"Ada": rows, "Bob": 0.1 + 0.5 * rows, "Cy": careless[0], "Di": careless[1]}


def test_whoever_others_bear_out_counts_more_and_slips_are_counted():
    rows, said = crowd()
    items = np.arange(len(rows))
    found = evidence_of(rows_by(*((name, items, told) for name, told in said.items())), 4)
    assert found.annotators["Bob"].scale.gain == pytest.approx(0.5, abs=0.02)
    slips = {name: one.slips for name, one in found.annotators.items()}
    assert max(slips["Ada"], slips["Bob"]) < min(slips["Cy"], slips["Di"])
    spread = {name: one.spread for name, one in found.annotators.items()}
    assert max(spread["Ada"], spread["Bob"]) < min(spread["Cy"], spread["Di"])
    plain = np.mean([said["Ada"], said["Ada"], said["Cy"], said["Di"]], axis=0)
    assert np.abs(found.values - rows).mean() < 0.8 * np.abs(plain - rows).mean()


def test_permuting_annotators_permutes_the_records_and_nothing_else():
    rows, said = crowd()
    items = np.arange(len(rows))
    here = evidence_of(rows_by(*((name, items, said[name]) for name in said)), 4)
    there = evidence_of(rows_by(*((name, items, said[name]) for name in reversed(said))), 4)
    assert list(there.annotators) == list(reversed(here.annotators))
    for name, one in here.annotators.items():
        assert there.annotators[name].to_dict() == pytest.approx(one.to_dict())
    assert_allclose(there.values, here.values, atol=1e-9)


def test_averages_of_people_who_hedge_are_sharpened_and_of_exact_people_not():
    rng = np.random.default_rng(6)
    rows = rng.dirichlet(np.full(5, 0.2), size=150)
    exact = evidence_of(rows_by(*((name, np.arange(150), rows) for name in "abc")), 5)
    assert_allclose(exact.values, rows, atol=1e-12)

    def hedge(seed):
        picked = np.random.default_rng(seed)
        votes = np.array([picked.multinomial(4, row) for row in rows]) / 4.0
        return 0.7 * votes + 0.3 * picked.dirichlet(np.full(5, 0.5), size=150)

    said = [hedge(seed) for seed in range(3)]
    found = evidence_of(rows_by(*zip("abc", [np.arange(150)] * 3, said, strict=True)), 5)
    mean = np.mean(said, axis=0)
    assert np.abs(found.values - rows).mean() < 0.9 * np.abs(mean - rows).mean()


def test_numbers_by_many_are_no_worse_than_their_mean():
    rng = np.random.default_rng(7)
    truth = rng.uniform(0.2, 0.8, size=60)
    spread = np.array([0.02, 0.05, 0.05, 0.1, 0.3])
    values = truth + spread[:, None] * rng.normal(size=(5, 60))
    queries = MembershipQueries(np.tile(np.arange(60), 5), np.zeros(300, dtype=int))
    names = tuple(np.repeat(list("vwxyz"), 60).tolist())
    answers = [AnswerBatch(round=0, queries=queries, values=values.ravel(), annotators=names)]
    found = evidence_of(Answers(answers), 2)
    error = np.abs(found.values[:, 0] - truth).mean()
    assert error < 0.8 * np.abs(values.mean(axis=0) - truth).mean()
