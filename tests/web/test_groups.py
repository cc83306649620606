"""Group questions on the page and in the API."""

import re

import pytest

from askmeans import sessions
from askmeans.datasets import make_messages
from askmeans.tables import read_items
from askmeans.web import create_app


@pytest.fixture
def database(tmp_path, tools):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path, ask="group").close()
    return path


@pytest.fixture
def client(database, tools):
    with tools.using(create_app(database, settle_seconds=0.0)) as made:
        yield made


def history(database):
    with sessions.open(database) as session:
        return [receipt.value for receipt in session.history.answers()]


def send(client, **fields):
    """Answer what the page shows."""
    page = client.get("/").text
    form = page[page.index('id="answer"') :]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)[:9])
    return client.post("/answer", data=hidden | fields)


def test_the_page_shows_one_item_and_a_button_for_each_group(client):
    page = client.get("/").text
    assert "To which group does" in page
    for value, key, word in (("group-0", 1, "small"), ("group-1", 2, "large")):
        assert f'form="answer" name="value" value="{value}" data-key="{key}"' in page
        assert f'<span class="word">{word}</span>' in page
    assert 'name="value" value="none" data-key="0"' in page
    assert "aria-pressed" not in page  # nothing is chosen beforehand
    assert 'name="share-1"' in page
    assert 'id="fine"' not in page


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ({"value": "group-1"}, (0.0, 1.0)),
        ({"value": "none"}, (0.0, 0.0)),
        ({"value": "unsure"}, None),
        ({"value": "shares", "share-0": "70", "share-1": "30"}, (0.7, 0.3)),
        ({"value": "shares", "share-0": "25", "share-1": ""}, (0.25, 0.0)),
    ],
)
def test_a_form_is_an_answer(client, database, fields, row):
    assert send(client, **fields).status_code == 303
    assert history(database) == [row]
    page = client.get("/history").text
    words = {(0.0, 1.0): "large", (0.0, 0.0): "none of these", None: "cannot say",
             (0.7, 0.3): "70 % small, 30 % large",
             (0.25, 0.0): "25 % small, 75 % none of these"}  # fmt: skip
    assert words[row].casefold() in page.casefold()
    assert f"“{words[row]}”" in client.get("/?question=1").text or row is None


@pytest.mark.parametrize(
    "fields", [{"value": "group-7"}, {"value": "0.5"}, {"value": "shares", "share-0": "170"}]
)
def test_what_is_no_group_is_told_and_not_kept(client, database, fields):
    send(client, **fields)
    assert 'class="failed"' in client.get("/").text
    assert history(database) == []


def test_the_other_pages_know_groups(client):
    send(client, value="group-1")
    for page in ("/help", "/results", "/history", "/export/answers.csv", "/export/all.json"):
        assert client.get(page).status_code == 200
    assert "To which group" in client.get("/help").text or "to which group" in (
        client.get("/help").text
    )
    item = client.get("/export/answers.csv").text.splitlines()[1].split(",")[1]
    assert "ann answered “large”." in client.get(f"/find?q={item}", follow_redirects=True).text


def test_a_program_answers_by_number_name_or_shares(client, database, tools):
    headers = {"X-CSRF-Token": tools.token_of(client)}

    def post(path, **body):
        return client.post(f"/api/{path}", json={"annotator": "ann", **body}, headers=headers)

    values = [1, "small", {"small": 0.5, "large": 0.25}, [], [0.0, 1.0], 1.0]
    for place, value in enumerate(values):
        (question,) = post("ask").json()
        assert question["kind"] == "group"
        done = post("answers", question=question["id"], key=f"k{place}", value=value)
        assert done.status_code == 200, done.text
    expected = [(0.0, 1.0), (1.0, 0.0), (0.5, 0.25), (0.0, 0.0), (0.0, 1.0), (0.0, 1.0)]
    assert history(database) == expected
    assert [each["value"] for each in client.get("/api/history").json()] == [
        list(row) for row in expected
    ]
    assert post("undo", key="u").json()["value"] == [0.0, 1.0]
    for wrong, status in ((7, 409), ("kale", 409), (0.5, 409), (1.5, 422), ({"small": 2}, 422)):
        (question,) = post("ask").json()
        done = post("answers", question=question["id"], key=f"w{wrong}", value=wrong)
        assert done.status_code in (status, 422), done.text
    assert len(history(database)) == 5


