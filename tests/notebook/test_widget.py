"""Messages of the card lead to the session, and what goes wrong is said."""

import re
from pathlib import Path

import pytest

import askmeans
from askmeans import notebook, sessions
from askmeans.exceptions import ParameterError, StoreLostError

PACKAGE = Path(askmeans.__file__).parent


def press(widget, value, **message):
    """What widget.js sends when an answer is pressed."""
    shown = widget.shown
    told = {"do": "answer", "question": shown["question"], "key": shown["key"], "value": value}
    widget._handle_custom_msg(told | message, [])


def kept(session):
    return [(each.question, each.kind, each.value) for each in session.history()]


@pytest.mark.parametrize(
    ("value", "kind", "row"),
    [
        ({"1": 1}, "answer", (0.0, 1.0)),
        ({"0": 0.75, "1": 0.25}, "answer", (0.75, 0.25)),
        ("none", "answer", (0.0, 0.0)),
        ("unsure", "unsure", None),
        ("skip", "skip", None),
    ],
)
def test_what_is_pressed_is_kept_and_the_next_card_comes(widget, session, value, kind, row):
    first = widget.shown["question"]
    press(widget, value)
    assert kept(session) == [(first, kind, row)]
    assert widget.shown["question"] not in (None, first)
    assert not widget.shown["failed"]
    assert widget.answered == (kind != "skip")


def test_the_same_message_twice_is_one_answer(widget, session):
    before = widget.shown
    press(widget, {"0": 1})
    press(widget, {"0": 1}, question=before["question"], key=before["key"])
    assert len(kept(session)) == 1
    assert "as before" in widget.shown["said"]


def test_undo_takes_the_last_answer_back(widget, session):
    assert not widget.shown["undoable"]
    first = widget.shown["question"]
    press(widget, {"0": 1})
    widget._handle_custom_msg({"do": "undo", "key": widget.shown["undo_key"]}, [])
    assert kept(session) == []
    assert widget.shown["question"] == first
    assert widget.shown["said"].startswith("Taken back: “small”")


def test_a_new_group_takes_the_item_on_the_card(widget, session):
    shown = widget.shown
    told = {"do": "new", "question": shown["question"], "key": shown["key"], "name": "huge"}
    for _ in range(2):  # sent twice it is one
        widget._handle_custom_msg(told, [])
    assert session.cluster_names == ["small", "large", "huge"]
    assert kept(session) == [(shown["question"], "answer", (0.0, 0.0, 1.0))]


def test_the_card_has_the_owners_guidelines_and_says_whether_groups_can_be_added(widget, session):
    assert widget.shown["guidelines"] == ""
    assert widget.shown["regroup"]
    session.set_option("guidelines", "Go by *weight*.")
    press(widget, "skip")
    assert widget.shown["guidelines"] == "Go by *weight*."


def test_a_refused_answer_is_said_and_the_question_stays(widget, session):
    first = widget.shown["question"]
    press(widget, {"0": 0.9, "1": 0.9})
    assert widget.shown["failed"]
    assert "must sum to at most 1" in widget.shown["said"]
    assert widget.shown["question"] == first
    press(widget, {"0": 1})
    assert kept(session) == [(first, "answer", (1.0, 0.0))]


def test_an_unforeseen_error_is_said_too(widget, session):
    with pytest.raises(KeyError):
        widget._do({"do": "answer"})
    turn = widget.shown["turn"]
    widget._handle_custom_msg({"do": "answer"}, [])
    assert widget.shown["turn"] == turn + 1
    assert widget.shown["said"].startswith("Not saved: KeyError")
    assert kept(session) == []


