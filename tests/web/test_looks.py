"""The order and the colours of groups on the page, as owners choose them."""

import pytest

from askmeans import sessions
from askmeans.web import create_app
from askmeans.web.cards import Cards
from askmeans.web.drawing import colors_of
from askmeans.web.looks import Look


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(
        tmp_path / "s.db", ask="group", n_clusters=3, cluster_names=["a", "b", "c"]
    ) as made:
        yield made


def test_an_owner_chooses_order_and_colours_and_keys_follow_the_order(session, tools):
    with tools.using(create_app(session.url)) as client:
        base = {"token": tools.token_of(client), "back": "/groups",
                "session": client.app.state.context.assignments.mark}  # fmt: skip
        client.post("/look", data=base | {"group": 2, "move": "up"})
        client.post("/look", data=base | {"group": 0, "color": 7})
        page = client.get("/groups").text
        assert "The colour is saved." in page
        tiles = Cards(session).tiles()
        assert [f"{tile.key} {tile.group.name}" for tile in tiles] == ["1 a", "2 c", "3 b"]
        palette = colors_of(12)
        assert [tile.color for tile in tiles] == [palette[7], palette[2], palette[1]]
        client.post("/look", data=base | {"group": 2, "move": "up"})
        assert [tile.group.name for tile in Cards(session).tiles()] == ["c", "a", "b"]
        session.history.take_back(session.history.changes()[-1].event)
        assert [tile.group.name for tile in Cards(session).tiles()] == ["a", "c", "b"]
        assert session.groups.names == ["a", "b", "c"]  # those of the result's columns


def test_a_group_that_came_later_is_last_and_what_cannot_be_read_is_left_out(session):
    session.settings.set_option("group_look", "2:5 x 0:1:y 1 99 ٣")
    session.groups.add("d")
    groups = Look.of(session).arranged(session, session.groups, lambda group: group.number)
    assert [group.name for group in groups] == ["c", "b", "a", "d"]
    assert Look.of(session).colors(session)[2] == colors_of(12)[5]


def test_options_of_the_groups_page_leave_the_look_as_it_is(session, tools):
    session.settings.set_option("group_look", "1 0 2")
    with tools.using(create_app(session.url)) as client:
        base = {"token": tools.token_of(client), "back": "/groups", "purpose": "To sort.",
                "session": client.app.state.context.assignments.mark}  # fmt: skip
        client.post("/options", data=base)
    with sessions.open(session.url) as again:
        assert again.settings.options["purpose"] == "To sort."
        assert again.settings.options["group_look"] == "1 0 2"
