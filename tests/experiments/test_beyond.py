"""Noise, similarities and hidden features in small."""

import numpy as np
import pytest

from experiments import beyond
from experiments.beyond import (
    hidden,
    hidden_stratified,
    noise,
    questions_averaged,
    similarity,
    theorem_10,
)
from experiments.reproduce import all_cells
from experiments.theorem_10 import repeated_solver


def mean(series):
    return np.mean(series.values)


def test_asking_again_helps_against_noise():
    once, often = (noise(sigma=0.2, times=times, runs=6, seed=0) for times in (1, 20))
    for way in (0, 1):
        assert mean(often[way]) < 0.7 * mean(once[way])
        assert np.mean(often[way].queries) > 15 * np.mean(once[way].queries)


def test_theorem_10_repeats_the_whole_solver_in_the_papers_batches(monkeypatch):
    calls = []

    def solver(make_plan, X, times, *, batches):
        calls.append((times, batches))
        return repeated_solver(make_plan, X, 2, batches=1)

    monkeypatch.setattr(beyond, "repeated_solver", solver)
    for form in ("printed", "proof", "corrected"):
        memberships, centers = theorem_10(form=form, runs=1, seed=0)
        assert memberships.x == centers.x == calls[-1][0]
    # n = 325: 8, 24 and 96 ln(n) runs in 6, 6 and 24 ln(n) batches
    assert calls == [(47, 35), (139, 35), (556, 139)]


def test_the_printed_repetitions_of_theorem_10_keep_its_promise_here():
    memberships, centers = theorem_10(form="printed", runs=2, seed=0)
    assert memberships.x == 47  # 8 sigma^2 ln(n) / kappa^2 with n = 325
    assert max(memberships.values) <= 0.2
    assert max(centers.values) <= 1.0
    (averaged,) = questions_averaged(form="printed", runs=2, seed=0)
    assert max(averaged.values) <= 0.2
    assert np.mean(memberships.queries) > 46 * 250  # every run asks all its questions anew


def test_similarities_reach_the_error_of_memberships_for_more_questions():
    found = {s.curve: s for s in similarity(data="Iris", size=50, runs=3, seed=0)}
    assert mean(found["similarity"]) == pytest.approx(mean(found["membership"]), abs=0.02)
    assert np.mean(found["similarity"].queries) > 1.5 * np.mean(found["membership"].queries)


def test_asking_beats_a_fit_that_cannot_know_the_target():
    found = {s.curve: s for s in hidden(data="Iris", budget=240, runs=3, seed=0)}
    assert mean(found["two-phase"]) < 0.6 * mean(found["no questions"])
    assert max(found["two-phase"].queries) <= 240


def test_a_strategy_that_the_budget_is_too_small_for_is_left_out():
    assert "two-phase" not in {s.curve for s in hidden(data="Iris", budget=5, runs=2, seed=0)}


def test_the_noise_depends_on_the_seed():
    first, again, other = (
        noise(sigma=0.2, times=1, runs=2, seed=seed)[0].values for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_stratified_questions_keep_to_the_same_budget_and_do_better():
    (ours,) = hidden_stratified(data="Iris", budget=60, runs=2, seed=0)
    theirs = {s.curve: s for s in hidden(data="Iris", budget=60, runs=3, seed=0)}
    assert max(ours.queries) <= 60
    assert mean(ours) < mean(theirs["two-phase"])


def test_cells_that_run_our_strategy_are_named_so(tiny):
    """They can be deleted and run again when it changes, without the rest."""
    named = [c for c in all_cells(tiny, 0) if "stratified" in c.name]
    assert {c.work.__name__ for c in named} == {
        "hidden_stratified", "synthetic_cell", "real_cell",
    }  # fmt: skip
    assert not [
        c for c in all_cells(tiny, 0) if c not in named and c.work in {n.work for n in named}
    ]
