"""Small copies of pictures are there before the card is, and a browser keeps them."""

import numpy as np
import pytest
from PIL import Image

from askmeans import sessions
from askmeans.sessions.store import thumbnails_of
from askmeans.tables import pictures
from askmeans.web import create_app
from askmeans.web.files import Thumbnails


@pytest.fixture
def path(tmp_path):
    """A session on 24 pictures that are too large to serve as they are."""
    rng = np.random.default_rng(0)
    for place in range(24):
        pixels = rng.integers(0, 255, (300, 400, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{place}.png")
    sessions.create(
        tmp_path / "large.db", [[float(place % 2), place / 24.0] for place in range(24)],
        n_clusters=2, items=[{"file": f"{place}.png"} for place in range(24)], image="file",
        folder=tmp_path, random_state=0,
    ).close()  # fmt: skip
    return tmp_path / "large.db"


def test_pictures_of_the_next_cards_and_of_examples_are_made_before_anybody_asks(path, monkeypatch):
    with sessions.open(path) as session:
        thumbs = Thumbnails(session)
        job = thumbs.make_soon()
        for _ in range(6):
            job.result(timeout=60)
            (question,) = session.ask(annotator="ann")
            rows = {*question.items, *session.exemplars(0), *session.exemplars(1)}
            with monkeypatch.context() as patch:  # nothing has to be made now
                patch.setattr(pictures, "open_picture", None)
                for row in rows:
                    small = pictures.thumbnail(
                        session.rows.image_file(row), thumbnails_of(session.url)
                    )
                    assert small.parent == thumbnails_of(path)
            session.tell(question.id, question.items[0] % 2, annotator="ann")
            job = thumbs.make_soon("ann")
        thumbs.close()


def test_a_server_makes_them_from_its_start(path, tools):
    app = create_app(path)
    assert not thumbnails_of(path).exists()
    with tools.knocking(app):  # and asks for nothing
        app.state.context.thumbnails.make_soon().result(timeout=60)
        assert len(list(thumbnails_of(path).iterdir())) > 5


def test_a_session_without_pictures_has_no_thread_for_them(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db") as session:
        thumbs = Thumbnails(session)
        assert thumbs.make_soon("ann") is None
        thumbs.close()


def test_a_browser_keeps_a_picture_for_whoever_is_signed_in_until_it_changes(path, tools):
    with tools.using(create_app(path)) as client:
        first = client.get("/image/0?small=true")
        assert first.headers["cache-control"] == "private, max-age=600"
        assert first.headers["vary"] == "cookie"
        told = {"if-none-match": first.headers["etag"]}
        again = client.get("/image/0?small=true", headers=told)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["cache-control"] == "private, max-age=600"
        Image.new("RGB", (400, 300)).resize((1600, 1200)).save(path.parent / "0.png")
        assert client.get("/image/0?small=true", headers=told).status_code == 200
