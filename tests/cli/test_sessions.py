"""Session commands: what they print, what they refuse, and that nothing is lost on the way."""

import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pexpect
import pytest
from PIL import Image

from askmeans import sessions
from askmeans.cli import main
from askmeans.cli.questions import card_of
from askmeans.queries import Answer

COMMAND = Path(sys.executable).parent / "askmeans"
DATABASES = Path(__file__).parents[1] / "sessions" / "databases"


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a command in this process; returns its exit code, output and errors."""
    monkeypatch.chdir(folder)

    def command(*words, text_in=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text_in))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        streams = capsys.readouterr()
        return end.value.code or 0, streams.out, streams.err

    return command


@pytest.fixture
def made(run, folder):
    """A session about Iris."""
    code, _, errors = run(
        "init", "s.db", "iris.csv", "-k", 3, "--id", "flower", "--show", "petal_length,species",
        "--budget", 40, "--names", "setosa,versicolor,virginica", "--ask", "membership",
    )  # fmt: skip
    assert code == 0, errors
    return folder / "s.db"


def asked(run, *words):
    """Questions as JSON."""
    return json.loads(run("ask", "s.db", "--json", *words)[1])


def test_init_prints_where_it_is_and_what_to_expect(run, folder):
    code, out, _ = run(
        "init", "s.db", "iris.csv", "-k", 3, "--ask", "similarity", "--show", "species",
        "--budget", 200, "--seconds-per-question", 6,
    )  # fmt: skip
    assert code == 0
    assert f"database: {folder}/s.db" in out
    assert "about 200 questions in" in out
    assert "20 minutes" in out
    assert "petal_width   number    feature\n" in out
    why = "looks like labels; name it as a feature to cluster by it"
    assert f"species       category  shown     {why}\n" in out
    assert "flower        id        left out  a different value in every row\n" in out
    code, _, errors = run("init", "s.db", "iris.csv", "-k", 3)
    assert code == 1
    assert "--name" in errors
    assert "askmeans answer" in errors
    session = sessions.open(folder / "s.db")
    assert (session.config.ask, session.config.budget) == ("similarity", 200)
    assert session.item(0).fields == {"species": "setosa"}
    assert not [name for name in session.config.feature_names if "species" in name]


def test_init_keeps_ids_scale_texts_and_images(run, folder):
    frame = pd.read_csv(folder / "iris.csv")
    frame["story"] = ["a flower " * (1 + row % 3) for row in range(150)]
    frame["picture"] = [f"{name}.png" for name in frame["flower"]]
    for row, name in enumerate(frame["picture"]):
        Image.new("RGB", (8, 8), (row, 0, 0)).save(folder / name)
    frame.to_csv(folder / "more.csv", index=False)
    code, out, errors = run(
        "init", "s.db", "more.csv", "-k", 3, "--id", "flower", "--text", "story", "--image",
        "picture", "--scale", "standard", "--annotations", 2, "--name", "flowers", "--json",
        "--features", ",".join(frame.columns[1:]),
    )  # fmt: skip
    assert code == 0, errors
    report = json.loads(out)
    assert (report["database"], report["session"]) == (str(folder / "s.db"), "flowers")
    session = sessions.open(folder / "s.db")
    item = session.item(3)
    assert (item.id, item.image, item.text[:8]) == ("f3", "f3.png", "a flower")
    assert session.rows.folder == str(folder)
    assert session.config.annotations == 2
    place = session.config.feature_names.index("sepal_length")
    middle, width = np.array(session.config.units)[:, place]
    assert middle == pytest.approx(frame["sepal_length"].mean())
    # A third of the variance is the table's; its five columns have a fifth of that each.
    assert (frame["sepal_length"].std(ddof=0) / width) ** 2 == pytest.approx(1 / 5)


def test_questions_are_asked_and_told(run, made):
    code, out, _ = run("ask", "s.db")
    assert code == 0
    assert f"database: {made}" in out
    assert "How much does it belong to virginica?" in out
    assert "petal_length = " in out
    (question,) = asked(run)["questions"]
    assert question["cluster_name"] == "virginica"
    assert question["shown"][0]["id"].startswith("f")
    code, out, _ = run("tell", "s.db", question["id"], "25%", "--key", "k1")
    assert (code, "Kept: 0.25 to question" in out) == (0, True)
    code, out, _ = run("tell", "s.db", question["id"], "25%", "--key", "k1")
    assert (code, "as before" in out) == (0, True)
    code, _, errors = run("tell", "s.db", question["id"], "30%", "--key", "k1")
    assert (code, "use a new key" in errors) == (1, True)
    following = asked(run)["questions"][0]["id"]
    assert following != question["id"]
    assert "skip" in run("tell", "s.db", following, "skip")[1]
    assert "'cannot say'" in run("tell", "s.db", asked(run)["questions"][0]["id"], "?")[1]
    for wrong in ("1.5", "much"):
        assert run("tell", "s.db", following, wrong)[0] == 1
    for wrong in ("first", "²", 10**400):
        assert run("tell", "s.db", wrong, "0.5")[0] == 1
    assert run("tell", "s.db", 5)[0] == 2
    out = run("undo", "s.db", "--json")[1]


def test_a_question_shows_exemplars_of_its_group_and_never_the_item_itself(run, folder):
    run("init", "s.db", "iris.csv", "-k", 3, "--id", "flower", "--show", "petal_length")
    with sessions.open(folder / "s.db") as session:
        shown = session.exemplars(0, n=2)
        for group in range(3):  # every exemplar is an item that is asked about
            session.import_answers(
                Answer(round=0, kind="membership", items=(row,), cluster=group, repeat=0, value=1.0)
                for row in session.exemplars(group, n=4)
            )
        question = sessions.Question(id=1, kind="membership", items=(shown[0],), cluster=0)
        first, second = (session.item(row).id for row in shown)
        text = card_of(session, question, session.groups).text.splitlines()[-1]
    assert "Group A" in text
    assert second in text
    assert first not in text.replace(second, "")


def test_the_database_may_come_from_the_environment(run, made, monkeypatch):
    monkeypatch.setenv("ASKMEANS_DB", str(made))
    number = json.loads(run("ask", "--json")[1])["questions"][0]["id"]
    assert run("tell", number, 1)[0] == 0
    assert "answered: 1 of a budget of 40" in run("status")[1]


def test_two_annotators_get_different_questions(run, made):
    assert made.exists()
    one, two = (asked(run, "--annotator", name, "-n", 2)["questions"] for name in ("ann", "bob"))
    assert not {q["id"] for q in one} & {q["id"] for q in two}


def test_status_tells_answered_left_rounds_annotators_and_error(run, made):
    for name in ("ann", "ann", "bob"):
        number = asked(run, "--annotator", name)["questions"][0]["id"]
        run("tell", made, number, 1, "--annotator", name)
    code, out, _ = run("status", "s.db")
    assert code == 0
    for part in (
        f"database: {made}", "session: main, asking", "answered: 3 of a budget of 40",
        "left: 37 to 37 questions", "ann: answer 2", "bob: answer 1",
        "clusters: setosa; versicolor; virginica",
    ):  # fmt: skip
        assert part in out, part
    report = json.loads(run("status", "s.db", "--json")[1])
    assert (report["answered"], report["state"]) == (3, "asking")


def test_status_tells_what_cannot_all_be_true_in_words(run, made):
    with sessions.open(made) as session:
        for cluster in (0, 1):
            question = session.add_question("membership", (0,), cluster, annotator="ann")
            run("tell", made, question.id, 1, "--annotator", "ann")
    _, out, _ = run("status", "s.db")
    assert "contradictions: 1\n" in out
    assert ": 1 in setosa, 1 in versicolor is more than the whole." in out
    (conflict,) = json.loads(run("status", "s.db", "--json")[1])["contradictions"]
    assert [answer["value"] for answer in conflict["answers"]] == [1.0, 1.0]


@pytest.mark.parametrize("command", ["status", "ask", "answer", "export", "undo", "pause"])
def test_a_path_where_nothing_is_stays_empty(run, folder, command):
    before = sorted(folder.iterdir())
    code, _, errors = run(command, "none.db")
    assert code == 1
    assert f"There must be a database at {folder}/none.db" in errors
    assert sorted(folder.iterdir()) == before


def test_answers_are_given_in_the_terminal_one_after_the_other(run, made):
    code, out, _ = run("answer", "s.db", text_in="1\n0\nu\n50%\nrubbish\n?\ns\nq\n")
    assert code == 3
    assert out.count("How much does it belong to") == 8
    assert "'rubbish' is not an answer" in out
    assert "Stopped; your answers are kept." in out
    with sessions.open(made) as session:
        told = [(receipt.kind, receipt.value) for receipt in session.history.answers()]
        assert session.status().leased == 0  # who stops holds nothing
    assert told == [("answer", 1.0), ("answer", 0.5), ("unsure", None), ("skip", None)]
    code, out, _ = run("answer", "s.db", text_in="1\n" * 50)
    assert code == 0
    assert "40 questions answered; budget spent." in out


def test_an_answer_off_the_scale_is_refused_in_the_terminal_and_asked_again(run, folder):
    run("init", "s.db", "iris.csv", "-k", 2, "--levels", 5, "--ask", "membership")
    code, out, _ = run("answer", "s.db", text_in=".3\n.25\nq\n")
    assert code == 3
    assert "one of the 5 points of the session's scale" in out
    assert "Group A (items like: " in out
    with sessions.open(folder / "s.db") as session:
        assert [receipt.value for receipt in session.history.answers()] == [0.25]


def test_waiting_for_others_is_no_interruption(run, made):
    with sessions.open(made) as session:
        session.settings.set_budget(1)
        session.ask(annotator="bob")
        code, out, _ = run("answer", "s.db", "--annotator", "ann")
    assert "waiting for others" in out
    assert code == 0


def test_answering_survives_a_kill_of_the_terminal(made):
    child = pexpect.spawn(str(COMMAND), ["answer", str(made)], encoding="utf8", timeout=60)
    for reply in ("1", "0.5"):
        child.expect(r"\[0\.\.1, \?, s, u, q\] ")
        child.sendline(reply)
    child.expect(r"Question 3")
    child.kill(9)
    with sessions.open(made) as session:
        assert [receipt.value for receipt in session.history.answers()] == [1.0, 0.5]


def test_results_are_exported_by_id_in_every_format(run, made):
    run("answer", "s.db", text_in="1\n0\n?\n" * 20)
    code, _, _ = run("export", "s.db")
    assert code == 0
    memberships = pd.read_csv(made.parent / "s.memberships.csv")
    own = pd.read_csv(made.parent / "iris.csv").columns
    assert memberships.columns.tolist() == [
        *own, "id", "group", "share", "confidence", "decided_by",
        "setosa", "versicolor", "virginica",
    ]  # fmt: skip
    clear = memberships.dropna(subset="group")  # the others belong to each alike
    assert clear["group"].tolist() == list(clear.iloc[:, -3:].idxmax(axis=1))
    assert memberships["id"].tolist() == [f"f{i}" for i in range(150)]
    assert np.allclose(memberships.iloc[:, -3:].sum(axis=1), 1.0)
    centers = pd.read_csv(made.parent / "s.centers.csv")
    assert centers["cluster"].tolist() == ["setosa", "versicolor", "virginica"]
    answers = pd.read_csv(made.parent / "s.answers.csv")
    assert len(answers) == 40
    assert (answers["note"] == "cannot say").sum() == answers["value"].isna().sum() > 0
    assert run("export", "s.db")[0] == 1  # would overwrite
    assert run("export", "s.db", "--force", "--format", "parquet", "--out", "r")[0] == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet(made.parent / "r.memberships.parquet"), memberships, check_dtype=False
    )
    report = json.loads(run("export", "s.db", "--format", "json", "--json")[1])
    whole = json.loads(Path(report["files"]["all"]).read_text())
    assert set(whole) == {"complete", "state", "basis", "memberships", "centers", "answers"}
    assert whole["state"] == "budget spent"


def test_centers_are_told_in_the_datas_own_units(run, folder):
    run("init", "s.db", "iris.csv", "-k", 1, "--id", "flower", "--scale", "standard")
    assert "all done" in run("status", "s.db")[1]
    run("export", "s.db")
    centers = pd.read_csv(folder / "s.centers.csv")
    truth = pd.read_csv(folder / "iris.csv")
    assert abs(centers["sepal_length"][0] - truth["sepal_length"].mean()) < 0.1


def test_answers_go_from_one_session_to_another(run, made):
    run("answer", "s.db", text_in="1\n0\n?\n" * 3 + "q\n")
    run("export", "s.db")
    before = (made.parent / "s.answers.csv").read_bytes()
    run("init", "t.db", "iris.csv", "-k", 3, "--id", "flower", "--names",
        "setosa,versicolor,virginica")  # fmt: skip
    code, out, errors = run("import", "t.db", "s.answers.csv")
    assert (code, "9 answers imported" in out) == (0, True), errors
    assert "0 answers imported, 9 were there already" in run("import", "t.db", "s.answers.csv")[1]
    assert (made.parent / "s.answers.csv").read_bytes() == before
    (made.parent / "own.csv").write_text("item,cluster,value\nf0,0,1.0\nf1,0,25%\n")
    code, _, errors = run("import", "t.db", "own.csv")
    assert (code, "line 3" in errors) == (1, True)
    with sessions.open("t.db") as session:
        assert session.status().held == 9  # all or none


@pytest.mark.filterwarnings("always")
def test_export_and_import_leave_what_counts_as_it_was(run, made):
    iris = ("iris.csv", "-k", 3, "--id", "flower", "--names", "setosa,versicolor,virginica",
            "--ask", "membership")  # fmt: skip
    run("init", "two.db", *iris, "--annotations", 2)
    for path, told in (("s.db", {"ann": 0.9, "bob": 0.1}), ("two.db", {"ann": 0.8, "bob": 0.2})):
        with sessions.open(path) as session:
            (question,) = session.ask(annotator="ann")
            for name, value in told.items():
                session.tell(question.id, value, annotator=name)
            unsure = session.ask(annotator="ann")[0]
            session.unsure(unsure.id, annotator="ann")
            session.tell(unsure.id, 0.3, annotator="bob")
            before = session.result()
        run("export", path, "--out", "e", "--force")
        run("init", "new.db", *iris, "--name", path)
        assert run("import", "new.db", "e.answers.csv", "--name", path)[0] == 0
        with sessions.open("new.db", path) as session:
            after = session.result()
        assert [(answer.annotator, answer.value) for answer in after.history] == [
            ("ann", told["ann"]), ("bob", told["bob"]), ("ann", pytest.approx(np.nan, nan_ok=True)),
            ("bob", 0.3),
        ]  # fmt: skip
        assert np.array_equal(after.memberships, before.memberships)
    again = run("import", "two.db", "e.answers.csv")[1]
    assert "0 answers imported, 4 were there already." in again
    (made.parent / "own.csv").write_text("item,cluster,value\nf0,0,1.0\nf0,0,0.5\n")
    code, _, errors = run("import", "new.db", "own.csv", "--name", "s.db")
    assert (code, "line 3: 0.5 replaces 1" in errors) == (0, True), errors


@pytest.mark.parametrize("file", ["none.csv", "s.db"])
def test_import_of_what_is_no_file_of_answers_says_so(run, made, file):
    code, _, errors = run("import", "s.db", file)
    assert (code, "must be a" in errors) == (1, True)
    with sessions.open(made) as session:
        assert session.history.answers() == []


def test_undo_says_what_counts_now(run, made):
    number = asked(run, "--annotator", "ann")["questions"][0]["id"]
    with sessions.open(made) as session:
        session.tell(number, 0.75, annotator="ann")
        session.tell(number, 0.25, annotator="bob")
    out = run("undo", "s.db", "--annotator", "ann")[1]
    assert "0.25 counts now, unless you answer again" in out
    assert "open again" not in out
    assert "is open again" in run("undo", "s.db", "--annotator", "bob")[1]


def test_import_tells_what_had_been_answered_otherwise(run, made):
    number = asked(run)["questions"][0]
    (made.parent / "own.csv").write_text(
        f"item,cluster,value\n{number['shown'][0]['id']},{number['cluster']},0.25\n"
    )
    run("tell", "s.db", number["id"], 0.75)
    out = run("import", "s.db", "own.csv")[1]
    assert "0 answers imported, 0 were there already." in out
    assert "1 had another answer here; those answers stay." in out


def test_rows_are_added_and_clusters_renamed(run, made):
    frame = pd.read_csv(made.parent / "iris.csv").head(4)
    frame["flower"] = ["n0", "n1", "n2", "n3"]
    frame.to_csv(made.parent / "new.csv", index=False)
    code, out, errors = run("add", "s.db", "new.csv", "--id", "flower")
    assert (code, "4 rows added; 154 items" in out) == (0, True), errors
    assert run("add", "s.db", "new.csv", "--id", "flower")[0] == 1  # the same ids again
    assert "  1  good" in run("groups", "s.db", "--rename", 1, "good")[1]
    run("export", "s.db")
    memberships = pd.read_csv(made.parent / "s.memberships.csv")
    assert memberships["id"].tolist()[-1] == "n3"
    assert "good" in memberships.columns


@pytest.mark.parametrize("name", ["virginica", " virginica ", "id"])
def test_a_name_that_would_double_a_column_of_the_export_is_refused(run, made, name):
    code, _, errors = run("groups", "s.db", "--rename", 1, name)
    assert (code, errors.count("\n"), name.strip() in errors) == (1, 1, True), errors
    run("export", "s.db")
    columns = pd.read_csv(made.parent / "s.memberships.csv").columns
    assert columns.tolist()[-3:] == ["setosa", "versicolor", "virginica"]
    assert columns.is_unique


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_export_does_not_follow_a_link_laid_in_its_way(run, made, kind):
    file = f"s.answers.{kind}"
    precious = made.parent / "precious"
    precious.write_text("mine")
    (made.parent / f"{file}.{os.getpid()}.part").symlink_to(precious)
    code, _, errors = run("export", "s.db", "--format", kind)
    assert code == 0, errors
    assert precious.read_text() == "mine"
    assert not (made.parent / file).is_symlink()


def test_who_waits_is_told_for_whom_and_how_long(run, made):
    assert made.exists()
    run("budget", "s.db", 1)
    run("ask", "s.db", "--annotator", "ann")
    code, out, _ = run("ask", "s.db", "--annotator", "bob")
    assert code == 3
    assert "No question for bob: waiting for others." in out
    assert "ann has question 1, for up to 10 min more" in out
    holding = json.loads(run("status", "s.db", "--json")[1])["holding"]
    assert {each["annotator"] for each in holding} == {"ann"}
    assert "ann has question 1" in run("answer", "s.db", "--annotator", "bob")[1]
    run("budget", "s.db", 40)
    run("ask", "s.db", "-n", 40, "--annotator", "ann")
    told = run("status", "s.db")[1]
    assert "ann has questions 1, 2, 3, 4, 5 and 35 more, for up to 10 min more" in told
    assert run("ask", "s.db", "--annotator", "bob")[0] == 0  # one of so many is bob's now


def test_a_budget_is_raised(run, made):
    with sessions.open(made) as session:
        for question in session.ask(40):
            session.tell(question.id, 0.5)
    assert "budget spent" in run("ask", "s.db")[1]
    code, out, _ = run("budget", "s.db", 300)
    assert (code, "40 of a budget of 300 answered; asking." in out) == (0, True)
    assert run("ask", "s.db")[0] == 0
    code, _, errors = run("budget", "s.db", "many")
    assert (code, "N must be a number" in errors) == (1, True)
    assert "of a budget of 300" in run("status", "s.db")[1]


def test_a_session_whose_name_is_no_files_is_exported_where_out_says(run, made):
    with sqlite3.connect(made) as connection:  # as the first version let it be called
        connection.execute("UPDATE askmeans_sessions SET name = 'a/b'")
    connection.close()
    code, _, errors = run("export", "s.db", "--name", "a/b")
    assert (code, "name the files with --out" in errors) == (1, True), errors
    assert run("export", "s.db", "--name", "a/b", "--out", "ab")[0] == 0
    code, _, errors = run("init", "s.db", "iris.csv", "-k", 3, "--name", "a/c")
    assert (code, "without slashes" in errors) == (1, True), errors


@pytest.mark.parametrize(
    "words",
    [
        ("init", "sqlite:///.", "iris.csv", "-k", 3),
        ("init", "new.db", ".", "-k", 3),
        ("status", "."),
        ("add", "s.db", "."),
        ("import", "s.db", "."),
        ("fit", ".", "-k", 3),
        ("fit", "iris.csv", "-k", 3, "--answers", "."),
    ],
)
def test_a_folder_where_a_file_must_be_is_told_in_a_sentence(run, made, words):
    assert made.exists()
    code, _, errors = run(*words)
    assert (code, "must be" in errors, "folder" in errors) == (1, True, True), errors


def test_a_read_only_folder_is_told_in_a_sentence(run, made):
    # In a child without root's powers, whom permissions do not bind.
    # All that is needed is loaded and compiled before.
    assert run("init", "new.db", "iris.csv", "-k", 3, "--names", "a,b,c")[0] == 0
    assert run("export", "s.db")[0] == 0
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        for file in ("s.db", "iris.csv"):
            os.chmod(shutil.copy(made.parent / file, place), 0o666)
        os.mkdir(f"{place}/read-only", 0o555)
        child = os.fork()
        if child == 0:
            try:
                os.chdir(place)
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                sys.stderr = io.StringIO()
                for words in (
                    ["init", "read-only/new.db", "iris.csv", "-k", "3", "--names", "a,b,c"],
                    ["backup", "s.db", "read-only/kept.db"],
                    ["export", "s.db", "--out", "read-only/x"],
                ):
                    with suppress(SystemExit):
                        main(words)
                Path("said").write_text(sys.stderr.getvalue())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        lines = Path(place, "said").read_text().splitlines()
    told = [line for line in lines if "warning" not in line]
    assert len(told) == 3, lines
    for line in told:
        assert "read-only/" in line, line
        assert "and its folder must be" in line
        assert "(chmod" in line


def test_a_paused_session_hands_out_nothing(run, made):
    assert made.exists()
    assert "Paused" in run("pause", "s.db")[1]
    code, out, _ = run("ask", "s.db")
    assert (code, "No question for me: paused." in out) == (3, True)
    run("pause", "s.db", "--off")
    assert run("ask", "s.db")[0] == 0


def test_a_backup_has_every_answer_while_people_answer(run, made):
    with sessions.open(made) as session:  # so that answers are still in the write-ahead log
        for value in (0.25, 0.5, 0.75):
            session.tell(session.ask()[0].id, value)
        code, out, errors = run("backup", "s.db", "kept.db")
        assert (code, f"backup: {made.parent}/kept.db" in out) == (0, True), errors
        with sessions.open(made.parent / "kept.db") as kept:
            assert kept.history.answers() == session.history.answers()
    assert {path.name for path in made.parent.glob("kept*")} == {"kept.db"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("s.db", "iris.csv"), "iris.csv must not exist yet"),
        (("s.db", "s.db"), "s.db must not exist yet"),
        (("s.db", "nowhere/kept.db"), "nowhere must be a folder"),
        (("none.db", "kept.db"), "There must be a database at"),
        (("iris.csv", "kept.db"), "must be an SQLite database"),
    ],
)
def test_a_backup_overwrites_nothing_and_is_of_a_database(run, made, words, message):
    before = sorted((path, path.read_bytes()) for path in made.parent.iterdir())
    code, _, errors = run("backup", *words)
    assert (code, message in errors) == (1, True), errors
    assert sorted((path, path.read_bytes()) for path in made.parent.iterdir()) == before


def test_upgrading_what_is_up_to_date_does_nothing(run, made):
    code, out, _ = run("upgrade", "s.db")
    assert (code, f"database: {made}" in out, "Nothing to do" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--show", "nothing"), "There must be a column 'nothing'"),
        (("--text", "nothing"), "There must be a column 'nothing'"),
        (("--features", "species:colour"), "must call column 'species' one of number"),
        (("--names", "a,b"), "--names must be"),
        (("--names", "a,b,a"), "--names must be"),
        (("--names", "a,id,b"), "--names must be"),
        (("--budget", "0"), "--budget must be"),
        (("--seed", "-1"), "--seed must be"),
    ],
)
def test_a_refused_init_makes_nothing(run, folder, words, message):
    code, _, errors = run("init", "s.db", "iris.csv", "-k", 3, *words)
    assert (code, message in errors) == (1, True), errors
    assert not (folder / "s.db").exists()


def test_which_of_two_is_more_alike_is_asked_told_exported_and_taken_in(run, folder):
    run("init", "s.db", "iris.csv", "-k", 3, "--id", "flower", "--ask", "relative", "--budget", 6)
    (question,) = asked(run)["questions"]
    one, a, b = (item["id"] for item in question["shown"])
    out = run("ask", "s.db")[1]
    assert f"  item {one}: " in out
    assert f"  a: item {a}: " in out
    assert "Is the first more like a or like b?" in out
    code, _, errors = run("tell", "s.db", question["id"], "2")
    assert code == 1
    assert "VALUE must be a or b, whichever the first is more like" in errors
    assert "Kept: 0 to question" in run("tell", "s.db", question["id"], "b")[1]
    code, out, _ = run("answer", "s.db", text_in="a\nboth\nb\n?\na\n")
    assert code == 0
    assert "[a, b, both, ?, s, u, q]" in out
    run("export", "s.db")
    rows = pd.read_csv(folder / "s.answers.csv", keep_default_na=False)
    assert set(rows["kind"]) == {"relative"}
    assert rows.loc[0, ["item", "item_2", "item_3", "value"]].tolist() == [one, a, b, "0.0"]
    run("init", "t.db", "iris.csv", "-k", 3, "--id", "flower", "--ask", "relative")
    assert "6 answers imported" in run("import", "t.db", "s.answers.csv")[1]
    with sessions.open(folder / "s.db") as mine, sessions.open(folder / "t.db") as other:
        told = [
            [
                (session.question(each.question).items, each.value)
                for each in session.history.answers()
            ]
            for session in (mine, other)
        ]
    assert sorted(told[0]) == sorted(told[1])


def test_a_session_of_a_paper_strategy_is_refused_and_its_answers_exported(run, made, folder):
    number = asked(run)["questions"][0]["id"]
    run("tell", "s.db", number, 0.25, "--annotator", "ann")
    run("groups", "s.db", "--rename", "virginica", "iris 1")
    run("export", "s.db", "--out", "whole")
    with sqlite3.connect(made) as connection:
        connection.execute(
            "UPDATE askmeans_sessions SET config = json_set(config, '$.strategy', json(?))",
            ('{"kind": "TwoPhase", "sample_size": 100, "precision": 0.1}',),
        )
    connection.close()
    for command in ("status", "ask", "answer"):
        code, _, errors = run(command, "s.db")
        assert code == 1
        assert "which askmeans 0" in errors
        assert "with TwoPhase: that version can go on with it" in errors
        assert f"askmeans export {made}" in errors
    code, out, errors = run("export", "s.db")
    assert (code, "with TwoPhase" in errors) == (0, True)
    assert out.endswith(f"answers: {made.with_name('s.answers.csv')}\n")
    written = (folder / "s.answers.csv").read_text()
    assert written == (folder / "whole.answers.csv").read_text()
    assert "iris 1" in written
    names = ("--names", "setosa,versicolor,iris 1")
    run("init", "new.db", "iris.csv", "-k", 3, "--id", "flower", "--ask", "membership", *names)
    assert "1 answers imported" in run("import", "new.db", "s.answers.csv")[1]
    code, _, errors = run("export", "s.db", "--format", "argilla")
    assert (code, "with TwoPhase" in errors) == (1, True)


def test_the_answers_of_a_database_of_a_version_with_paper_strategies_are_exported(run, folder):
    shutil.copy(DATABASES / "paper-strategy.db", folder / "old.db")
    code, _, errors = run("status", "old.db")
    assert (code, "with TwoPhase: that version can go on with it" in errors) == (1, True)
    code, out, errors = run("export", "old.db", "--json")
    assert (code, list(json.loads(out)["files"])) == (0, ["answers"]), errors
    answers = pd.read_csv(folder / "old.answers.csv")
    assert answers[["annotator", "value"]].values.tolist() == [
        ["held", 0.0], ["ann", 0.75], ["bob", 0.5],
    ]  # fmt: skip
    assert run("export", "old.db", "--format", "json")[0] == 0
    assert len(json.loads((folder / "old.answers.json").read_text())["answers"]) == 3
    code, _, errors = run("export", "old.db")
    assert (code, "old.answers.csv" in errors) == (1, True)  # it is there already


def test_sessions_have_no_strategy_to_choose(run, folder):
    code, _, errors = run("init", "p.db", "iris.csv", "-k", 3, "--strategy", "two-phase")
    assert (code, (folder / "p.db").exists()) == (2, False)
    assert "No such option: --strategy" in errors


def test_answers_about_rows_that_were_added_are_imported(run, made):
    frame = pd.read_csv(made.parent / "iris.csv").head(2)
    frame.assign(flower=["n0", "n1"]).to_csv(made.parent / "new.csv", index=False)
    run("add", "s.db", "new.csv", "--id", "flower")
    (made.parent / "own.csv").write_text("item,cluster,value\nn1,setosa,1.0\n")
    code, out, errors = run("import", "s.db", "own.csv")
    assert (code, "1 answers imported" in out) == (0, True), errors
    with sessions.open(made) as session:
        assert session.result().memberships[151, 0] == 1.0
