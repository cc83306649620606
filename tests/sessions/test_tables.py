"""Tables that a session gives away: all columns of the items beside their groups."""

import pytest

from askmeans import sessions
from askmeans.sessions.tables import spreadsheet_table
from askmeans.tables import apply_recipe, read_items

TEXTS = ["the parcel is late", "where is my parcel", "the lamp is broken", "the mug is broken"]
TABLE = {
    "topic": ["delivery", "delivery", "damage", "damage"],  # looks like labels: hidden
    "message": TEXTS,
    "price": [3, 5, 8, 13],
}


@pytest.fixture
def session(tmp_path):
    """Four messages whose topics annotators must not see."""
    items = read_items(TABLE)
    with sessions.create(tmp_path / "a.db", items, n_clusters=2, random_state=0) as session:
        yield session


def test_a_spreadsheet_has_hidden_columns_in_the_order_of_the_file(session):
    table = spreadsheet_table(session, session.result())
    assert table.columns[:5] == ["topic", "message", "price", "id", "group"]
    assert [row[:3] for row in table.rows] == [
        list(row) for row in zip(*TABLE.values(), strict=True)
    ]


def test_annotators_see_no_hidden_column_and_find_nothing_by_it(session):
    item = session.item(0)
    assert (item.text, item.fields) == (TEXTS[0], {"price": 3})
    assert "topic" not in session.rows.shown
    assert session.rows.find("delivery") == []


def test_rows_that_are_added_bring_their_hidden_columns_if_they_have_them(session):
    recipe = read_items(TABLE).recipe
    for table in (
        {"message": ["a broken pan"], "topic": ["damage"], "price": [2]},
        {"price": [1], "message": ["no parcel came"]},
    ):
        items = apply_recipe(recipe, table)
        session.add_rows(items.features, items=items.table)
    rows = spreadsheet_table(session, session.result()).rows
    assert [row[:3] for row in rows[4:]] == [
        ["damage", "a broken pan", 2],
        [None, "no parcel came", 1],
    ]
    assert [session.item(row).fields for row in (4, 5)] == [{"price": 2}, {"price": 1}]


def test_a_display_given_besides_has_no_hidden_columns(tmp_path):
    records = [
        {"message": text, "topic": topic} for text, topic in zip(TEXTS, TABLE["topic"], strict=True)
    ]
    items = read_items(TABLE)
    with sessions.create(tmp_path / "b.db", items, n_clusters=2, items=records) as session:
        assert session.item(0).fields == {"topic": "delivery"}
