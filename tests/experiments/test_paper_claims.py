"""Each sentence is tested on the runs it speaks of: turn them round and the verdict turns."""

import json

import pytest

from askmeans.experiments.claims import FAILS, HOLDS, Book
from askmeans.experiments.paper_claims import SEQUENTIAL, TWO_PHASE, all_claims
from askmeans.experiments.reproduce import all_cells
from askmeans.experiments.runs import Series


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
    from dataclasses import replace

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
