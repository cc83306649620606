"""A folder with projects: new ones from files, refused files, and who gets in."""

import io
import json
import os
import re
import threading
import time
import zipfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from starlette.testclient import TestClient

from askmeans import sessions
from askmeans._util.progress import report_progress
from askmeans.datasets import make_messages
from askmeans.web import drafts
from askmeans.web.drafts import Drafts, Plan
from askmeans.web.project_pages import create_projects_app

TOKEN = "t" * 43
MESSAGES = "\n".join(["text,topic", *(f'"{text}",x{n % 3}' for n, text in
                                      enumerate(make_messages(24).texts))])  # fmt: skip


@contextmanager
def at_home(folder, *, signed_in=True):
    """A client of a folder's page."""
    app = create_projects_app(folder, TOKEN, person="Ada")
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)) as client:
        if signed_in:
            client.get(f"/?token={TOKEN}")
        else:
            client.get("/signin")
        yield client


@pytest.fixture
def home(tmp_path):
    with at_home(tmp_path) as client:
        yield client


def send(client, content, name="data.csv", *, token=None):
    """Send a file, and wait until it was read."""
    if isinstance(content, str):
        content = content.encode()
    fields = {"token": token or client.cookies["askmeans_token"]}
    return settled(client, client.post("/new", data=fields, files={"file": (name, content)}))


def settled(client, reply):
    """The page that comes once nothing is being done any more."""
    while 'id="making"' in reply.text:
        time.sleep(0.02)
        reply = client.get(reply.url.path)
    return reply


def start(client, page, **fields):
    """Start the project of a page with columns."""
    fields = {"token": client.cookies["askmeans_token"], "title": "Shop", "n": "2"} | fields
    return settled(client, client.post(page.url.path, data=fields))


def left_in(folder):
    """Names of what is in a folder, but for the logs of open databases."""
    return sorted(
        path.name for path in folder.iterdir() if path.suffix not in (".db-wal", ".db-shm")
    )


def chosen(page):
    """What is chosen for each column: its use, and its kind."""
    return re.findall(r'<option value="([\w ]+)" selected', page.text)


def test_a_file_becomes_a_project_with_named_groups_that_its_owner_answers(home, tmp_path):
    page = send(home, MESSAGES, "shop messages.csv")
    assert 'value="Shop messages"' in page.text
    assert chosen(page) == ["feature", "text", "left out", "category"]  # what looks like labels
    groups = {"group-0": "Delivery", "about-0": "where is it", "group-2": "Payment"}
    page = start(home, page, title="My shop", **groups)
    assert page.url.path == "/p/My-shop/welcome"
    assert "Welcome, <bdi>Ada</bdi>" in page.text
    assert left_in(tmp_path) == ["My-shop.db"]
    with sessions.open(tmp_path / "My-shop.db") as session:
        assert [(g.name, g.description) for g in session.groups] == [
            ("Delivery", "where is it"), ("Payment", "")
        ]  # fmt: skip
        assert len(session.rows) == 24
    for path in re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text):
        if "signout" not in path:
            assert home.get(path).status_code in (200, 405), path
    assert "My shop" in home.get("/").text


def test_columns_are_used_as_they_were_chosen(home, tmp_path):
    table = "code,size,colour,note\n" + "\n".join(
        f"K{n},{n % 5 + n / 10},{'red' if n % 2 else 'blue'},n{n % 3}" for n in range(12)
    )
    page = send(home, table)
    assert chosen(page)[0] == "id"
    uses = {"use-0": "id", "use-1": "feature", "kind-1": "number", "use-2": "left out",
            "use-3": "shown"}  # fmt: skip
    start(home, page, **uses)
    with sessions.open(tmp_path / "Shop.db") as session:
        assert session.config.feature_names == ["size"]
        assert session.item(3).id == "K3"
        assert list(session.item(3).fields) == ["size", "note"]
    assert "red" not in home.get("/p/Shop/items").text + home.get("/p/Shop/items/1").text
    exported = home.get("/p/Shop/export/spreadsheet.csv").text.splitlines()
    assert exported[0].lstrip("\ufeff").startswith("code,size,colour,note,id,group,")
    assert exported[2].startswith("K1,1.1,red,n1,K1,")


