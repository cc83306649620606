"""`askmeans plan`, run as a user runs it."""

import json

import pytest

from askmeans import TwoPhase, budgets


def test_the_table_tells_questions_rounds_minutes_and_error(askmeans, tmp_path):
    done = askmeans("plan", "-n", 10_000, "-k", 3, "--seconds-per-question", 6, cwd=tmp_path)
    expected = budgets.forecast(TwoPhase(), 10_000, 3)
    assert "TwoPhase(sample_size=100)" in done.stdout
    assert str(expected.n_queries) in done.stdout
    assert f"{expected.n_queries / 10:.0f}" in done.stdout  # minutes at 6 seconds
    assert "Sequential" in done.stdout
    assert "TwoClusters" not in done.stdout
    assert "forecasts, not promises" in done.stdout


def test_json_has_the_same_numbers(askmeans, tmp_path):
    done = askmeans("plan", "-n", 500, "-k", 2, "--budget", 80, "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)
    kinds = [row["strategy"].partition("(")[0] for row in rows]
    assert kinds == ["Stratified", "TwoPhase", "Sequential", "TwoClusters"]
    assert all(row["questions"] <= 80 for row in rows)
    assert rows[0]["minutes"] == pytest.approx(rows[0]["questions"] * 5 / 60)


def test_a_budget_too_small_names_the_minimum_on_standard_error(askmeans, tmp_path):
    done = askmeans("plan", "-n", 500, "-k", 3, "--budget", 5, cwd=tmp_path, ok=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"at least {budgets.minimum_budget(500, 3)} questions" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_option_is_a_usage_error(askmeans, tmp_path):
    assert askmeans("plan", "-n", 500, cwd=tmp_path, ok=False).returncode == 2
