"""`askmeans fit`, run as a user runs it: files in, files out, nothing lost."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pexpect
import pytest

COMMAND = Path(sys.executable).parent / "askmeans"


def read(folder, name="iris"):
    """Memberships, centres and summary of a run."""
    summary = json.loads((folder / f"{name}.summary.json").read_text())
    memberships = pd.read_csv(folder / f"{name}.memberships.csv")
    return memberships, pd.read_csv(folder / f"{name}.centers.csv"), summary


def test_a_simulated_expert_beats_no_questions(askmeans, folder):
    done = askmeans(
        "fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--id", "flower", cwd=folder
    )
    memberships, centers, summary = read(folder)
    assert memberships.columns.tolist() == ["id", "setosa", "versicolor", "virginica"]
    assert memberships["id"].tolist() == [f"f{i}" for i in range(150)]
    assert np.allclose(memberships.iloc[:, 1:].sum(axis=1), 1.0)
    assert centers.columns.tolist()[:2] == ["cluster", "sepal_length"]
    assert 4.9 < centers.set_index("cluster").loc["setosa", "sepal_length"] < 5.1
    assert summary["matched_accuracy"] > summary["matched_accuracy_without_questions"]
    assert f"{summary['n_queries']} questions" in done.stdout
    assert "species" not in centers.columns


@pytest.mark.parametrize("file", ["iris.csv", "iris.parquet", "iris.feather"])
def test_every_format_gives_the_same_result(askmeans, folder, file):
    done = askmeans(
        "fit", file, "-k", 3, "--expert", "labels:species", "--out", "r", "--json", cwd=folder
    )
    summary = json.loads(done.stdout)
    assert summary["n_queries"] == 148
    assert summary["complete"] is True
    assert summary == json.loads((folder / "r.summary.json").read_text())


def test_results_are_not_overwritten_without_force(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--expert", "none")
    askmeans(*arguments, cwd=folder)
    before = (folder / "iris.memberships.csv").read_bytes()
    refused = askmeans(*arguments, "--fuzzifier", 1.3, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "--force" in refused.stderr
    assert (folder / "iris.memberships.csv").read_bytes() == before
    askmeans(*arguments, "--fuzzifier", 1.3, "--force", cwd=folder)
    assert (folder / "iris.memberships.csv").read_bytes() != before


def test_answers_in_a_pipe_are_saved_and_a_second_run_goes_on(askmeans, folder):
    arguments = (
        "fit",
        "iris.csv",
        "-k",
        3,
        "--id",
        "flower",
        "--features",
        "petal_length,petal_width",
    )
    first = askmeans(*arguments, cwd=folder, text_in="1\n0\n25%\n?\n", ok=False)
    assert first.returncode == 3  # stopped before all was asked
    assert "Run the same command again" in first.stdout
    saved = pd.read_csv(folder / "iris.answers.csv")
    assert saved["value"].tolist()[:3] == [1.0, 0.0, 0.25]
    assert saved["note"].tolist()[3] == "cannot say"
    second = askmeans(*arguments, cwd=folder, text_in="50%\n", ok=False)
    asked = [line for line in second.stderr.splitlines() if line.startswith("  item")]
    answered = set(saved["item"] + "/" + saved["cluster"].astype(str))
    again = pd.read_csv(folder / "iris.answers.csv")
    assert len(again) == 5
    last = again.iloc[-1]
    assert f"{last['item']}/{last['cluster']}" not in answered  # nothing is asked twice
    assert last["value"] == 0.5
    assert f"flower = {last['item']}" in asked[0]


def test_answers_held_already_are_not_asked(askmeans, folder):
    truth = pd.read_csv(folder / "iris.csv")
    classes = sorted(truth["species"].unique())
    rows = [
        {"item": item, "cluster": j, "value": float(species == name)}
        for item, species in zip(truth["flower"], truth["species"], strict=True)
        for j, name in enumerate(classes)
    ]
    pd.DataFrame(rows).to_csv(folder / "held.csv", index=False)
    done = askmeans(
        "fit", "iris.csv", "-k", 3, "--id", "flower", "--answers", "held.csv",
        "--names", ",".join(classes), "--json", cwd=folder,
    )  # fmt: skip
    summary = json.loads(done.stdout)
    assert summary["n_queries"] == 0
    assert summary["n_answers_held"] == 450
    assert summary["complete"] is True
    best = read(folder)[0].set_index("id").idxmax(axis=1).to_numpy()
    assert (best == truth["species"].to_numpy()).mean() > 0.9


def test_a_person_at_a_terminal_can_answer_undo_and_stop(folder):
    # Through a real pseudo-terminal: what is typed arrives as from a keyboard.
    child = pexpect.spawn(
        str(COMMAND),
        ["fit", "iris.csv", "-k", "3", "--id", "flower"],
        cwd=str(folder),
        encoding="utf8",
    )
    for reply in ("1", "0", "u", "20%", "rubbish", "?"):
        child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
        child.sendline(reply)
    child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
    child.sendintr()  # Ctrl-C
    child.expect("Stopped before all was asked", timeout=60)
    child.expect(pexpect.EOF, timeout=60)
    child.close()
    assert child.exitstatus == 3
    notes = pd.read_csv(folder / "iris.answers.csv", keep_default_na=False)
    assert notes["value"].tolist() == ["1.0", "0.0", "", "0.2", ""]
    assert notes["note"].tolist() == ["", "", "undone", "", "cannot say"]


def test_a_killed_run_has_lost_no_answer(folder):
    child = pexpect.spawn(
        str(COMMAND), ["fit", "iris.csv", "-k", "3"], cwd=str(folder), encoding="utf8"
    )
    for reply in ("1", "0", "0.5"):
        child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
        child.sendline(reply)
    child.expect("Question 4", timeout=60)
    child.kill(signal.SIGKILL)
    child.close()
    assert pd.read_csv(folder / "iris.answers.csv")["value"].tolist() == [1.0, 0.0, 0.5]


def test_the_picture_is_drawn_when_asked_for(askmeans, folder):
    askmeans("fit", "iris.csv", "-k", 3, "--expert", "none", "--plot", cwd=folder)
    assert (folder / "iris.png").read_bytes().startswith(b"\x89PNG")


def test_scaling_changes_the_fit_and_centers_stay_in_the_datas_units(askmeans, folder):
    for how in ("none", "standard", "robust"):
        askmeans(
            "fit", "iris.csv", "-k", 3, "--expert", "none", "--scale", how, "--out", how, cwd=folder
        )
    tables = {how: read(folder, how) for how in ("none", "standard", "robust")}
    assert not tables["none"][0].equals(tables["standard"][0])
    for _, centers, _ in tables.values():
        assert centers["sepal_length"].between(4.5, 7.5).all()


def test_wildly_different_scales_are_told(askmeans, folder):
    frame = pd.read_csv(folder / "iris.csv")
    frame["sepal_width"] *= 1e4
    frame.to_csv(folder / "wild.csv", index=False)
    done = askmeans("fit", "wild.csv", "-k", 3, "--expert", "none", cwd=folder)
    assert "sepal_width decides alone; consider --scale standard" in done.stderr
    done = askmeans(
        "fit", "wild.csv", "-k", 3, "--expert", "none", "--scale", "standard", "--force", cwd=folder
    )
    assert "scale" not in done.stderr


def test_missing_values_are_refused_with_their_rows_or_imputed(askmeans, folder):
    frame = pd.read_csv(folder / "iris.csv")
    frame.loc[[3, 77], "petal_width"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    refused = askmeans("fit", "gaps.csv", "-k", 3, "--expert", "none", cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "petal_width" in refused.stderr
    assert "2 rows (3, 77)" in refused.stderr
    assert not (folder / "gaps.memberships.csv").exists()
    askmeans("fit", "gaps.csv", "-k", 3, "--expert", "none", "--impute", "median", cwd=folder)
    assert len(read(folder, "gaps")[0]) == 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv", "-k", 3), "must be a file"),
        (("iris.csv", "-k", 0, "--expert", "none"), "'clusters' parameter"),
        (("iris.csv", "-k", 151, "--expert", "none"), "at most n_samples=150"),
        (("iris.csv", "-k", 3, "--features", "girth"), "column 'girth'"),
        (("iris.csv", "-k", 3, "--features", "species"), "must be numeric"),
        (("iris.csv", "-k", 3, "--id", "species"), "'setosa' twice"),
        (("iris.csv", "-k", 3, "--expert", "labels:kind"), "column 'kind'"),
        (("iris.csv", "-k", 2, "--expert", "labels:species"), "must be 3"),
        (("iris.csv", "-k", 3, "--expert", "oracle"), "'expert' parameter"),
        (("iris.csv", "-k", 3, "--fuzzifier", 0.5), "'fuzzifier' parameter"),
        (("iris.csv", "-k", 3, "--names", "a,b"), "must have 3 names"),
        (("iris.csv", "-k", 3, "--answers", "iris.csv"), "must have the columns"),
        (("iris.csv", "-k", 3, "--strategy", "two-clusters"), "TwoClusters must be 2"),
    ],
)
def test_errors_are_one_sentence_on_standard_error(askmeans, folder, arguments, message):
    done = askmeans("fit", *arguments, cwd=folder, ok=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "iris.memberships.csv").exists()


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from askmeans.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "numba"}