def test_a_group_is_added_on_the_page(client, database, tools):
    page = client.get("/results").text
    assert "Add a group" in page
    mark = re.search(r'data-session="([^"]+)"', client.get("/").text)[1]
    fields = {"token": tools.token_of(client), "session": mark, "name": "huge"}
    assert client.post("/groups", data=fields).status_code == 303
    with sessions.open(database) as session:
        assert session.groups.names == ["small", "large", "huge"]
    page = client.get("/").text
    assert 'value="group-2" data-key="3"' in page
    assert ">huge<" in client.get("/results").text


@pytest.mark.parametrize("values", [(), ("group-0", "group-1", "none"), ("group-0", "group-1")])
def test_every_page_shows_one_group(client, database, tools, values):
    for value in values:
        assert send(client, value=value).status_code == 303
    mark = re.search(r'data-session="([^"]+)"', client.get("/").text)[1]
    fields = {"token": tools.token_of(client), "session": mark, "into": 0, "group": 1}
    assert client.post("/merge", data=fields).status_code == 303
    for page in ("", "results", "results/part", "groups", "items/0", "welcome", "history", "help"):
        reply = client.get(f"/{page}")
        assert reply.status_code == 200, page
    assert "No newer result" not in client.get("/results").text
    for file in ("memberships.csv", "centers.csv", "answers.csv", "all.json"):
        assert client.get(f"/export/{file}").status_code == 200
    with sessions.open(database) as session:
        assert session.result().memberships.shape == (6, 1)


def test_a_group_that_was_added_for_an_item_is_gone_when_that_is_taken_back(client, database):
    assert send(client, value="new", name="huge").status_code == 303
    with sessions.open(database) as session:
        assert session.groups.names == ["small", "large", "huge"]
    page = client.get("/").text
    form = page[page.index('action="/undo"') :]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)[:4])
    assert client.post("/undo", data=hidden).status_code == 303
    assert "the new group huge" in client.get("/").text
    with sessions.open(database) as session:
        assert session.groups.names == ["small", "large"]


def test_a_group_is_removed_on_the_page_and_brought_back_with_one_click(client, database):
    send(client, value="group-1")
    page = client.get("/groups").text
    form = page[page.index('action="/remove"') :]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)[:4])
    assert client.post("/remove", data=hidden | {"group": 1}).status_code == 303
    page = client.get("/groups").text
    assert "The group large is removed" in page
    assert 'action="/remove"' not in page  # the last one stays
    for path in ("", "results", "history", "items/0"):
        assert client.get(f"/{path}").status_code == 200
    form = page[page.index('action="/take-back"') :]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)[:4])
    assert client.post("/take-back", data=hidden).status_code == 303
    with sessions.open(database) as session:
        assert session.groups.names == ["small", "large"]


def test_named_groups_have_no_members_on_the_page_before_an_answer(client):
    page = client.get("/results").text
    assert "No answers yet: the groups have only names" in page
    assert '<svg class="scatter"' not in page
    assert "robably wrong" not in page
    assert "No answers yet" in client.get("/items/0").text
    rows = client.get("/export/memberships.csv").text.splitlines()[1:]
    cells = [row.split(",") for row in rows]
    assert {(group, by, *shares) for _, group, _, _, by, *shares in cells} == {
        ("", "", "0.5", "0.5")
    }
    assert client.get("/export/all.json").json()["basis"] == "nothing"
    assert send(client, value="group-1").status_code == 303
    page = client.get("/results").text
    assert "No answers yet" not in page
    assert '<svg class="scatter"' in page


def test_the_page_says_what_it_knows_from_the_names_alone(tmp_path, tools):
    messages = make_messages(40)
    names = ["parcel and courier", "invoice and card", "refund and exchange", "log in and password"]
    items = read_items({"message": messages.texts}, text="message")
    url = tmp_path / "shop.db"
    sessions.create(url, items, n_clusters=4, cluster_names=names, random_state=0).close()
    with tools.using(create_app(url, settle_seconds=0.0)) as client:
        pattern = r"From the names alone: about \d+ of 40 are probably right\."
        pages = (client.get("/results").text for _ in range(100))  # until it is computed
        assert any(re.search(pattern, page) for page in pages)
        assert re.search(pattern, client.get("/").text)
        assert send(client, value="group-0").status_code == 303
        assert "From the names alone" not in client.get("/").text
        assert "From the names alone" not in client.get("/results").text
