"""The log on the command line, and a name that shall be gone."""

import json

from askmeans import sessions


def test_a_log_is_listed_and_a_name_replaced(askmeans, tmp_path):
    path = tmp_path / "s.db"
    with sessions.create(path, [[1.0], [2.0], [8.0]], n_clusters=2, random_state=0) as session:
        session.tell(session.ask(annotator="Ada")[0].id, {0: 0.75}, annotator="Ada")
    askmeans("undo", path, "--annotator", "Ada", cwd=tmp_path)
    listed = askmeans("audit", path, cwd=tmp_path).stdout.splitlines()
    assert listed[0] == f"database: {path}"
    assert "Ada  (python on " in listed[1]
    assert listed[1].endswith("answer question 1 Group A:0.75 (taken back)")
    assert "Ada  (command line on " in listed[2]
    assert listed[2].endswith("undo question 1 event 1")
    said = askmeans("pseudonym", path, "Ada", "--as", "A.", cwd=tmp_path).stdout
    assert "Called A. from now on" in said
    records = json.loads(askmeans("audit", path, "--json", cwd=tmp_path).stdout)["events"]
    assert [record["annotator"] for record in records] == ["A.", "A.", "me"]
    assert records[-1]["kind"] == "pseudonym"
    failed = askmeans("pseudonym", path, "Ada", cwd=tmp_path, ok=False)
    assert failed.returncode == 1
    assert "something by or for 'Ada'" in failed.stderr