def test_an_answer_that_could_not_be_written_can_be_sent_again(widget, session, monkeypatch):
    def lost(*_, **__):
        raise StoreLostError("no database")

    before = widget.shown
    with monkeypatch.context() as broken:
        broken.setattr(session, "tell", lost)
        broken.setattr(session, "ask_row", lost)
        press(widget, {"0": 1})
    assert "cannot be reached" in widget.shown["said"]
    assert widget.shown["key"] == before["key"]
    press(widget, {"0": 1})
    assert kept(session) == [(before["question"], "answer", (1.0, 0.0))]


def test_the_card_has_the_item_the_groups_and_their_examples(widget):
    shown = widget.shown
    (item,) = shown["items"]
    assert item["text"] in {"plum", "cherry", "grape", "melon", "pumpkin", "papaya"}
    assert [(each["name"], each["key"]) for each in shown["choices"]] == [
        ("small", "1"),
        ("large", "2"),
    ]


def test_answering_to_the_end_shows_a_rest_and_a_picture(widget, session):
    for _ in range(6):
        group = int(session.question(widget.shown["question"]).items[0] >= 3)
        press(widget, {str(group): 1})
    assert widget.shown["question"] is None
    assert widget.shown["heading"] == ["All done"]
    widget._handle_custom_msg({"do": "picture"}, [])
    assert widget.beside["svg"].startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert widget.beside["svg"].count("<circle") == 6
    assert [name for name, _, _ in widget.beside["groups"]] == ["small", "large"]
    assert widget.result().memberships.argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 1]


def test_a_plot_of_ones_own_can_follow_the_answers(widget):
    seen = []
    widget.observe(lambda change: seen.append(change.new), "answered")
    press(widget, {"0": 1})
    assert seen == [1]


@pytest.mark.parametrize(
    ("ask", "words", "n_items"),
    [
        ("membership", "How much does ", 1),
        ("pairwise", "How similar are these two?", 2),
        ("relative", "Is ", 3),
    ],
)
def test_other_questions_have_points(tmp_path, ask, words, n_items):
    X = [[float(place)] for place in range(12)]
    items = [f"item {place}" for place in range(12)]
    with sessions.create(
        tmp_path / "a.db", X, n_clusters=2, items=items, ask=ask, random_state=0
    ) as session:
        widget = notebook.ask(session, annotator="Ada")
        shown = widget.shown
        assert shown["heading"][0] == words
        assert len(shown["items"]) == n_items
        key, value, _ = shown["points"][0]
        assert key == "1"
        assert (shown["step"] is None) == (ask == "relative")
        press(widget, value)
        assert [(each.value, each.annotator) for each in session.history()] == [(value, "Ada")]


def test_images_come_as_data(tmp_path):
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    for name in ("a.svg", "b.svg"):
        (tmp_path / name).write_text(drawing)
    with sessions.create(
        tmp_path / "a.db", [[0.0], [1.0]], n_clusters=2, image="file", folder=tmp_path,
        items=[{"file": "a.svg"}, {"file": "b.svg"}],
    ) as session:  # fmt: skip
        widget = notebook.ask(session)
        sent = []
        widget.send = sent.append
        assert widget.shown["items"][0]["image"]
        widget._handle_custom_msg({"do": "images", "rows": [0, 1]}, [])
        (message,) = sent
        assert message["images"][1].startswith("data:image/svg+xml;base64,")


def test_a_widget_of_a_session_has_no_model_to_fit(widget):
    with pytest.raises(ParameterError, match="must have a model to fit"):
        widget.fit()


def test_the_card_has_the_colours_of_the_page():
    def colours(text):
        """Every scheme's colours, by their names."""
        blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)\}", text)
        return [dict(re.findall(r"(--[\w-]+): (#\w+);", block)) for block in blocks]

    page = colours((PACKAGE / "web/static/style.css").read_text())
    card = colours((PACKAGE / "notebook/widget.css").read_text())
    assert len(card) == 2
    for theirs, ours in zip(page, card, strict=True):
        assert ours.items() <= theirs.items()


def test_the_script_takes_no_text_for_html():
    script = (PACKAGE / "notebook/widget.js").read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script
