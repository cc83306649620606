"""Each sentence is tested on the runs it speaks of: turn them round and the verdict turns."""

import json
from dataclasses import replace

import pytest

from experiments import paper_claims
from experiments.claims import FAILS, HOLDS, SEQUENTIAL, TWO_PHASE, Book
from experiments.paper_claims import all_claims
from experiments.reproduce import all_cells
from experiments.runs import Series

pytestmark = pytest.mark.soak  # these share one small run of all experiments


@pytest.fixture
def results(finished, tiny):
    folder = finished / "cells"
    return {
        cell.name: [
            Series(**series)
            for series in json.loads((folder / f"{cell.name}.json").read_text())["series"]
        ]
        for cell in all_cells(tiny, 7)
    }


def changed(results, prefix, curve, values):
    """The results with other values on one curve: `values` makes them from x."""
    return {
        name: [
            replace(one, values=[values(one.x) * (1 + 0.01 * i) for i in range(len(one.values))])
            if one.curve == curve and name.startswith(prefix) else one
            for one in found
        ]
        for name, found in results.items()
    }  # fmt: skip


def verdicts(results, sentence):
    found = [c.verdict for c in all_claims(Book(results)) if sentence in c.claim]
    assert found, sentence
    return set(found)


def test_sequential_better_at_small_beta(results):
    results = changed(results, "figure_1-a", TWO_PHASE, lambda _: 10.0)
    better = changed(results, "figure_1-a", SEQUENTIAL, lambda zeta: 5.0 if zeta > 9 else 10.0)
    worse = changed(results, "figure_1-a", SEQUENTIAL, lambda zeta: 20.0 if zeta > 9 else 10.0)
    for sentence in ("For small beta", "more graceful dependency"):
        assert verdicts(better, sentence) == {HOLDS}
        assert verdicts(worse, sentence) == {FAILS}
    assert verdicts(better, "For larger beta") == {HOLDS}
    half = changed(results, "figure_1-a", SEQUENTIAL, lambda _: 20.0)
    assert verdicts(half, "For larger beta") == {FAILS}


def test_errors_fall_with_questions(results):
    for curve in (TWO_PHASE, SEQUENTIAL):
        results = changed(results, "figure_1-b", curve, lambda nu: 1 / nu)
    assert verdicts(results, "falls with the number") == {HOLDS}
    for curve in (TWO_PHASE, SEQUENTIAL):
        results = changed(results, "figure_1-b", curve, lambda nu: nu)
    assert verdicts(results, "falls with the number") == {FAILS}


def test_many_clusters_and_few(results):
    results = changed(results, "figure_1-c", TWO_PHASE, lambda _: 10.0)
    said = changed(results, "figure_1-c", SEQUENTIAL, lambda k: 5.0 if k < 5 else 20.0)
    reverse = changed(results, "figure_1-c", SEQUENTIAL, lambda k: 20.0 if k < 5 else 5.0)
    for sentence in ("as k increases", "for small k"):
        assert verdicts(said, sentence) == {HOLDS}
        assert verdicts(reverse, sentence) == {FAILS}


def test_accuracy_grows_and_is_comparable(results):
    curves = (TWO_PHASE, SEQUENTIAL, "two clusters, faithful")
    rising, falling = results, results
    for curve in curves:
        rising = changed(rising, "figure_2", curve, lambda nu: 0.5 + nu / 1000)
        falling = changed(falling, "figure_2", curve, lambda nu: 0.5 - nu / 1000)
    assert HOLDS in verdicts(rising, "accuracy increases as a function")
    assert verdicts(falling, "accuracy increases as a function") == {FAILS}
    assert verdicts(rising, "are comparable.") >= {HOLDS}
    apart = changed(rising, "figure_2", SEQUENTIAL, lambda _: 0.9)
    assert FAILS in verdicts(apart, "The performance of all")


def test_the_papers_baseline_does_not_hold_when_clusters_are_matched(results):
    assert verdicts(results, "gets an accuracy of only") == {FAILS}
    assert verdicts(results, "numbers taken for classes") == {HOLDS}


def test_drastically_is_ten_points(results):
    assert verdicts(results, "drastically") == {FAILS}
    better = changed(results, "figure_2", TWO_PHASE, lambda _: 0.999)
    assert HOLDS in verdicts(better, "drastically")


def test_alpha_makes_no_difference_where_it_cannot(results):
    found = [c for c in all_claims(Book(results)) if "A hard approach" in c.claim]
    labels = [c for c in found if "knows the classes" in c.where]
    assert len(labels) == 2
    assert all(c.estimate == 0.0 and c.verdict == FAILS for c in labels)


def test_the_data_sets_are_as_described(results, monkeypatch):
    assert verdicts(results, "elements") == {HOLDS}
    monkeypatch.setitem(paper_claims.SHAPES, "Iris", (150, 5, 3))
    assert verdicts(results, "The Iris dataset") == {FAILS}


def test_both_figures_are_asked_whether_they_cost_the_same(results):
    cost = [c for c in all_claims(Book(results)) if "the same query complexity" in c.claim]
    assert {c.where[:8] for c in cost} == {"figure 1", "figure 2"}
    assert {c.verdict for c in cost if "figure 1" in c.where} == {FAILS}


@pytest.mark.parametrize(("panel", "sentence"), [(0, "memberships are"), (1, "and centres within")])
def test_theorem_10_is_about_every_run_not_their_mean(results, panel, sentence):
    def runs(values):
        changed = dict(results)
        for name in [name for name in results if name.endswith("-solver")]:
            found = list(results[name])
            found[panel] = replace(found[panel], values=values)
            changed[name] = found
        return changed

    promise = (0.2, 1.0)[panel]
    kept, broken = 0.5 * promise, 1.5 * promise
    assert verdicts(runs([kept] * 50), sentence) == {HOLDS}
    assert verdicts(runs([kept] * 40 + [broken] * 10), sentence) == {FAILS}  # the mean is within


def test_similarities_must_reach_the_error_of_memberships(results):
    level = changed(results, "similarity", "membership", lambda _: 0.05)
    near = changed(level, "similarity", "similarity", lambda _: 0.052)
    assert verdicts(near, "simulated by similarity") == {HOLDS}
    far = changed(level, "similarity", "similarity", lambda _: 0.1)
    assert verdicts(far, "simulated by similarity") == {FAILS}


def test_asking_must_help_where_the_target_cannot_be_known(results):
    level = changed(results, "hidden", "no questions", lambda _: 0.1)
    for error, verdict in ((0.05, HOLDS), (0.2, FAILS)):
        asked = changed(level, "hidden", "two-phase", lambda _, error=error: error)
        assert verdicts(asked, "A few queries help") == {verdict}
