"""Answers taken in, in words for people."""

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.web import create_app


def test_the_known_answer_to_a_gold_question_is_told_where_the_owner_wants_it(tmp_path, tools):
    path = tmp_path / "gold.db"
    with sessions.create(path, [[float(row)] for row in range(15)], n_clusters=2, random_state=0,
                         cluster_names=["small", "large"]) as session:  # fmt: skip
        session.add_gold([Answer(round=0, kind="group", items=(14,), cluster=None, repeat=0,
                                 value=(0.0, 1.0))])  # fmt: skip
        session.set_option("gold_feedback", True)
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        assignments = client.app.state.context.assignments
        said = []
        for place in range(10):
            (question,) = assignments.session.ask(annotator="ann")
            said.append(assignments.give(question.id, "ann", f"k{place}", 0))
    assert [text for text in said if "known answer" in text] == said[-1:]
    assert said[-1].endswith("The known answer is “large”.")
