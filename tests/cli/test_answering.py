"""Group questions on the command line: by number, by name, shares, none, cannot say."""

import json
import re

import pandas as pd
import pytest

from askmeans import sessions


@pytest.fixture
def made(askmeans, folder):
    """A session about Iris that asks for groups, by default."""
    done = askmeans(
        "init", "s.db", "iris.csv", "-k", 3, "--id", "flower", "--names", "red,blue,Group C",
        cwd=folder,
    )  # fmt: skip
    assert "clusters: red; blue; Group C" in done.stdout
    assert "expect about 100 questions" in done.stdout
    return folder


def test_status_counts_items_and_says_when_they_are_few_enough(askmeans, folder):
    askmeans("init", "s.db", "iris.csv", "-k", 3, "--id", "flower", "--good-enough", "20%",
             cwd=folder)  # fmt: skip
    before = askmeans("status", "s.db", cwd=folder).stdout
    assert "No answers yet" in before
    assert "in the wrong group" not in before
    assert "Good enough" not in before
    with sessions.open(folder / "s.db") as session:
        assert session.config.target == 0.2
        for _ in range(40):
            (question,) = session.ask()
            session.tell(question.id, question.items[0] // 50)
    after = askmeans("status", "s.db", cwd=folder).stdout
    assert re.search(r"(About \d+|Probably none) of 150 .* in the wrong group \(\d+ to", after)
    assert "Good enough: you may stop now" in after
    assert "estimated error" not in after


@pytest.mark.parametrize("share", ["5", "0", "-1%", "many", "5%%"])
def test_good_enough_is_a_share(askmeans, folder, share):
    done = askmeans("init", "s.db", "iris.csv", "-k", 3, f"--good-enough={share}", cwd=folder,
                    ok=False)  # fmt: skip
    assert done.returncode == 2
    assert "must be a share above 0, as in 5% or 0.05" in " ".join(done.stderr.split())
    assert not (folder / "s.db").exists()


def asked(askmeans, folder, *words):
    """A question as JSON."""
    told = json.loads(askmeans("ask", "s.db", "--json", *words, cwd=folder).stdout)
    return told["questions"][0]


def test_a_question_lists_the_groups_and_the_items_that_are_like_them(askmeans, made):
    question = asked(askmeans, made)
    assert question["kind"] == "group"
    assert [(g["number"], g["name"]) for g in question["groups"]] == [
        (1, "red"), (2, "blue"), (3, "Group C"),
    ]  # fmt: skip
    with sessions.open(made / "s.db") as session:
        session.tell(question["id"], "blue")
    shown = askmeans("ask", "s.db", cwd=made).stdout
    assert f"    2  blue (items like: {question['shown'][0]['label']})\n" in shown
    assert "To which group does it belong?" in shown


@pytest.mark.parametrize(
    ("value", "row", "text"),
    [
        ("3", [0, 0, 1], "Group C"),
        ("1:25%,3:75%", [0.25, 0, 0.75], "red:0.25,Group C:0.75"),
        ("blue", [0, 1, 0], "blue"),
        ("C", [0, 0, 1], "Group C"),
        ("red:.7,C:.3", [0.7, 0, 0.3], "red:0.7,Group C:0.3"),
        ("none", [0, 0, 0], "none"),
        ("0", [0, 0, 0], "none"),
        ("?", None, "'cannot say'"),
    ],
)
def test_a_group_is_told_in_every_way(askmeans, made, value, row, text):
    number = asked(askmeans, made)["id"]
    told = json.loads(askmeans("tell", "s.db", number, value, "--json", cwd=made).stdout)
    assert told["value"] == row
    again = askmeans("tell", "s.db", number, value, cwd=made).stdout
    assert f"Kept: {text} to question {number}, as before." in again
    undone = json.loads(askmeans("undo", "s.db", "--json", cwd=made).stdout)
    assert undone["value"] == row


@pytest.mark.parametrize("value", ["9", "4", "green", "red:.7,green:.3", "red:.9,blue:.9", ".5"])
def test_what_is_no_group_is_refused_with_those_there_are(askmeans, made, value):
    number = asked(askmeans, made)["id"]
    done = askmeans("tell", "s.db", number, value, cwd=made, ok=False)
    assert done.returncode == 1
    assert "1 red, 2 blue, 3 Group C" in done.stderr
    assert f"Got '{value}'" in done.stderr


def test_groups_are_answered_in_the_terminal_exported_and_imported(askmeans, made):
    lines = "red\nwhat\nblue:50%,red:50%\nnone\ns\nu\n?\nq\n"
    done = askmeans("answer", "s.db", cwd=made, text_in=lines, ok=False)
    assert done.returncode == 3
    assert "'what' is not an answer" in done.stdout
    assert "4 questions answered" in done.stdout
    for kind in ("csv", "parquet", "json"):
        askmeans("export", "s.db", "--format", kind, cwd=made)
    table = pd.read_csv(made / "s.answers.csv", keep_default_na=False)
    assert table["kind"].tolist() == ["group"] * 4
    assert table["value"].tolist() == ["0:1", "0:0.5,1:0.5", "none", ""]
    assert table["cluster_name"].tolist() == ["red", "red:0.5,blue:0.5", "none", ""]
    whole = json.loads((made / "s.json").read_text())
    assert [row["value"] for row in whole["answers"]] == ["0:1", "0:0.5,1:0.5", "none", None]
    parquet = pd.read_parquet(made / "s.answers.parquet")
    assert parquet["value"].tolist()[:3] == ["0:1", "0:0.5,1:0.5", "none"]
    names = ("--names", "red,blue,Group C")
    askmeans("init", "t.db", "iris.csv", "-k", 3, "--id", "flower", *names, cwd=made)
    done = askmeans("import", "t.db", "s.answers.csv", cwd=made)
    assert "4 answers imported" in done.stdout
    with sessions.open(made / "s.db") as one, sessions.open(made / "t.db") as other:
        rows = [[receipt.value for receipt in each.history.answers()] for each in (one, other)]
    assert rows[0] == rows[1] == [(1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 0.0), None]


def test_groups_are_listed_added_merged_renamed_and_taken_back(askmeans, made):
    def groups(*words):
        told = json.loads(askmeans("groups", "s.db", *words, "--json", cwd=made).stdout)
        assert sum(group["size"] for group in told["groups"]) == pytest.approx(150)
        return [(group["number"], group["name"]) for group in told["groups"]]

    first = [(1, "red"), (2, "blue"), (3, "Group C")]
    assert groups() == first
    assert groups("--add", "green") == [*first, (4, "green")]
    assert groups("--merge", "blue", "4") == first
    assert groups("--rename", "Group C", "black") == [*first[:2], (3, "black")]
    assert groups("--undo") == [*first[:2], (3, "black"), (4, "green")]
    assert "3  black\n" in askmeans("groups", "s.db", cwd=made).stdout
    assert "The group is removed again." in askmeans("undo", "s.db", cwd=made).stdout
    assert groups("--remove", "blue") == [(1, "red"), (2, "black")]
    said = askmeans("groups", "s.db", "--undo", cwd=made).stdout
    assert "Taken back: removed blue.\n" in said
    refused = askmeans("groups", "s.db", "--merge", "blue", "kale", cwd=made, ok=False)
    assert "by number or name: 1 red, 2 blue, 3 black. Got 'kale'" in refused.stderr
    refused = askmeans("groups", "s.db", "--merge", "blue", "2", cwd=made, ok=False)
    assert "two different groups among 1 red, 2 blue, 3 black" in refused.stderr


def test_after_a_merge_groups_have_the_numbers_of_the_page_and_keep_theirs_in_files(askmeans, made):
    askmeans("groups", "s.db", "--merge", "red", "blue", cwd=made)
    question = asked(askmeans, made)
    assert [(g["number"], g["name"]) for g in question["groups"]] == [(1, "red"), (2, "Group C")]
    askmeans("tell", "s.db", question["id"], 2, cwd=made)
    with sessions.open(made / "s.db") as session:  # as in Python, and in what is exported
        assert session.history.answers()[-1].value == (0.0, 0.0, 1.0)
        assert [group.number for group in session.groups] == [0, 2]
    askmeans("groups", "s.db", "--rename", 2, "black", cwd=made)
    askmeans("groups", "s.db", "--rename", "red", "white", cwd=made)
    shown = askmeans("groups", "s.db", "--describe", "2", "As night.", cwd=made).stdout
    assert "  1  white: about " in shown
    assert "  2  black: about " in shown
    assert "; As night." in shown
    listed = askmeans("audit", "s.db", cwd=made).stdout
    assert "merge group 2 into group 1" in listed
    assert "answer question 1 black" in listed


@pytest.mark.parametrize("option", ["--rename", "--describe"])
@pytest.mark.parametrize("group", ["kale", "0", "4", "RED"])
def test_an_unknown_or_ambiguous_group_lists_those_there_are(askmeans, made, option, group):
    askmeans("groups", "s.db", "--rename", "Group C", "Red", cwd=made)  # beside red
    done = askmeans("groups", "s.db", option, group, "new", cwd=made, ok=False)
    assert done.returncode == 1
    assert "by number or name: 1 red, 2 blue, 3 Red" in done.stderr
    assert f"Got '{group}'" in done.stderr
    with sessions.open(made / "s.db") as session:
        assert session.groups.names == ["red", "blue", "Red"]


def test_a_name_that_is_taken_is_refused_with_the_groups_by_the_numbers_that_are_typed(
    askmeans, made
):
    done = askmeans("groups", "s.db", "--rename", 1, "blue", cwd=made, ok=False)
    assert done.returncode == 1
    assert "Got 'blue'; the groups are 1 red, 2 blue, 3 Group C." in done.stderr


def test_status_suggests_a_group_with_the_evidence(askmeans, made):
    with sessions.open(made / "s.db") as session:
        for question in session.ask(20):
            session.tell(question.id, () if question.id % 2 else 0)
    shown = askmeans("status", "s.db", cwd=made).stdout
    assert "of the 20 items asked about belong to none of the 3 groups" in shown or (
        "belong to none of the 3 groups" in shown
    )
    assert "askmeans groups s.db --add NAME" in shown


def test_init_may_start_from_two_groups(askmeans, folder):
    done = askmeans("init", "s.db", "iris.csv", "-k", "auto", cwd=folder)
    assert "clusters: Group A; Group B" in done.stdout
    with sessions.open(folder / "s.db") as session:
        assert session.config.grows
    wrong = askmeans("init", "t.db", "iris.csv", "-k", "many", cwd=folder, ok=False)
    assert wrong.returncode == 2
    assert "'many' must be a whole number, or 'auto'" in wrong.stderr


def test_an_export_without_answers_says_so(askmeans, made):
    done = askmeans("export", "s.db", cwd=made)
    assert "No answers yet: the groups have only names" in done.stdout
    table = pd.read_csv(made / "s.memberships.csv")
    assert table[["red", "blue", "Group C"]].to_numpy() == pytest.approx(1 / 3)
    assert "2  blue\n" in askmeans("groups", "s.db", cwd=made).stdout
    question = asked(askmeans, made)
    askmeans("tell", "s.db", question["id"], "blue", cwd=made)
    assert "2  blue: about " in askmeans("groups", "s.db", cwd=made).stdout
    assert "No answers yet" not in askmeans("export", "s.db", "--force", cwd=made).stdout


def test_groups_are_refined_moved_and_flattened(askmeans, made):
    def groups(*words, ok=True):
        return askmeans("groups", "s.db", *words, cwd=made, ok=ok)

    out = groups("refine", "red", "--names", "light,dark red").stdout
    assert "\n  2    light" in out
    assert "\n  3    dark red" in out
    groups("refine", "light", "--names", 2)
    askmeans("ask", "s.db", cwd=made)
    askmeans("tell", "s.db", 1, "light 2", cwd=made)
    askmeans("export", "s.db", cwd=made)
    table = pd.read_csv(made / "s.memberships.csv", keep_default_na=False)
    assert "red / light / light 2" in table["path"].tolist()
    assert table.columns.tolist()[-5:] == ["light 1", "light 2", "dark red", "blue", "Group C"]
    assert "Taken back: moved" in [
        groups("move", "light", "--into", "blue"), groups("--undo")
    ][-1].stdout  # fmt: skip
    assert "light" not in groups("flatten", "red").stdout
    for words in (["refine", "red"], ["flatten"], ["--names", "a,b"], ["--into", "red"]):
        assert "must" in groups(*words, ok=False).stderr
