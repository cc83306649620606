"""Why an item is where it is: its memberships, and the answers behind them."""

import pytest

from askmeans.web.context import AppContext
from askmeans.web.item_pages import explain_item


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(
        tmp_path / "fruit.db", n_clusters=3, cluster_names=["a", "b", "c"], annotations=2
    ) as made:
        yield made


def test_an_item_tells_why_it_is_where_it_is(session):
    context = AppContext(session, 0.0)
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0.75, annotator="ann")
    view = context.result_views.latest(60.0)
    why = explain_item(session, question.items[0], view.result)
    assert why.summary.startswith("People placed this item")
    assert ("ann answered “¾”.",) in [reason.answers for reason in why.reasons]
    values = [reason.value for reason in why.reasons]
    assert values == sorted(values, reverse=True)
    other = next(row for row in range(6) if row != question.items[0])
    assert "Nobody was asked" in explain_item(session, other, view.result).summary
    context.result_views.close()


def test_an_item_that_was_added_since_the_last_result_has_no_reasons_yet(session):
    context = AppContext(session, 0.0)
    view = context.result_views.latest(60.0)
    session.add_rows([[7.0]], items=[{"name": "fig", "grams": 40.0, "kind": "other"}], ids=["fig"])
    assert explain_item(session, 5, view.result) is not None
    assert explain_item(session, 6, view.result) is None
    context.result_views.close()
