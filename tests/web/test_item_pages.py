"""Items moved together, taken back together, in a browser and by its forms."""

import numpy as np
import pytest
from playwright.sync_api import expect

from askmeans import sessions
from askmeans.web import create_app


@pytest.fixture
def products(tmp_path, tools):
    path = tmp_path / "products.db"
    answers = tools.make_products(path, n=80, cluster_names=["coffee", "garden", "bikes", "office"])
    with sessions.open(path) as session:
        for row in range(12):
            kind = max(answers[row], key=answers[row].get)
            session.groups.move([row], kind, annotator="ann")
    return path


def placed(path, annotator="ann"):
    """The group of each item that somebody answered."""
    with sessions.open(path) as session:
        return {
            session.question(reply.question).items[0]: int(np.argmax(reply.value))
            for reply in session.history.answers(annotator=annotator)
        }


def test_items_are_found_moved_and_moved_back_by_keys(look, products, sit_down, check, tools):
    name, options = look
    before = placed(products)
    with tools.serving(products) as address:
        page = sit_down(address, **options)
        page.goto(f"{address}/items?by=-&q=mug")
        rows = page.locator(".items tbody tr")
        n = rows.count()
        assert 0 < n < 50
        page.keyboard.press("ArrowDown")
        page.keyboard.press("x")
        expect(page.locator("#selected")).to_have_text("Move 1 item to")
        check(page, f"items-selected-{name}")
        page.keyboard.press("x")
        page.keyboard.press("a")
        expect(page.locator("#selected")).to_have_text(f"Move {n} items to")
        page.keyboard.press("3")
        expect(page.locator("#said")).to_have_text(f"{n} items are in bikes now.")
        after = placed(products)
        assert len(after) == 12 + n
        assert {after[row] for row in after.keys() - before.keys()} == {2}
        check(page, f"items-moved-{name}")
        page.keyboard.press("z")
        expect(page.locator("#said")).to_contain_text("Taken back")
        assert placed(products) == before
        page.goto(f"{address}/items")
        page.locator(".items a.what").first.click()
        expect(page.locator(".targets [aria-pressed=true]")).to_have_count(1)
        check(page, f"item-{name}", full_page=True)
        page.keyboard.press("0")
        expect(page.locator("#said")).to_contain_text("“none of these”")


def test_a_line_around_dots_of_the_map_lists_them(products, sit_down, tools):
    with tools.serving(products) as address:
        page = sit_down(address)
        page.goto(f"{address}/results")
        box = page.locator("svg.scatter").bounding_box()
        x, y, width, height = (box[key] for key in ("x", "y", "width", "height"))
        page.mouse.move(x + 1, y + 1)
        page.mouse.down()
        for right, down in ((0.6, 0.0), (0.6, 0.99), (0.0, 0.99)):
            page.mouse.move(x + 1 + right * width, y + 1 + down * (height - 2))
        page.mouse.up()
        expect(page.locator(".found")).to_contain_text("in an area of the map")
        assert 0 < int(page.locator(".found strong").text_content()) < 80


@pytest.fixture
def client(products, tools):
    with tools.using(create_app(products, settle_seconds=0.0)) as made:
        yield made


def send(client, tools, **fields):
    base = {"token": tools.token_of(client), "annotator": "ann", "key": "k", "page": "1",
            "session": client.app.state.context.assignments.mark}  # fmt: skip
    reply = client.post("/items/move", data=base | fields)
    assert reply.status_code == 303
    return client.get(reply.headers["location"]).text


def test_all_that_match_are_moved_unless_others_match_by_now(client, products, tools):
    client.get("/items?by=-")
    before = placed(products)
    said = send(client, tools, all="1", n="67", by="-", value="group-1")
    assert "68 items match by now, so none was moved" in said
    assert placed(products) == before
    assert "68 items are in garden now." in send(
        client, tools, all="1", n="68", by="-", value="group-1"
    )
    assert len(placed(products)) == 80


def test_a_move_of_nothing_or_sent_twice_changes_nothing_more(client, products, tools):
    assert "Choose the items to move first." in send(client, tools, value="group-1")
    for _ in range(2):
        assert "1 item is in garden now." in send(client, tools, value="group-1", **{"row-70": "1"})
    assert placed(products)[70] == 1
    said = send(client, tools, value="group-2", **{"row-71": "1"})  # the same key for another
    assert "not saved" in said
    assert 71 not in placed(products)


def test_annotators_move_nothing(products, tools):
    with tools.using(create_app(products), name="eve", role="annotator") as client:
        assert client.get("/items").status_code == 403
        client.app.state.context.session.settings.set_option("annotators_see_results", True)
        page = client.get("/items")
        assert page.status_code == 200
        assert "Move to" not in page.text.partition("</head>")[2]
        reply = client.post(
            "/items/move",
            data={"token": tools.token_of(client), "row-1": "1", "value": "group-1"},
        )
        assert reply.status_code == 403
