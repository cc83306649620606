"""Cards to practise on, and what is there before anybody has answered."""

import pytest

from askmeans import sessions
from askmeans.cli.example_data import make_faces_session
from askmeans.datasets import make_faces
from askmeans.datasets.pictures import MOODS
from askmeans.web import create_app
from askmeans.web.cards import Cards


def test_a_fresh_demo_has_right_examples_and_three_practice_cards(tmp_path, tools):
    make_faces_session(tmp_path / "faces.db")
    moods = make_faces().memberships.argmax(axis=1)
    with sessions.open(tmp_path / "faces.db") as session:
        assert session.settings.options["purpose"]
        assert session.settings.options["guidelines"]
        cards = Cards(session)
        for tile in cards.tiles():
            assert [MOODS[moods[each.row]] for each in tile.examples] == [tile.group.name] * 3
        assert len(Cards(session).practice_items()) == 3
        for row, group in cards.practice_items():
            assert MOODS[moods[row]] == group.name
            assert row not in {each.row for tile in cards.tiles((row,)) for each in tile.examples}
    with tools.using(create_app(tmp_path / "faces.db")) as client:
        assert "Practice card 3 of 3" in client.get("/practice?card=3").text
        assert client.get("/practice?card=4").headers["location"] == "/"


def test_nobody_practises_where_nothing_is_known_of_the_groups(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", ask="group") as session:
        session.result()  # of which no column is one of the named groups yet
        assert Cards(session).practice_items() == []
        assert all(tile.examples == () for tile in Cards(session).tiles())


@pytest.fixture
def unnamed(tmp_path):
    """A session of two plain groups that nobody named, and nobody answered."""
    X = [[float(row // 6) * 9.0, float(row % 6)] for row in range(12)]
    path = tmp_path / "unnamed.db"
    sessions.create(path, X, n_clusters=2, random_state=0).close()
    return path


def test_examples_that_nobody_chose_are_marked_as_guesses_until_somebody_does(unnamed, tools):
    with tools.using(create_app(unnamed)) as client:
        session = client.app.state.context.session
        cards = client.app.state.context.cards
        for page, marks in (("/", 2), ("/groups", 2)):
            assert client.get(page).text.count("our guess") == marks
        assert "2 groups. What would you call them?" in client.get("/welcome").text
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, 0, annotator="ann")
        pinned = next(row for row in range(12) if row not in question.items)
        session.groups.pin(1, pinned)
        first, second = cards.tiles()
        assert [view.row for view in first.examples] == list(question.items)  # and no guess beside
        assert [view.row for view in second.examples] == [pinned]
        for page in ("/", "/welcome", "/groups"):
            assert "our guess" not in client.get(page).text


def test_a_membership_stands_beside_a_marked_guess_until_somebody_placed_an_item(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", cluster_names=None, ask="membership") as session:
        cards = Cards(session)
        (question,) = session.ask(annotator="ann")
        assert cards.card(question, "ann").tile.is_guess
        session.tell(question.id, 1.0, annotator="ann")
        other = sessions.Question(
            id=99, kind="membership", items=((question.items[0] + 1) % 6,), cluster=question.cluster
        )
        card = cards.card(other, "ann")
        assert ([view.row for view in card.tile.examples], card.tile.is_guess) == (
            list(question.items),
            False,
        )


def test_practice_never_calls_a_guess_true(unnamed):
    with sessions.open(unnamed) as session:
        assert Cards(session).practice_items() == []
        told = {0: [0, 1], 1: [6, 7]}
        for group, rows in told.items():
            for row in rows:
                question = session.add_question("group", (row,))
                session.tell(question.id, group)
        assert all(row in told[group.number] for row, group in Cards(session).practice_items())
        assert len(Cards(session).practice_items()) == 2


def test_help_shows_no_guess_as_what_a_group_is_about(unnamed, tools):
    with tools.using(create_app(unnamed)) as client:
        assert "is what <b" not in client.get("/help").text
        client.app.state.context.session.groups.pin(0, 3)
        assert 'is what <b dir="auto">Group A</b> is about' in client.get("/help").text
