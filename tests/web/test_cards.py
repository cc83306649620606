"""What a card shows: marks where items differ, places of numbers, the row of an item."""

import re
from dataclasses import replace

import pytest

from askmeans import sessions
from askmeans.web.cards import Cards
from askmeans.web.context import AppContext
from askmeans.web.rendering import templates


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", cluster_names=None) as made:
        yield made


def cells(view):
    return {cell.name: cell for cell in view.cells}


def pair_card(session, items):
    question = sessions.Question(id=1, kind="pair", items=items, cluster=None)
    return Cards(session).card(question, "ann")


def test_words_that_differ_are_marked_and_equal_ones_are_not(session):
    card = pair_card(session, (0, 1))  # both stone fruit
    assert not any(cells(view)["kind"].differs for view in card.items)
    assert [view.name for view in card.items] == ["plum", "cherry"]
    others = pair_card(session, (1, 2))
    assert all(cells(view)["kind"].differs for view in others.items)


def test_what_names_an_item_is_never_marked(tmp_path, tools):
    items = [
        {"id": j, "product_id": 7 * j, "Order ID": 50 - j, "itemId": j, "title": f"no. {j}",
         "code": j % 2, "humid": j, "valid": j}
        for j in range(6)
    ]  # fmt: skip
    with tools.make_fruit(tmp_path / "named.db", items=items) as session:
        for view in pair_card(session, (0, 5)).items:
            assert [name for name, cell in cells(view).items() if cell.differs] == [
                "code", "humid", "valid",
            ]  # fmt: skip
            assert cells(view)["product_id"].place is None  # nor drawn on a scale


def test_numbers_differ_from_a_tenth_of_their_range(session):
    near, far = pair_card(session, (0, 2)), pair_card(session, (0, 4))
    assert [cells(view)["grams"].differs for view in near.items] == [False, False]  # 10 and 90
    assert [cells(view)["grams"].differs for view in far.items] == [True, True]  # 10 and 810
    assert cells(far.items[0])["grams"].place == 0.0
    assert cells(far.items[0])["grams"].others == (cells(far.items[1])["grams"].place,)


def test_of_three_items_only_the_odd_one_is_marked(session):
    question = sessions.Question(id=1, kind="triplet", items=(0, 1, 2), cluster=None)
    card = Cards(session).card(question, "ann")
    assert [cells(view)["kind"].differs for view in card.items] == [False, False, True]


def test_a_membership_stands_beside_typical_items_but_never_beside_itself(session):
    row = session.exemplars(0)[0]
    question = sessions.Question(id=1, kind="membership", items=(row,), cluster=0)
    card = Cards(session).card(question, "ann")
    assert card.tile.examples
    assert row not in {view.row for view in card.tile.examples}
    assert card.tile.group.name == session.groups.names[0]


def test_the_row_of_an_item_tells_what_is_answered_asked_and_left(tmp_path, tools):
    with tools.make_fruit(
        tmp_path / "three.db", n_clusters=3, cluster_names=["a", "b", "c"]
    ) as session:
        first, second = (
            session.add_question("membership", (0,), j, annotator="ann") for j in (0, 1)
        )
        session.tell(first.id, 0.25, annotator="ann")
        assert session.ask(annotator="ann") == [second]
        card = Cards(session).card(second, "ann")
        assert [(e.name, e.answered, e.active, e.question) for e in card.entries] == [
            ("a", True, False, first.id), ("b", False, True, second.id), ("c", False, False, None),
        ]  # fmt: skip
        assert card.used == 0.25


def test_many_fields_unfold_and_nothing_is_left_out(tmp_path, tools):
    items = [{f"field {j}": j for j in range(30)} for _ in range(6)]
    with tools.make_fruit(tmp_path / "wide.db", items=items) as session:
        view = Cards(session).item(0)
        assert len(view.first_cells) == 12
        assert [cell.name for cell in (*view.first_cells, *view.more_cells)] == list(items[0])


def test_missing_values_and_texts_have_words(tmp_path, tools):
    items = [{"words": f"text {j}", "size": None} for j in range(6)]
    with tools.make_fruit(tmp_path / "texts.db", items=items, text="words", ids=None) as session:
        view = Cards(session).item(3)
        assert (view.name, view.text) == ("text 3", "text 3")
        assert cells(view)["size"].value == "no value"


def test_beside_a_text_numbers_unfold_and_an_item_has_one_name(tmp_path, tools):
    items = [{"size": j, "words": f"A long text, {j}.", "kind": "ab"[j % 2]} for j in range(6)]
    with tools.make_fruit(tmp_path / "texts.db", items=items, text="words") as session:
        cards = Cards(session)
        view = cards.item(3)
        assert [cell.name for cell in view.first_cells] == ["kind"]
        assert [cell.name for cell in view.more_cells] == ["size"]
        question = sessions.Question(id=1, kind="group", items=(3,), cluster=None)
        assert cards.label(question) == view.name == session.item(3).label


def test_every_group_has_its_colour_its_key_and_examples_in_a_line(tmp_path, tools):
    with tools.make_fruit(tmp_path / "three.db", ask="group") as session:
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, 1, annotator="ann")
        (question,) = session.ask(annotator="ann")
        small, large = Cards(session).card(question, "ann").tiles
        assert (small.group.name, small.key, small.examples) == ("small", "1", ())
        assert small.color != large.color
        (view,) = large.examples
        name, grams, kind = (cell.value for cell in view.cells)
        assert view.line == f"{view.name}: {name} · grams {grams} · {kind}"


def test_keys_stay_with_their_groups_where_the_likeliest_come_first(tmp_path, tools):
    with tools.make_fruit(tmp_path / "three.db", ask="group", n_clusters=3,
                          cluster_names=["a", "b", "c"]) as session:  # fmt: skip
        session.settings.set_option("predicted_first", True)
        (question,) = session.ask(annotator="ann")
        cards = Cards(session)
        for likely in ([0.1, 0.2, 0.7], [0.3, 0.6, 0.1]):
            cards.predict = lambda _, shares=likely: shares
            choices = cards.card(question, "ann").tiles
            order = sorted("abc", key=lambda name: -likely["abc".index(name)])
            assert [choice.group.name for choice in choices] == order
            assert {choice.group.name: choice.key for choice in choices} == {
                "a": "1",
                "b": "2",
                "c": "3",
            }


def test_a_relative_question_has_its_item_between_the_two_others(session):
    question = sessions.Question(id=1, kind="relative", items=(0, 1, 2), cluster=None)
    context = AppContext(session, 0.0)
    card = context.assignments.cards.card(question, "ann")
    view = replace(context.assignments.view("ann"), card=card)
    html = templates.get_template("question.html").render(
        view=view, result_view=None, said="", failed=False, token="", mark="",
        options=session.settings.options, session=session,
    )  # fmt: skip
    shown = re.findall(r'<article class="item[^"]*" aria-label="([^"]+)"', html)
    assert shown == ["left: cherry", "middle: plum", "right: grape"]
    assert "more like the left or the right one?" in html
    context.result_views.close()


def test_a_text_has_its_language_where_that_is_clear(tmp_path, tools):
    texts = ["the parcel is at the door", "das Paket ist nicht da", "لم يصل الطرد", "私は待つ",
             "4711 xyz", ""]  # fmt: skip
    with tools.make_fruit(tmp_path / "s.db", items=[{"t": text} for text in texts], text="t") as s:
        cards = Cards(s)
        languages = [cards.item(row).language for row in range(6)]
    assert languages == ["en", "de", "ar", "ja", "", ""]