def test_vectors_in_a_table_are_the_features(home, tmp_path):
    rows = [{"v": [n / 9, 1.0], "w": [0.0, n], "name": f"n {n}"} for n in range(9)]
    page = send(home, json.dumps(rows), "vectors.json")
    both = start(home, page, **{"use-0": "feature", "use-1": "feature"})
    assert "One column of vectors at most. Choose one of these: v, w." in both.text
    start(home, page, **{"use-0": "feature", "use-1": "left out", "use-2": "shown"})
    with sessions.open(tmp_path / "Shop.db") as session:
        assert session.config.feature_names == ["v [1]", "v [2]"]


def test_what_cannot_be_started_is_said_and_can_be_corrected(home, tmp_path):
    page = send(home, MESSAGES)
    for fields, said in [
        ({"use-0": "left out"}, "Choose at least one column to sort by"),
        ({"use-0": "id", "use-1": "id"}, "One column is the name of the item"),
        ({"group-0": "A", "group-1": "A"}, "needs a name of its own"),
        ({"n": ""}, "Name the groups, or say how many"),
        ({"title": "shop.sqlite"}, "must not end in .db or .sqlite"),  # another one's address
        ({"title": "…"}, "needs a letter or a digit"),
    ]:
        page = start(home, page, **fields)
        assert said in re.search(r'class="failed trouble">([^<]+)<', page.text)[1]
    assert 'value="…"' in page.text  # what was typed stays
    start(home, page)
    again = start(home, send(home, MESSAGES))
    assert "There is a project Shop already" in again.text
    assert len([name for name in left_in(tmp_path) if name.endswith(".db")]) == 1
    home.post(f"{again.url.path}/remove", data={"token": home.cookies["askmeans_token"]})
    assert left_in(tmp_path) == ["Shop.db"]


