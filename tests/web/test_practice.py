"""Cards to practise on, and what is there before anybody has answered."""

from askmeans import sessions
from askmeans.cli.faces import make_faces_session
from askmeans.datasets import make_faces
from askmeans.datasets.faces import MOODS
from askmeans.web.cards import Cards, practice_card, practice_items


def test_a_fresh_demo_has_right_examples_and_three_practice_cards(tmp_path):
    make_faces_session(tmp_path / "faces.db")
    moods = make_faces().memberships.argmax(axis=1)
    with sessions.open(tmp_path / "faces.db") as session:
        assert session.options["purpose"]
        assert session.options["guidelines"]
        cards = Cards(session)
        for choice in cards.choices(()):
            assert [MOODS[moods[each.row]] for each in choice.typical] == [choice.name] * 3
        assert len(practice_items(session)) == 3
        for number in (1, 2, 3):
            card = practice_card(session, cards, number)
            assert MOODS[moods[card.item.row]] == card.name
            assert card.item.row not in {e.row for c in card.choices for e in c.typical}
        assert practice_card(session, cards, 4) is None


def test_nobody_practises_where_nothing_is_known_of_the_groups(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", strategy="auto") as session:
        session.result()  # of which no column is one of the named groups yet
        assert practice_items(session) == []
        assert all(choice.typical == () for choice in Cards(session).choices(()))
