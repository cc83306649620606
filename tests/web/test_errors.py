"""Errors as the page tells them: a sentence, and no path of this machine."""

from urllib.parse import unquote

import pytest

from askmeans.exceptions import SessionError, StoreFullError
from askmeans.web import create_app
from askmeans.web.errors import message_for_program, status_of


def test_no_path_of_this_machine_is_shown_where_the_database_is_gone(tmp_path, tools):
    folder = tmp_path / "a folder"
    folder.mkdir()
    tools.make_fruit(folder / "fruit.db").close()
    with tools.using(create_app(folder / "fruit.db", settle_seconds=0.0)) as client:
        token, mark = tools.token_of(client), client.app.state.context.assignments.mark
        client.get("/")
        for file in folder.iterdir():
            file.unlink()
        form = {"token": token, "session": mark, "annotator": "ann", "question": "1", "key": "k",
                "value": "0.5"}  # fmt: skip
        by_script = {"x-askmeans": "part"}
        replies = [
            client.get("/"), client.get("/results"), client.get("/history"),
            client.get("/export/all.json"), client.get("/api/status"), client.get("/api/result"),
            client.post("/answer", data=form, headers=by_script),
        ]  # fmt: skip
        last = client.post("/answer", data=form)
        # A page where no connection was left for the sign-in: models are learnt meanwhile.
        message = unquote(client.cookies.get("askmeans_said", last.text))
    assert any("fruit.db" in reply.text for reply in replies)
    assert "fruit.db" in message
    for text in [*(reply.text for reply in replies), message]:
        assert str(tmp_path) not in text
        assert "a folder" not in text.replace("%20", " ")
        assert tmp_path.name not in text


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("/home/ann/x.npy must be there.", "x.npy must be there."),
        ("Got '/mnt/x/y.db'; use /tmp/z.db", "Got 'y.db'; use z.db"),
        ("1/2 and/or http://127.0.0.1/items/3", "1/2 and/or http://127.0.0.1/items/3"),
    ],
)
def test_files_are_called_by_their_names(client, told, shown):
    assert message_for_program(SessionError(told), client.app.state.context.session) == shown


def test_the_api_tells_where_an_image_can_be_had_not_where_its_file_lies(tmp_path, tools):
    items = [{"image": str(tmp_path / "a.png")}, {"image": None}] * 3
    (tmp_path / "a.png").write_bytes(b"a")
    tools.make_fruit(tmp_path / "i.db", items=items, image="image", folder=tmp_path).close()
    with tools.using(create_app(tmp_path / "i.db")) as client:
        shown = [client.get(f"/api/items/{row}").json()["image"] for row in range(2)]
        assert shown == ["/image/0", None]
        assert client.get(shown[0]).content == b"a"


def test_a_full_disk_is_to_be_tried_again():
    """page.js sends an answer again until there is room."""
    assert status_of(StoreFullError("full")) == 503