def archive(members):
    """A zip file of these names and contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


def picture(color):
    file = io.BytesIO()
    Image.new("RGB", (20, 20), color).save(file, "PNG")
    return file.getvalue()


def album():
    """A zip file of six pictures."""
    colors = ["red", "blue", "tomato", "navy", "orange", "green"]
    return archive({f"{n}.png": picture(color) for n, color in enumerate(colors)})


def test_files_of_a_removed_project_become_no_part_of_a_new_one(home, tmp_path):
    page = send(home, MESSAGES)
    for name in ("Shop.db-wal", "Shop.db-shm", "Shop.db-journal", "Shop.pictures"):
        (tmp_path / name).write_text("old")
        assert "There is a project Shop already" in start(home, page).text
        (tmp_path / name).unlink()
    assert start(home, page).url.path == "/p/Shop/welcome"


@pytest.mark.parametrize(("module", "function"), [(sessions, "create"), (os, "link")])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    home, tmp_path, monkeypatch, module, function
):
    real = getattr(module, function)

    def late(*args, **kwargs):
        (tmp_path / "Shop.db").write_text("of another program")
        return real(*args, **kwargs)

    page = send(home, album(), "album.zip")
    monkeypatch.setattr(module, function, late)
    assert "There is a project Shop already" in start(home, page).text
    assert (tmp_path / "Shop.db").read_text() == "of another program"
    monkeypatch.undo()
    start(home, page, title="Mine")
    assert "<img" in home.get("/p/Mine/").text
    assert left_in(tmp_path) == ["Mine.db", "Mine.pictures", "Shop.db"]


def test_nothing_is_where_projects_are_until_a_project_is_complete(home, tmp_path, monkeypatch):
    create, seen = sessions.create, []

    def watched(*args, **kwargs):
        seen.extend(left_in(tmp_path))
        return create(*args, **kwargs)

    monkeypatch.setattr(sessions, "create", watched)
    start(home, send(home, album(), "album.zip"))
    assert [name[0] for name in seen] == ["."]
    assert left_in(tmp_path) == ["Shop.db", "Shop.pictures"]


def test_a_draft_becomes_one_project(tmp_path):
    kept = Drafts(tmp_path)
    draft = kept.new()
    file = draft.folder / "album.zip"
    file.write_bytes(album())
    kept.read(draft, file)
    for titles in ([], ["Shop", "Twice"], ["Again"]):  # two at once, and one when it is made
        for title in titles:
            kept.make(draft, Plan(title=title, n_clusters=2))
        while draft.stage is not None:
            time.sleep(0.01)
    assert left_in(tmp_path) == ["Shop.db", "Shop.pictures"]
    kept.close()


def test_a_table_has_no_pictures_read_from_the_server(home, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture("red"))
    stolen = [{"bytes": None, "path": str(secret)}, {"bytes": str(secret), "path": None}]
    rows = [{"p": stolen[n % 2], "note": f"{secret}"[n % 3 :]} for n in range(6)]
    page = send(home, json.dumps(rows), "paths.json")
    assert "Picture" not in page.text
    start(home, page, title="Notes", **{"use-0": "left out", "use-1": "feature", "kind-1": "image"})
    with sessions.open(tmp_path / "Notes.db") as session:
        assert "image" not in json.dumps(session.config.recipe)
    blue = {"bytes": picture("blue"), "path": "blue.png"}
    file = io.BytesIO()
    pd.DataFrame({"p": [blue, *stolen, *(3 * [None]), blue]}).to_parquet(file)
    start(home, send(home, file.getvalue(), "own.parquet"))
    with sessions.open(tmp_path / "Shop.db") as session:
        assert len(np.unique(session.rows.matrix, axis=0)) <= 2  # nothing is red


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "empty.csv", "Choose a file first"),
        (b"only a header\n", "a.csv", "no rows below the header"),
        (b'a,b\n1,2\n"x,3\n4,5,6,7\n', "broken.csv", "broken.csv"),
        (b"%PDF-1.4", "paper.pdf", "paper.pdf is not of a kind that can be read"),
        (b"PK nothing", "broken.zip", "could not be unpacked"),
        (archive({"readme": "hello"}), "words.zip", "no picture in the zip file"),
        (b"no workbook", "a.xlsx", "a.xlsx"),
        (b"x\n" + b"same\n" * 9, "constant.csv", "no column to sort by"),
    ],
)
def test_a_refused_file_says_why_and_leaves_nothing(home, tmp_path, content, name, said):
    page = send(home, content, name)
    assert said in page.text
    assert str(tmp_path) not in page.text
    assert left_in(tmp_path) == []


def test_a_zip_file_brings_pictures_and_writes_nowhere_else(tmp_path):
    folder = tmp_path / "below"
    folder.mkdir()
    colors = ["red", "blue", "tomato", "navy", "orange", "green"]
    members = {f"a/{n}.png": picture(color) for n, color in enumerate(colors)}
    members |= {"../../evil.png": picture("red"), "/root.png": picture("blue"),
                "b\\0.png": picture("green"), "a/0.png.exe": b"no", "__MACOSX/x.png": b"no",
                ".hidden.png": b"no", "a/readme.txt": b"no"}  # fmt: skip
    with at_home(folder) as client:
        page = send(client, archive(members), "holiday.zip")
        small = client.get(f"{page.url.path}/picture/2")
        assert Image.open(io.BytesIO(small.content)).size == (20, 20)
        assert client.get(f"{page.url.path}/picture/3").status_code == 404
        page = start(client, page)
        assert "<img" in client.get("/p/Shop/").text
    assert left_in(tmp_path) == ["below"]
    assert {"Shop.db", "Shop.pictures"} <= set(left_in(folder))
    names = sorted(path.name for path in (folder / "Shop.pictures").iterdir())
    assert names == ["0-2.png", *(f"{n}.png" for n in range(6)), "root.png"]
    assert page.url.path == "/p/Shop/welcome"


def test_an_archive_is_measured_as_it_is_unpacked(home, tmp_path, monkeypatch):
    monkeypatch.setattr("askmeans.web.uploads.MOST_PICTURE", 1000)
    page = send(home, archive({"zeros.png": bytes(5000)}), "bomb.zip")
    assert "zeros.png is too large" in page.text
    assert left_in(tmp_path) == []


def test_a_file_above_the_limit_is_refused_before_it_is_read(home, tmp_path):
    reply = home.post("/new", headers={"content-length": "200000001"}, content=b"x")
    assert (reply.status_code, reply.text) == (
        413, "This file is too large: at most 200 MB. Send a part of it.",
    )  # fmt: skip
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_file_that_comes_in_pieces_arrives_whole(home, size):
    rows = [f"row {n} \r--edge -- {n}" for n in range(30)]
    part = "\r\n--edge\r\nContent-Disposition: form-data; name="
    body = "".join([
        part.lstrip(), '"token"\r\n\r\n', home.cookies["askmeans_token"],
        part, '"file"; filename="C:\\a\\b c.csv"\r\nContent-Type: text/csv\r\n\r\n',
        "text\n", "\n".join(f'"{row}"' for row in rows), "\r\n--edge--\r\n",
    ]).encode()  # fmt: skip
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    kind = {"content-type": "multipart/form-data; boundary=edge"}
    page = settled(home, home.post("/new", content=pieces, headers=kind))
    assert "30 rows were read" in page.text
    assert 'value="B c"' in page.text
    cut = home.post("/new", content=body[: len(body) // 2], headers=kind)
    assert (cut.status_code, "came incomplete" in cut.text) == (422, True)


def test_lines_that_are_pasted_are_texts(home, tmp_path):
    fields = {"token": home.cookies["askmeans_token"]}
    lines = "\n".join(["plum, sour", "cherry", "pumpkin", "melon", "grape", "papaya"])
    page = settled(home, home.post("/new", data=fields, files={"lines": (None, lines)}))
    assert "6 rows were read" in page.text
    start(home, page, title="Fruit")
    with sessions.open(tmp_path / "Fruit.db") as session:
        assert session.item(0).text == "plum, sour"


def test_nobody_else_sees_or_makes_projects(tmp_path):
    with at_home(tmp_path, signed_in=False) as client:
        for path in ("/", "/new", "/new/abc", "/open/Shop", "/name"):
            assert client.get(path, follow_redirects=False).headers["location"] == "/signin"
        assert client.get(f"/?token={'x' * 43}").url.path == "/signin"
        assert send(client, MESSAGES).url.path == "/signin"
        assert left_in(tmp_path) == []
        wrong = client.post(
            "/signin", data={"token": client.cookies["askmeans_token"], "link": "wrong"}
        )
        assert wrong.status_code == 401
        for _ in range(40):
            reply = client.get("/?token=guess")
        assert reply.status_code == 429


def test_a_form_of_another_page_makes_nothing(home, tmp_path):
    assert send(home, MESSAGES, token="x" * 43).status_code == 403
    reply = home.post("/new", headers={"origin": "http://evil.example"}, files={"file": b"a"})
    assert reply.status_code == 403
    assert left_in(tmp_path) == []


def test_only_projects_of_the_folder_are_served(tmp_path, tools):
    tools.make_fruit(tmp_path / "secret.db").close()
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "link.db").symlink_to(tmp_path / "secret.db")
    (folder / "notes.db").write_text("no database")
    tools.make_fruit(folder / "fruit.db").close()
    with at_home(folder) as client:
        listed = client.get("/").text
        assert 'href="/open/fruit"' in listed
        assert "notes" not in listed
        assert "link" not in re.findall(r"/open/(\w+)", listed)
        for path in ("/p/link/", "/p/..%2fsecret/", "/p/../secret.db", "/open/..%2Fsecret"):
            assert client.get(path).status_code == 404, path
        assert client.get("/open/fruit").url.path == "/p/fruit/welcome"
        assert client.get("/p/fruit").url.path == "/p/fruit/"


def test_an_invited_person_comes_into_one_project_only(tmp_path, tools):
    for name in ("fruit", "veg"):
        tools.make_fruit(tmp_path / f"{name}.db", name=name).close()
    with sessions.open(tmp_path / "fruit.db") as session:
        token = session.people.invite("Bo")
    with at_home(tmp_path, signed_in=False) as client:
        assert client.get(f"/p/fruit/?token={token}").url.path == "/p/fruit/welcome"
        assert client.get("/p/fruit/help").status_code == 200
        assert client.get("/p/veg/help").url.path == "/p/veg/signin"
        assert client.get("/p/fruit/groups").status_code == 403
        assert client.get("/").url.path == "/signin"


def test_a_long_step_shows_its_share_and_the_seconds_left(home, monkeypatch):
    page, go_on = send(home, "text\na red bus\na blue car\na green tram\n"), threading.Event()
    read = drafts.read_items

    def slowly(*args, **kwargs):
        report_progress(0.01)
        go_on.wait(30.0)
        return read(*args, **kwargs)

    monkeypatch.setattr(drafts, "read_items", slowly)
    fields = {"token": home.cookies["askmeans_token"], "title": "Shop", "n": "2"}
    reply = home.post(page.url.path, data=fields)
    try:
        while "value=" not in (making := reply.text.partition('id="making"')[2]):
            time.sleep(0.02)
            reply = home.get(reply.url.path)
    finally:
        go_on.set()
    assert 'value="0.01"' in making
    assert re.search(r"About [0-9]+ seconds? left", making)
    settled(home, reply)
