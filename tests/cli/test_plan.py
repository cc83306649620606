"""`askmeans plan`, run as a user runs it."""

import json

import pytest

from askmeans import Sequential, Stratified, TwoPhase, budgets


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
    assert "at least 20 questions" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("ask", ["membership", "similarity", "pairwise", "relative"])
def test_what_is_asked_is_forecast(askmeans, tmp_path, ask):
    done = askmeans("plan", "-n", 500, "-k", 3, "--ask", ask, "--json", cwd=tmp_path)
    kinds = (Stratified(), TwoPhase(), Sequential())[: 1 if ask == "relative" else None]
    expected = [budgets.forecast(kind, 500, 3, ask=ask).n_queries for kind in kinds]
    assert [row["questions"] for row in json.loads(done.stdout)] == expected
    done = askmeans("plan", "-n", 500, "-k", 3, "--ask", ask, "--budget", 300, "--json",
                    cwd=tmp_path)  # fmt: skip
    planned = budgets.plan_budget(300, 500, 3, ask=ask, kind=Stratified)
    assert json.loads(done.stdout)[0]["questions"] == planned.n_queries


def test_a_data_file_tells_the_number_of_items(askmeans, folder):
    told = askmeans("plan", "iris.csv", "-k", 3, "--json", cwd=folder).stdout
    assert told == askmeans("plan", "-n", 150, "-k", 3, "--json", cwd=folder).stdout


@pytest.mark.parametrize(("words", "got"), [((), "neither"), (("iris.csv", "-n", 3), "both")])
def test_items_are_counted_or_told_not_both(askmeans, folder, words, got):
    refused = askmeans("plan", *words, "-k", 3, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert f"either DATA or -n, the number of items. Got {got}" in refused.stderr


def test_a_missing_option_is_a_usage_error(askmeans, tmp_path):
    assert askmeans("plan", "-n", 500, cwd=tmp_path, ok=False).returncode == 2


def test_features_are_those_of_init_checked_and_shown_with_their_kinds(askmeans, folder):
    words = ("plan", "iris.csv", "-k", 3, "--features")
    shown = askmeans(*words, "petal_width,species:category", cwd=folder).stdout
    assert shown.startswith("clustered by: petal_width (number), species (category)\n")
    assert "150 items, 3 clusters" in shown
    without = askmeans("plan", "iris.csv", "-k", 3, "--json", cwd=folder).stdout
    assert askmeans(*words, "petal_width", "--json", cwd=folder).stdout == without
    for wrong, why in (("petal", "must be a column 'petal'"), ("species:colour", "one of number")):
        refused = askmeans(*words, wrong, cwd=folder, ok=False)
        assert refused.returncode == 1
        assert why in refused.stderr
    alone = askmeans("plan", "-n", 150, "-k", 3, "--features", "a", cwd=folder, ok=False)
    assert "--features must come with DATA" in alone.stderr
