"""Requests of the card lead to the session, and what goes wrong is a sentence."""

import re
from urllib.parse import urlencode

import pytest

from askmeans import notebook, sessions
from askmeans.exceptions import ParameterError, StoreLostError
from askmeans.web.drawing import colors_of


def request(widget, path, **fields):
    """The reply to a request of the card's script."""
    replies = []
    widget.send = replies.append
    body = urlencode(fields)
    widget._handle_custom_msg({"view": "v", "id": 1, "path": path, "body": body}, [])
    (reply,) = replies
    assert (reply["view"], reply["id"]) == ("v", 1)
    return reply


def shown(reply):
    """What the card in a reply says of itself."""
    opening = re.search(r'<div id="question"[^>]*>', reply["text"])[0]
    return dict(re.findall(r'data-([\w-]+)="([^"]*)"', opening))


def send(widget, card, path="/answer", **fields):
    """Send a form of the card, with what the card says of itself."""
    own = {"session": card["session"], "question": card["question"], "key": card["key"]}
    return request(widget, path, **{**own, **fields})


def kept(session):
    return [(each.question, each.kind, each.value) for each in session.history.answers()]


@pytest.fixture
def card(widget):
    return shown(request(widget, "document"))


@pytest.mark.parametrize(
    ("fields", "kind", "row"),
    [
        ({"value": "group-1"}, "answer", (0.0, 1.0)),
        ({"value": "shares", "share-0": "75", "share-1": "25"}, "answer", (0.75, 0.25)),
        ({"value": "none"}, "answer", (0.0, 0.0)),
        ({"value": "unsure"}, "unsure", None),
        ({"value": "skip"}, "skip", None),
    ],
)
def test_what_is_pressed_is_kept_and_the_next_card_comes(widget, session, card, fields, kind, row):
    reply = send(widget, card, **fields)
    assert (reply["status"], reply["kind"]) == (200, "text/html")
    assert kept(session) == [(int(card["question"]), kind, row)]
    assert shown(reply)["question"] not in ("", card["question"])
    assert widget.answered == (kind != "skip")


def test_the_same_form_twice_is_one_answer(widget, session, card):
    send(widget, card, value="group-0")
    again = send(widget, card, value="group-0")
    assert len(kept(session)) == 1
    assert "as before" in shown(again)["said"]


def test_undo_takes_the_last_answer_back(widget, session, card):
    after = shown(send(widget, card, value="group-0"))
    back = send(widget, after, "/undo", key=after["undo-key"])
    assert kept(session) == []
    assert shown(back)["question"] == card["question"]
    assert shown(back)["said"].startswith("Taken back: “small”")


def test_a_new_group_takes_the_item_on_the_card_and_a_group_is_renamed(widget, session, card):
    for _ in range(2):  # sent twice it is one
        reply = send(widget, card, value="new", name="huge")
    assert kept(session) == [(int(card["question"]), "answer", (0.0, 0.0, 1.0))]
    send(widget, shown(reply), "/rename", cluster="2", name="giant")
    assert session.groups.names == ["small", "large", "giant"]


def test_a_refused_answer_is_a_sentence_and_the_question_stays(widget, session, card):
    reply = send(widget, card, **{"value": "shares", "share-0": "90", "share-1": "90"})
    assert reply["status"] == 422
    assert "100 %" in shown(reply)["said"]
    assert shown(reply)["question"] == card["question"]
    send(widget, shown(reply), value="group-0")
    assert kept(session) == [(int(card["question"]), "answer", (1.0, 0.0))]


def test_a_form_of_another_session_is_refused(widget, session, card):
    reply = send(widget, card, session="other", value="group-0")
    assert (reply["status"], kept(session)) == (409, [])
    assert "shows another session" in shown(reply)["said"]


def test_an_unforeseen_error_is_a_sentence_too(widget, session, card, monkeypatch):
    monkeypatch.setattr(session, "tell", lambda *_, **__: {}["a fault of ours"])
    reply = send(widget, card, value="group-0")
    assert (reply["status"], reply["kind"]) == (500, "text/plain")
    assert reply["text"].startswith("Not saved: KeyError")
    assert kept(session) == []


def test_an_answer_that_could_not_be_written_can_be_sent_again(widget, session, card, monkeypatch):
    def lost(*_, **__):
        raise StoreLostError("no database")

    with monkeypatch.context() as broken:
        broken.setattr(session, "tell", lost)
        broken.setattr(session, "ask", lost)
        reply = send(widget, card, value="group-0")
    assert (reply["status"], reply["kind"]) == (503, "text/plain")  # the script sends it again
    assert "cannot be reached" in reply["text"]
    send(widget, card, value="group-0")
    assert kept(session) == [(int(card["question"]), "answer", (1.0, 0.0))]


def test_the_end_is_a_rest_and_the_result_is_drawn(widget, session, card):
    for _ in range(6):
        group = int(session.question(int(card["question"])).items[0] >= 3)
        reply = send(widget, card, value=f"group-{group}")
        card = shown(reply)
    assert (card["question"], card["state"]) == ("", "all done")
    assert '<h1 tabindex="-1">All done</h1>' in reply["text"]
    drawn = request(widget, "result")
    assert drawn["text"].count('<circle class="dot') == 6
    assert "<bdi>small</bdi> 50 %" in drawn["text"]
    assert widget.session.result().memberships.argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 1]


def test_the_result_has_the_colours_that_an_owner_chose(widget, session, card):
    send(widget, card, value="group-0")
    session.settings.set_option("group_look", "0:5")
    drawn = request(widget, "result")["text"]
    small = re.search(r'fill="(#\w+)"[^<]*/></svg>\s*<bdi>small</bdi>', drawn)[1]
    assert small == colors_of(6)[5]
    assert small in re.search(r"<svg class=.scatter.*?</svg>", drawn, re.DOTALL)[0]


def test_a_plot_of_ones_own_can_follow_the_answers(widget, card):
    counts = []
    widget.observe(lambda change: counts.append(change.new), "answered")
    send(widget, card, value="group-0")
    assert counts == [1]


def test_pictures_come_as_data(tmp_path):
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    for name in ("a.svg", "b.svg"):
        (tmp_path / name).write_text(drawing)
    with sessions.create(
        tmp_path / "a.db", [[0.0], [1.0]], n_clusters=2, image="file", folder=tmp_path,
        items=[{"file": "a.svg"}, {"file": "b.svg"}],
    ) as session:  # fmt: skip
        text = request(notebook.ask(session), "document")["text"]
    assert '<img src="data:image/svg+xml;base64,' in text
    assert '"/image/' not in text


def test_a_widget_of_a_session_has_no_model_to_fit(widget):
    with pytest.raises(ParameterError, match="must have a model to fit"):
        widget.fit()
