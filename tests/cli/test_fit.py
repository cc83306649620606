"""`askmeans fit`, run as a user runs it: files in, files out, nothing lost."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pexpect
import pytest
from soaking import in_soak

from askmeans import sessions

COMMAND = Path(sys.executable).parent / "askmeans"


def read(folder, name="iris"):
    """Memberships, centres and summary of a run."""
    summary = json.loads((folder / f"{name}.summary.json").read_text())
    memberships = pd.read_csv(folder / f"{name}.memberships.csv")
    return memberships, pd.read_csv(folder / f"{name}.centers.csv"), summary


def kept(folder, name="iris"):
    """The answers to a plan of the paper, in the order they were given."""
    lines = (folder / f"{name}.answers.jsonl").read_text().splitlines()
    return [json.loads(line)["value"] for line in lines[1:]]


def saved(folder, name="iris"):
    """The answers in the session of a run, in their order."""
    with sessions.open(folder / f"{name}.session.db") as session:
        return [receipt.value for receipt in session.history.answers()]


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


def test_warnings_call_the_clusters_by_their_names(askmeans, folder):
    words = ("fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--budget", 1)
    done = askmeans(*words, cwd=folder, ok=False)
    told = done.stderr.partition("No item that was asked about belongs to ")[2]
    assert told.startswith(("setosa", "versicolor"))


def test_every_format_gives_the_same_result(askmeans, folder):
    counts = set()
    for file in ("iris.csv", "iris.parquet", "iris.feather"):
        words = ("fit", file, "-k", 3, "--expert", "labels:species", "--out", f"r-{file}", "--json")
        summary = json.loads(askmeans(*words, cwd=folder).stdout)
        assert summary["complete"] is True
        assert summary == json.loads((folder / f"r-{file}.summary.json").read_text())
        counts.add(summary["n_queries"])
    assert len(counts) == 1


def test_a_scale_of_answers_is_for_the_default_strategy(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--json",
                 "--strategy", "two-phase")  # fmt: skip
    refused = askmeans(*arguments, "--out", "five", "--levels", 5, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "use the default strategy" in refused.stderr
    coarse = ("--out", "five", "--levels", 5, "--strategy", "auto")
    summary = json.loads(askmeans(*arguments, *coarse, cwd=folder).stdout)
    assert summary["diagnostics"]["noise"] > 0.0
    assert summary["matched_accuracy"] > 0.9


@pytest.mark.parametrize("strategy", ["auto", "two-phase", "sequential", "two-clusters"])
def test_levels_are_of_the_default_strategy(askmeans, folder, strategy):
    frame = pd.read_csv(folder / "iris.csv")
    frame["wild"] = frame["species"] != "setosa"
    frame.drop(columns="species").to_csv(folder / "two.csv", index=False)
    done = askmeans("fit", "two.csv", "-k", 2, "--expert", "labels:wild", "--levels", 5,
                    "--strategy", strategy, "--budget", 60, cwd=folder,
                    ok=strategy == "auto")  # fmt: skip
    if strategy == "auto":
        assert "Answers seem to be off by 0.07." in done.stdout
    else:
        assert done.returncode == 1
        assert "use the default strategy" in done.stderr


def test_a_scale_of_one_point_is_refused_by_name(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--levels", 1)
    refused = askmeans(*arguments, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "--levels must be" in refused.stderr
    alone = ("fit", "iris.csv", "-k", 3, "--expert", "none", "--levels", 5)
    refused = askmeans(*alone, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "asks nobody" in refused.stderr


def test_answers_to_a_plan_are_kept_and_a_second_run_continues(askmeans, folder):
    pd.read_csv(folder / "iris.csv").iloc[::10].to_csv(folder / "few.csv", index=False)
    arguments = ("fit", "few.csv", "-k", 2, "--seed", 1, "--strategy", "two-phase", "--json")
    rng = np.random.default_rng(0)
    lines = [f"{value:.2f}" for value in rng.random(600)]
    complete = askmeans(
        *arguments, "--out", "complete", cwd=folder, text_in="\n".join(lines) + "\n"
    )
    n = json.loads(complete.stdout)["n_queries"]
    assert len(kept(folder, "complete")) == n
    first = "\n".join(lines[: n - 5]) + "\n"
    stopped = askmeans(*arguments, "--out", "part", cwd=folder, text_in=first, ok=False)
    assert stopped.returncode == 3
    rest = "\n".join(lines[n - 5 :]) + "\n"
    second = json.loads(askmeans(*arguments, "--out", "part", cwd=folder, text_in=rest).stdout)
    assert second["n_queries"] + second["n_known_answers"] == n
    assert kept(folder, "part") == kept(folder, "complete")
    one, two = (pd.read_csv(folder / f"{name}.memberships.csv") for name in ("part", "complete"))
    pd.testing.assert_frame_equal(one, two, rtol=0.0, atol=1e-12)  # sums are made in other parts


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


def test_answers_in_a_pipe_are_saved_in_a_session_and_a_second_run_goes_on(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--ask", "membership",
                 "--features", "petal_length,petal_width")  # fmt: skip
    first = askmeans(*arguments, cwd=folder, text_in="1\n0\n25%\n?\n", ok=False)
    assert first.returncode == 3  # stopped before all was asked
    assert "Your answers are in iris.session.db. Run the same command again" in first.stdout
    assert saved(folder) == [1.0, 0.0, 0.25, None]
    second = askmeans(*arguments, cwd=folder, text_in="50%\n", ok=False)
    assert "Question 5, " in second.stderr  # nothing is asked twice
    assert saved(folder) == [1.0, 0.0, 0.25, None, 0.5]
    assert askmeans("undo", "iris.session.db", cwd=folder).returncode == 0  # as any session
    assert saved(folder) == [1.0, 0.0, 0.25, None]


def test_groups_in_a_pipe_are_named_by_number_and_name_and_a_second_run_goes_on(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--names", "a,b,c")
    lines = "1\nb\nA:.75,c:25%\nnone\n?\n"
    first = askmeans(*arguments, cwd=folder, text_in=lines, ok=False)
    assert first.returncode == 3
    assert "To which group does it belong?" in first.stderr
    rows = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.75, 0.0, 0.25), (0.0, 0.0, 0.0), None]
    assert saved(folder) == rows
    askmeans(*arguments, cwd=folder, text_in="c\n", ok=False)
    assert saved(folder) == [*rows, (0.0, 0.0, 1.0)]
    with sessions.open(folder / "iris.session.db") as session:
        (item,) = session.question(session.history.answers()[2].question).items
        name = session.item(item).id
    memberships = pd.read_csv(folder / "iris.memberships.csv", index_col="id")
    assert memberships.loc[name].tolist() == [0.75, 0.0, 0.25]


def test_a_file_of_items_and_groups_is_a_file_of_answers(askmeans, folder):
    truth = pd.read_csv(folder / "iris.csv")
    table = pd.DataFrame({"item": truth["flower"], "value": truth["species"]})
    table.to_csv(folder / "held.csv", index=False)
    names = ",".join(sorted(truth["species"].unique()))
    done = askmeans(
        "fit", "iris.csv", "-k", 3, "--id", "flower", "--answers", "held.csv", "--names", names,
        "--json", cwd=folder,
    )  # fmt: skip
    summary = json.loads(done.stdout)
    assert (summary["n_queries"], summary["n_known_answers"], summary["ask"]) == (0, 150, "group")
    memberships = pd.read_csv(folder / "iris.memberships.csv", index_col="id")
    assert (memberships.idxmax(axis=1).to_numpy() == truth["species"]).all()


def test_the_first_group_question_shows_what_each_group_is_like(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--levels", 5)
    shown = askmeans(*arguments, "--budget", 9, cwd=folder, text_in="1:.3\nq\n", ok=False).stderr
    _, _, first = shown.partition("Question 1, about 9 left\n")
    for number, name in enumerate(("Group A", "Group B", "Group C"), 1):
        assert re.search(rf"    {number}  {name} \(items like: f\d+; f\d+", first)
    assert "one of the 5 points of the session's scale" in first


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
    assert summary["n_known_answers"] == 450
    assert summary["complete"] is True
    best = read(folder)[0].set_index("id").idxmax(axis=1).to_numpy()
    assert (best == truth["species"].to_numpy()).mean() > 0.9


@pytest.mark.usefixtures("ctrl_c")
def test_a_person_at_a_terminal_can_answer_undo_and_stop(folder):
    # Through a real pseudo-terminal: what is typed arrives as from a keyboard.
    child = pexpect.spawn(
        str(COMMAND),
        # One long round: what can be undone is what was answered in the same round.
        ["fit", "iris.csv", "-k", "3", "--id", "flower", "--strategy", "two-phase"],
        cwd=str(folder),
        encoding="utf8",
    )
    for reply in ("1", "0", "u", "20%", "rubbish", "?"):
        child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
        child.sendline(reply)
    child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
    child.sendintr()  # Ctrl-C
    child.expect("Stopped before the last question", timeout=60)
    child.expect(pexpect.EOF, timeout=60)
    child.close()
    assert child.exitstatus == 3
    lines = (folder / "iris.answers.jsonl").read_text().splitlines()
    assert kept(folder) == [1.0, 0.0, None, 0.2, None]
    assert [json.loads(line).get("undone", False) for line in lines[3:]] == [True, False, False]


def test_a_killed_run_has_lost_no_answer(folder):
    child = pexpect.spawn(
        str(COMMAND),
        ["fit", "iris.csv", "-k", "3", "--strategy", "two-phase"],
        cwd=str(folder),
        encoding="utf8",
    )
    for reply in ("1", "0", "0.5"):
        child.expect(r"\[0\.\.1, \?, u, q\] ", timeout=60)
        child.sendline(reply)
    child.expect("Question 4", timeout=60)
    child.kill(signal.SIGKILL)
    child.wait()
    assert kept(folder) == [1.0, 0.0, 0.5]


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
    done = askmeans("fit", "wild.csv", "-k", 3, "--expert", "none", "--scale", "none", cwd=folder)
    assert "sepal_width decides alone; consider --scale robust" in done.stderr
    done = askmeans("fit", "wild.csv", "-k", 3, "--expert", "none", "--force", cwd=folder)
    assert "scale" not in done.stderr


def test_missing_values_are_filled_and_told_or_dropped_or_refused(askmeans, folder):
    frame = pd.read_csv(folder / "iris.csv")
    frame.loc[[3, 77], "petal_width"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    words = ("fit", "gaps.csv", "-k", 3, "--expert", "none", "--missing")
    refused = askmeans(*words, "refuse", cwd=folder, ok=False)
    assert refused.returncode == 1
    assert "petal_width" in refused.stderr
    assert "2 rows (3, 77)" in refused.stderr
    assert not (folder / "gaps.memberships.csv").exists()
    filled = askmeans(*words, "fill", cwd=folder)
    assert (
        "petal_width   number    feature   2 missing, filled with the median, 1.3" in filled.stdout
    )
    assert len(read(folder, "gaps")[0]) == 150
    dropped = askmeans(*words, "drop", "--force", cwd=folder)
    assert "2 of 150 rows lack values and are left out" in dropped.stderr
    assert {3, 77}.isdisjoint(read(folder, "gaps")[0]["id"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv", "-k", 3), "must be a file"),
        (("iris.csv", "-k", 0, "--expert", "none"), "-k must be"),
        (("iris.csv", "-k", 151, "--expert", "none"), "at most n_samples=150"),
        (("iris.csv", "-k", 3, "--features", "girth"), "column 'girth'"),
        (("iris.csv", "-k", 3, "--features", "species:number"), "must be numeric"),
        (("iris.csv", "-k", 3, "--id", "species"), "'setosa' twice"),
        (("iris.csv", "-k", 3, "--expert", "labels:kind"), "column 'kind'"),
        (("iris.csv", "-k", 2, "--expert", "labels:species"), "must be 3"),
        (("iris.csv", "-k", 3, "--expert", "oracle"), "--expert must be"),
        (("iris.csv", "-k", 3, "--fuzzifier", 0.5), "--fuzzifier must be"),
        (("iris.csv", "-k", 3, "--names", "a,b"), "3 names, all different"),
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


# --- Nothing that a person answered is lost, or taken for something else ---


@pytest.mark.parametrize(
    "text", ["item,cluster,value\nf127,0,0.9", "\ufeffitem,cluster,value\r\nf127,0,0.9\r\n"]
)
@pytest.mark.parametrize("strategy", ["auto", "two-phase"])
def test_a_file_of_ones_own_is_known_before_and_stays_as_it_is(askmeans, folder, text, strategy):
    (folder / "own.csv").write_bytes(text.encode())  # three columns suffice
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--answers", "own.csv", "--out", "r",
                 "--ask", "membership", "--strategy", strategy, "--json")  # fmt: skip
    askmeans(*arguments, cwd=folder, text_in="0.1\n0\n", ok=False)
    done = askmeans(*arguments, cwd=folder, text_in="0.5\n", ok=False)
    assert (folder / "own.csv").read_bytes() == text.encode()
    summary = json.loads(done.stdout)
    assert summary["n_queries"] + summary["n_known_answers"] == 4
    if strategy == "two-phase":
        assert kept(folder, "r") == [0.1, 0.0, 0.5]


def test_a_row_cut_off_by_a_crash_is_left_out_and_told(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--strategy", "two-phase")
    askmeans(*arguments, cwd=folder, text_in="1\n0\n", ok=False)
    with (folder / "iris.answers.jsonl").open("a") as file:
        file.write('{"kind": "membersh')
    done = askmeans(*arguments, cwd=folder, text_in="0.5\n", ok=False)
    assert "last line is not complete" in done.stderr
    assert kept(folder) == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "membershp,f0,,0,,,0.5",
            "the kind must be one of membership, group, pair, triplet",
        ),
        ("membership,f0,,7,,,0.5", "line 2: the cluster must be a number from 0 to 2. Got '7'"),
        ("membership,f0,,,,,0.5", "line 2: the cluster must be a number"),
        ("membership,f0,f1,0,,,0.5", "line 2: a membership must be about 1 different items"),
        ("pair,f0,,,,,0.5", "line 2: a pair must be about 2 different items"),
        ("membership,,,0,,,0.5", "Got none"),
        ("membership,f999,,0,,,0.5", "there must be an item 'f999'"),
        ("membership,f0,,0,,,50%", "line 2: an answer must be a number from 0 to 1. Got '50%'"),
        ("membership,f0,,0,,,1.5", "line 2: an answer must lie in [0, 1]. Got 1.5"),
        ("membership,f0,,0,petals,,0.5", "cluster 0 must be called 'petals'"),
        ("membership,f0,,0,,4,0.5", "the answers must be about 3 clusters. Got 4"),
    ],
)
def test_answers_that_cannot_be_meant_are_refused_with_their_line(askmeans, folder, row, message):
    header = "kind,item,item_2,cluster,cluster_name,clusters,value\n"
    (folder / "held.csv").write_text(f"{header}{row}\n")
    done = askmeans(
        "fit", "iris.csv", "-k", 3, "--id", "flower", "--answers", "held.csv", cwd=folder, ok=False
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert (folder / "held.csv").read_text().count("\n") == 2  # and nothing was added


def test_answers_about_other_clusters_are_not_taken_for_these(askmeans, folder):
    arguments = ("fit", "iris.csv", "--id", "flower")
    askmeans(*arguments, "-k", 3, "--names", "a,b,c", cwd=folder, text_in="1\n", ok=False)
    others = {"--clusters": ("-k", 2, "--names", "a,b"), "--names": ("-k", 3, "--names", "b,a,c"),
              "--ask": ("-k", 3, "--names", "a,b,c", "--ask", "membership")}  # fmt: skip
    for option, other in others.items():
        done = askmeans(*arguments, *other, cwd=folder, ok=False)
        assert done.returncode == 1
        assert "iris.session.db must belong to the same command" in done.stderr
        assert option in done.stderr
    frame = pd.read_csv(folder / "iris.csv")
    frame.assign(sepal_length=2.0 * frame["sepal_length"] ** 2).to_csv(folder / "iris.csv")
    done = askmeans(*arguments, "-k", 3, "--names", "a,b,c", cwd=folder, ok=False)
    assert (done.returncode, "must be about the data given" in done.stderr) == (1, True)


def test_answers_to_a_plan_about_other_clusters_or_data_are_refused(askmeans, folder):
    arguments = ("fit", "iris.csv", "--id", "flower", "--strategy", "two-phase")
    askmeans(*arguments, "-k", 3, "--names", "a,b,c", cwd=folder, text_in="1\n", ok=False)
    before = (folder / "iris.answers.jsonl").read_bytes()
    for other in (("-k", 2), ("-k", 3, "--names", "b,a,c"), ("-k", 3)):
        done = askmeans(*arguments, *other, cwd=folder, ok=False)
        assert done.returncode == 1
        assert "iris.answers.jsonl must have answers about the same clusters" in done.stderr
    done = askmeans(
        *arguments[:2], "-k", 3, "--names", "a,b,c", *arguments[4:], cwd=folder, ok=False
    )
    assert "answers.jsonl must have answers about the same data" in done.stderr
    assert (folder / "iris.answers.jsonl").read_bytes() == before


def test_a_simulated_expert_does_not_read_a_persons_answers(askmeans, folder):
    askmeans("fit", "iris.csv", "-k", 3, cwd=folder, text_in="1\n0\n", ok=False)
    done = askmeans("fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--json", cwd=folder)
    assert json.loads(done.stdout)["n_known_answers"] == 0


def test_typical_items_are_shown_again_after_a_break(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--strategy", "two-phase")
    askmeans(*arguments, cwd=folder, text_in="1\n0\n", ok=False)
    second = askmeans(*arguments, cwd=folder, text_in="", ok=False)
    assert "Group A (items like: f127: sepal_length = " in second.stderr


def test_the_first_question_of_a_plan_can_be_answered(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--id", "flower", "--strategy", "two-phase")
    shown = askmeans(*arguments, "--budget", 40, cwd=folder, text_in=".3\nq\n", ok=False).stderr
    greeting, _, first = re.split(r"(Question 1 of \d+\n)", shown, maxsplit=1)
    for name in ("Group A", "Group B", "Group C"):
        assert re.search(rf"  {name}\n    f\d+: sepal_length", greeting)
    item, like = re.search(
        r"  item (f\d+): .*\nHow much does it belong to Group . \(items like: (.*)\)", first
    ).groups()
    assert f"{item}:" not in like
    assert set(re.findall(r"f\d+", like)) & set(re.findall(r"f\d+", greeting))
    assert "flower = " not in first  # that is the item's name


@pytest.mark.parametrize(
    ("answers", "options", "code"),
    [("1\n" * 4, ("--budget", 4), 0), ("1\n" * 4, ("--budget", 5), 3), ("q\n", (), 3)],
)
def test_a_spent_budget_is_an_end_and_a_stop_is_none(askmeans, folder, answers, options, code):
    arguments = ("fit", "iris.csv", "-k", 2, *options, "--json")
    done = askmeans(*arguments, cwd=folder, text_in=answers, ok=False)
    assert done.returncode == code
    assert json.loads(done.stdout)["stopped"] == ("interrupted" if code else "budget")


def test_ids_stay_as_they_are_written(askmeans, folder):
    frame = pd.read_csv(folder / "iris.csv")
    frame["flower"] = [f"{i:05d}" for i in range(149)] + ["NA"]
    frame.to_csv(folder / "zeros.csv", index=False)
    askmeans("fit", "zeros.csv", "-k", 3, "--id", "flower", "--expert", "none", cwd=folder)
    ids = (folder / "zeros.memberships.csv").read_text().splitlines()
    assert ids[1].startswith("00000,")
    assert ids[150].startswith("NA,")


def test_a_saved_index_is_no_feature(askmeans, folder):
    pd.read_csv(folder / "iris.csv").to_csv(folder / "indexed.csv")
    askmeans("fit", "indexed.csv", "-k", 3, "--expert", "none", cwd=folder)
    assert "Unnamed: 0" not in read(folder, "indexed")[1].columns


def test_a_class_called_id_and_a_feature_called_cluster_are_fine(askmeans, folder):
    frame = pd.read_csv(folder / "iris.csv").rename(columns={"sepal_width": "cluster"})
    frame["species"] = frame["species"].replace("setosa", "id")
    frame.to_csv(folder / "odd.csv", index=False)
    askmeans("fit", "odd.csv", "-k", 3, "--expert", "labels:species", cwd=folder)
    memberships, centers, _ = read(folder, "odd")
    assert memberships.columns.tolist() == ["id_", "id", "versicolor", "virginica"]
    assert centers.columns[0] == "cluster_"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "nowhere/r", "--expert", "none"), "must be a folder for the results"),
        (("--names", "a,b,a", "--expert", "none"), "3 names, all different"),
        (("--names", "a,b", "--expert", "labels:species"), "3 names, all different"),
        (("--features", "sepal_width,sepal_width"), "Columns must differ by name"),
        (("--seed", -1), "--seed must be"),
        (("--expert", "none", "--budget", 5), "must be left out"),
    ],
)
def test_what_cannot_work_is_refused_before_anybody_is_asked(askmeans, folder, arguments, message):
    done = askmeans("fit", "iris.csv", "-k", 3, *arguments, cwd=folder, ok=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Question" not in done.stderr


def test_a_picture_is_not_overwritten_either(askmeans, folder):
    (folder / "iris.png").write_text("mine")
    done = askmeans("fit", "iris.csv", "-k", 3, "--expert", "none", "--plot", cwd=folder, ok=False)
    assert done.returncode == 1
    assert (folder / "iris.png").read_text() == "mine"


@pytest.mark.parametrize("ask", ["similarity", in_soak("pairwise")])
def test_similarities_find_the_classes_and_their_names(askmeans, folder, ask):
    askmeans(
        "fit", "iris.csv", "-k", 3, "--expert", "labels:species", "--ask", ask, "--id", "flower",
        cwd=folder,
    )  # fmt: skip
    memberships, _, summary = read(folder)
    truth = pd.read_csv(folder / "iris.csv")["species"]
    assert (memberships.iloc[:, 1:].idxmax(axis=1) == truth).mean() > 0.9
    assert summary["ask"] == ask
    asked = summary["diagnostics"]["similarity"]
    assert asked["bootstrap_pairs"] == asked["triplets"] == 0 < asked["row_pairs"]  # hard labels


def test_fit_asks_which_of_two_is_more_alike_and_goes_on_where_it_stopped(askmeans, folder):
    arguments = ("fit", "iris.csv", "-k", 3, "--ask", "relative", "--id", "flower")
    words = "a\nb\nboth\nq\n"
    askmeans(*arguments, "--budget", 9, cwd=folder, text_in=words, ok=False)
    assert saved(folder) == [1.0, 0.0, 0.5]
    askmeans(*arguments, "--budget", 12, cwd=folder, text_in="a\n" * 9)
    assert saved(folder) == [1.0, 0.0, 0.5, *[1.0] * 9]
    with sessions.open(folder / "iris.session.db") as session:
        items = [session.question(receipt.question).items for receipt in session.history.answers()]
    assert len(set(items)) == 12  # none was asked again


def test_answers_about_pairs_serve_another_number_of_clusters(askmeans, folder):
    arguments = ("fit", "iris.csv", "--ask", "pairwise", "--seed", 3, "--json")
    askmeans(*arguments, "-k", 2, cwd=folder, text_in="1\n0\n0.5\n" * 4, ok=False)
    askmeans("export", "iris.session.db", cwd=folder)
    more = ("--answers", "iris.session.answers.csv", "--out", "three")
    done = askmeans(*arguments, "-k", 3, *more, cwd=folder, text_in="1\n", ok=False)
    summary = json.loads(done.stdout)
    assert (summary["n_known_answers"], summary["n_queries"]) == (12, 1)


def test_names_of_clusters_are_refused_where_similarities_cannot_tell_which_is_which(
    askmeans, folder
):
    done = askmeans(
        "fit", "iris.csv", "-k", 3, "--ask", "pairwise", "--names", "a,b,c", cwd=folder, ok=False
    )
    assert done.returncode == 1
    assert "which cluster is which" in done.stderr
