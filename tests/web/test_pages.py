"""The pages' forms, sent as a browser without script sends them."""

import re
from html.parser import HTMLParser

import pytest
from signing import become

from askmeans import sessions
from askmeans.web import create_app


class Forms(HTMLParser):
    """The forms of a page: where they go, and their hidden fields."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        if tag == "form":
            self.found.append((told.get("action"), {}))
        elif tag == "input" and self.found and "name" in told:
            self.found[-1][1][told["name"]] = told.get("value", "")


def form(reply, action, **fields):
    """The first form of a page that goes there, filled in."""
    found = next(each for where, each in Forms(reply.text).found if where == action)
    return {**found, **fields}


@pytest.fixture
def seated(client):
    """A client with a name."""

    def sit(name="ann"):
        become(client, name)
        return client

    return sit


def kept(database):
    with sessions.open(database) as session:
        return [receipt.value for receipt in session.history.answers()]


def answer(client, value, page="/"):
    """Answer what a page shows; the next page."""
    reply = client.post("/answer", data=form(client.get(page), "/answer", value=value))
    assert reply.status_code == 303
    return client.get(reply.headers["location"])


def test_a_refused_change_leaves_the_old_answer(seated, database):
    client = seated()
    answer(client, "0.25")
    page = answer(client, "7", page="/?question=1")
    assert 'class="failed"' in page.text
    assert kept(database) == [0.25]
    assert "Saved" in answer(client, "0.75", page="/?question=1").text
    assert kept(database) == [0.75]
    answer(client, "unsure", page="/?question=1")
    assert kept(database) == [None]
    with sessions.open(database) as session:
        answer(client, "skip", page="/?question=1")
        assert [receipt.kind for receipt in session.history.answers()] == ["skip"]


def test_an_answer_sent_again_after_it_was_taken_back_is_not_called_saved(seated, database):
    client = seated()
    sent = form(client.get("/"), "/answer", value="0.25")
    client.post("/answer", data=sent)
    assert "Saved" in client.get("/").text
    client.post("/undo", data=form(client.get("/"), "/undo"))
    client.get("/")
    client.post("/answer", data=sent)
    page = client.get("/")
    assert "Nothing was saved" in page.text
    assert "Saved" not in page.text
    assert kept(database) == []


def take_back(client):
    """The form in the history that takes the newest answer back."""
    forms = Forms(client.get("/history").text).found
    return next(each for where, each in forms if where == "/history/change" and "event" in each)


def test_a_stale_take_back_is_refused(seated, database):
    client = seated()
    answer(client, "0.25")
    stale = take_back(client)
    answer(client, "0.75", page="/?question=1")
    client.post("/history/change", data=stale)
    assert "look at the history again" in client.get("/history").text
    assert kept(database) == [0.75]
    client.post("/history/change", data=take_back(client))
    assert kept(database) == []


PART = {"x-askmeans": "part"}


def sheet(client, name, **headers):
    """The answering page of somebody, and what its script sends."""
    become(client, name)
    page = client.get("/", headers=headers)
    key = re.search(r'data-key="([^"]+)" data-undo', page.text)[1]
    mark = re.search(r'data-session="([^"]+)"', page.text)[1]
    token = client.cookies["askmeans_token"]
    return page, {"token": token, "session": mark, "annotator": name, "key": key}


@pytest.fixture
def one_open(client):
    """One question at a time, so that a second person waits."""
    client.app.state.context.session.settings.set_budget(1)
    return client


def test_a_page_that_is_left_lets_others_have_its_question_at_once(one_open):
    _, left = sheet(one_open, "ann")
    waiting, _ = sheet(one_open, "bob")
    assert "Waiting for others" in waiting.text
    assert "ann has question 1, for up to 10 min more." in waiting.text
    become(one_open, "ann")
    assert one_open.post("/leave", data=left).status_code == 204
    assert "Waiting for others" not in sheet(one_open, "bob")[0].text


def test_a_page_that_is_left_for_another_of_ones_own_keeps_the_question(one_open):
    _, left = sheet(one_open, "ann")
    sheet(one_open, "ann")  # a reload: the beacon of the old page comes after the new one is there
    assert one_open.post("/leave", data=left).status_code == 204
    assert "Waiting for others" in sheet(one_open, "bob")[0].text


def test_a_page_with_a_script_holds_its_question_for_a_short_time_and_renews_it(one_open):
    session = one_open.app.state.context.session
    _, seat = sheet(one_open, "ann")  # without script it cannot say that it is open
    assert session.status().holding[0].seconds > 590
    assert one_open.post("/renew", data=seat).status_code == 204
    assert 80 < session.status().holding[0].seconds <= 90
    session.renew(annotator="ann", lease_seconds=5.0)
    sheet(one_open, "ann", **PART)
    assert 80 < session.status().holding[0].seconds <= 90
    session.leave(annotator="ann")
    one_open.post("/renew", data=seat)
    assert session.status().holding == ()


def test_names_and_pauses_are_of_the_session_that_is_served(seated):
    client = seated()
    client.get("/results")
    client.post("/rename", data=form(client.get("/results"), "/rename", name="tiny", cluster="0"))
    client.post("/pause", data=form(client.get("/results"), "/pause"))
    session = client.app.state.context.session
    assert session.groups.names == ["tiny", "large"]
    assert session.status().state == "paused"
    client.post("/pause", data=form(client.get("/"), "/pause"))
    assert session.status().state == "asking"


def test_a_spent_budget_is_raised_on_the_page(seated, database):
    client = seated()
    session = client.app.state.context.session
    session.settings.set_budget(1)
    page = answer(client, "0.5")
    assert "The budget is spent" in page.text
    stale = form(page, "/budget", n="3", session="0123456789abcdef")
    assert client.post("/budget", data=stale).status_code == 409
    client.post("/budget", data=form(page, "/budget", n="3"))
    page = client.get("/")
    assert "The budget is 3 questions now." in page.text
    assert "of at most 3" in page.text
    answer(client, "0.5")
    assert kept(database) == [0.5, 0.5]
    client.post("/budget", data=form(answer(client, "1"), "/budget", n="0"))
    assert "Type a whole number from 1 up" in client.get("/").text
    assert session.status().budget == 3


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"ask": "pairwise"},
        {"ask": "group", "n_clusters": 1, "cluster_names": ["one"]},
        {"ask": "group", "n_clusters": "auto", "cluster_names": None},
    ],
)
def test_every_page_opens_whatever_is_asked(asked, tmp_path, tools):
    tools.make_fruit(tmp_path / "other.db", **asked).close()
    with tools.using(create_app(tmp_path / "other.db", settle_seconds=0.0)) as client:
        for path in ("/", "/groups", "/name", "/results", "/items/0", "/help", "/history"):
            assert client.get(path).status_code == 200, path
        assert client.get("/practice").status_code in (200, 303)
        compares = asked.get("ask") == "pairwise"
        assert ('action="/pin"' in client.get("/items/0").text) is not compares


def test_help_lists_every_key_of_the_pages(tmp_path, tools):
    tools.make_fruit(tmp_path / "fruit.db", ask="group").close()
    with tools.using(create_app(tmp_path / "fruit.db", settle_seconds=0.0)) as client:
        session = client.app.state.context.session
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, 0, annotator="ann")
        session.settings.set_option("guidelines", "Look twice.")
        listed = set(re.findall(r"<kbd>(.)</kbd>", client.get("/help").text)) | set("2345678")
        for path in ("/", "/items", "/results", "/history"):
            assert set(re.findall(r'data-key="(.)"', client.get(path).text)) <= listed, path
