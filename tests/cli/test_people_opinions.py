"""Several opinions on the command line."""

import json

from askmeans import sessions


def test_agreement_is_told_and_a_question_decided(askmeans, tmp_path):
    path = tmp_path / "s.db"
    with sessions.create(path, [[1.0], [2.0], [8.0]], n_clusters=2, annotations=2, random_state=0,
                         items=["pea", "bean", "melon"], cluster_names=["small", "large"]
                         ) as session:  # fmt: skip
        said = askmeans("agreement", path, cwd=tmp_path).stdout
        assert "Nothing to compare yet" in said
        for row, values in ((0, (0, 0)), (1, (0, 1)), (2, (1, 1))):
            question = session.add_question("group", (row,), None)
            for name, value in zip(("Ada", "Bo"), values, strict=True):
                session.tell(question.id, value, annotator=name)
    lines = askmeans("agreement", path, cwd=tmp_path).stdout.splitlines()
    assert lines[1] == "Krippendorff's alpha: 0.444, of 3 questions"
    assert "  Ada and Bo: 0.33 apart, 3 questions" in lines
    assert lines[-1] == "question 2 (bean): Ada: small; Bo: large"
    askmeans("adjudicate", path, "2", "small", cwd=tmp_path)
    report = json.loads(askmeans("agreement", path, "--json", cwd=tmp_path).stdout)
    assert report["disagreements"][0]["decided"] == [1.0, 0.0]
    said = askmeans("adjudicate", path, "2", "back", cwd=tmp_path).stdout
    assert "the answers count again" in said
    failed = askmeans("adjudicate", path, "2", "?", cwd=tmp_path, ok=False)
    assert "VALUE must be an answer" in failed.stderr


def test_annotations_from_two_to_four_are_a_session_s(askmeans, tmp_path):
    (tmp_path / "d.csv").write_text("a\n1\n2\n8\n9\n")
    askmeans("init", "s.db", "d.csv", "-k", "2", "--annotations", "2-4", cwd=tmp_path)
    with sessions.open(tmp_path / "s.db") as session:
        assert (session.config.annotations, session.config.most_annotations) == (2, 4)
    failed = askmeans("init", "t.db", "d.csv", "-k", "2", "--annotations", "two", cwd=tmp_path,
                      ok=False)  # fmt: skip
    assert failed.returncode == 2


def test_gold_answers_are_taken_in_and_told_of(askmeans, tmp_path, monkeypatch):
    path = tmp_path / "s.db"
    with sessions.create(path, [[float(i)] for i in range(15)], n_clusters=2, random_state=0,
                         cluster_names=["small", "large"]) as session:  # fmt: skip
        (tmp_path / "gold.csv").write_text("item,value\n14,large\n")
        said = askmeans("gold", path, "gold.csv", "--feedback", cwd=tmp_path).stdout
        assert "1 gold questions added, 0 were there already." in said
        assert "No gold question has been answered yet." in said
        receipts = [
            session.tell(session.ask(annotator="Ada")[0].id, "small", annotator="Ada")
            for _ in range(10)
        ]
        assert {receipt.gold for receipt in receipts} == {None, (0.0, 1.0)}
    monkeypatch.setenv("ASKMEANS_DB", str(path))
    assert "Ada: 1 gold questions, 1.00 off on average" in askmeans("gold", cwd=tmp_path).stdout
    told = json.loads(askmeans("gold", "gold.csv", "--json", cwd=tmp_path).stdout)
    assert (told["new"], told["existing"]) == (0, 1)
    assert told["people"] == {"Ada": {"questions": 1, "difference": 1.0}}
    (tmp_path / "odd.csv").write_text("id,group\n14,large\n")
    odd = askmeans("gold", "odd.csv", cwd=tmp_path, ok=False).stderr
    assert "columns item and value (a group)" in odd
    assert "Got id, group instead" in odd
    monkeypatch.delenv("ASKMEANS_DB")
    assert askmeans("gold", cwd=tmp_path, ok=False).returncode == 2
