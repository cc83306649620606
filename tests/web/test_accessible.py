"""axe-core finds nothing to complain of on any page: by day, by night, on a desk, on a phone.

The first of these looks in `make test`, all four in `make soak`.
"""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from askmeans import sessions
from askmeans.sessions import SessionState

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def answer_all(session, annotator, value=0.5):
    """Answer as somebody else until nothing is asked any more."""
    while session.status().state is SessionState.ASKING:
        for question in session.ask(100, annotator=annotator):
            session.tell(question.id, value, annotator=annotator)


def test_every_page_of_a_session_is_accessible(look, tmp_path, sit_down, check, tools):
    name, options = look
    tools.make_iris(tmp_path / "iris.db", budget=6)
    with tools.serving(tmp_path / "iris.db") as address:
        page = sit_down(address, **options)
        for key in "2455":
            tools.answer(page, key)
        check(page, f"answering-{name}")
        expect(page.locator(".row li")).to_have_count(3)  # the whole row on one card
        page.locator(".basis summary").click()
        page.locator(".finer summary").click()
        check(page, f"answering-open-{name}")
        page.keyboard.press("?")
        check(page, f"keys-{name}")
        for path in ("name", "history", "help", "results", "items/50", "items/9999"):
            page.goto(f"{address}/{path}")
            check(page, f"{path.replace('/', '-')}-{name}", full_page=True)
        page.goto(address)
        tools.answer(page, "1")
        tools.answer(page, "1")
        expect(page.locator("h1")).to_have_text("The budget is spent")
        check(page, f"spent-{name}")


def test_every_rest_is_accessible_and_says_what_it_is(look, database, sit_down, check, tools):
    name, options = look
    with tools.serving(database) as address, sessions.open(database) as session:
        held = tools.take_all(session)
        page = sit_down(address, **options)
        expect(page.locator("h1")).to_have_text("Waiting for others")
        check(page, f"waiting-{name}")
        session.settings.pause()
        expect(page.locator("h1")).to_have_text("Paused")
        check(page, f"paused-{name}")
        session.settings.resume()
        for who, question in held.items():
            session.tell(question, 0.5, annotator=who)
        answer_all(session, "bob")
        expect(page.locator("h1")).to_have_text("All done")
        check(page, f"done-{name}")


def draw_fruit(folder, names):
    """A picture of each, the later the larger."""
    folder.mkdir()
    for place, name in enumerate(names):
        image = Image.new("RGB", (320, 240), "#f4efe2")
        reach = 20 + 8 * place
        box = (160 - reach, 120 - reach, 160 + reach, 120 + reach)
        ImageDraw.Draw(image).ellipse(box, fill=("#7a3b69", "#3b7a4c")[place % 2])
        image.save(folder / f"{name}.png")


def make_pictures(tmp_path, names, X, **options):
    """A session about things with pictures, texts and fields."""
    draw_fruit(tmp_path / "images", names)
    items = [
        {"file": f"{name}.png", "words": f"A {name}, ripe.", "place": place, "kind": name[0]}
        for place, name in enumerate(names)
    ]
    return sessions.create(
        tmp_path / "pictures.db", X, items=items, ids=names, image="file", text="words",
        folder=tmp_path / "images", random_state=0, **options,
    )  # fmt: skip


def test_pairs_texts_and_images_are_accessible_and_images_zoom(
    look, tmp_path, sit_down, check, tools
):
    name, options = look
    X = [[float(place)] for place in range(6)]
    make_pictures(tmp_path, tools.FRUIT, X, n_clusters=2, ask="pairwise").close()
    with tools.serving(tmp_path / "pictures.db") as address:
        page = sit_down(address, **options)
        expect(page.locator("h1")).to_contain_text("How similar are")
        expect(page.locator(".meaning")).to_contain_text("both land in the same one")
        boxes = [box.bounding_box() for box in page.locator("article.item").all()]
        on_phone = options["viewport"] == PHONE
        assert (boxes[0]["x"] == boxes[1]["x"]) == on_phone  # stacked, or else side by side
        assert (boxes[0]["y"] == boxes[1]["y"]) == (not on_phone)
        assert page.locator(".differs abbr").count() > 0  # marked by more than colour
        assert page.evaluate("[...document.images].every(i => i.naturalWidth === 320 || !i.src)")
        check(page, f"pairs-{name}")
        small = page.locator("a[data-zoom] img").first.bounding_box()
        page.locator("a[data-zoom]").first.click()
        large = page.locator("dialog#zoom img")
        expect(large).to_be_visible()
        assert large.bounding_box()["height"] > 1.4 * small["height"]
        check(page, f"zoom-{name}")
        page.keyboard.press("Escape")
        expect(large).to_be_hidden()


def test_three_items_stand_side_by_side_or_stacked(look, tmp_path, sit_down, check, tools):
    name, options = look
    U = np.random.default_rng(0).dirichlet([0.6, 0.6, 0.6], size=12)
    names = [f"{size} {fruit}" for size in ("small", "large") for fruit in tools.FRUIT]
    with make_pictures(tmp_path, names, U[:, :2], n_clusters=3, ask="similarity") as session:
        while (questions := session.ask(100, annotator="bob"))[0].kind == "pair":
            for question in questions:
                alike = float(U[list(question.items)].prod(axis=0).sum())
                session.tell(question.id, alike, annotator="bob")
        for question in questions:
            session.skip(question.id, annotator="bob")
    with tools.serving(tmp_path / "pictures.db") as address:
        page = sit_down(address, **options)
        expect(page.locator(".meaning")).to_contain_text("all three land in the same one")
        boxes = [box.bounding_box() for box in page.locator("article.item").all()]
        assert len(boxes) == 3
        assert len({box["y" if options["viewport"] == DESK else "x"] for box in boxes}) == 1
        check(page, f"triplet-{name}")


def make_groups(path, n_groups, *, each=2, **shown):
    """Group questions, `each` answered for a group: item i is in group i modulo the groups."""
    X = np.random.default_rng(0).normal(scale=0.1, size=(8 * n_groups, 3))
    X[:, 0] += np.arange(len(X)) % n_groups
    names = [
        f"A group called {word}"
        for word in ["one", "two", "three", "four", "five", "six"][:n_groups]
    ]
    with sessions.create(
        path, X, n_clusters=n_groups, ask="group", cluster_names=names, random_state=0, **shown
    ) as session:
        session.settings.set_option("guidelines", "Judge by the whole.")
        for _ in range(each * n_groups):
            (question,) = session.ask(annotator="bob")
            session.tell(question.id, question.items[0] % n_groups, annotator="bob")


def in_sight(page):
    """Whether the item, every group and every button can be seen without scrolling."""
    seen = """() => {
        const tray = document.querySelector('.tray').getBoundingClientRect();
        const above = [...document.querySelectorAll('.asked, .choices button')];
        const fits = (box, end) => box.top >= 0 && box.bottom <= end + 0.5 && box.height > 20;
        return above.every((each) => fits(each.getBoundingClientRect(), tray.top))
            && fits(tray, innerHeight) && document.documentElement.scrollHeight <= innerHeight
            && above.length;
    }"""
    return page.evaluate(seen)


@pytest.mark.parametrize("kind", ["texts", "pictures"])
def test_a_group_card_with_six_groups_is_in_sight_and_accessible(
    kind, look, tmp_path, sit_down, check, tools
):
    name, options = look
    words = [f"Text {j} is here, and goes on. " * (1 + j % 9) for j in range(48)]
    shown = {"items": [{"words": text} for text in words], "text": "words"}
    if kind == "pictures":
        names = [f"thing-{j}" for j in range(48)]
        draw_fruit(tmp_path / "images", names)
        items = [{"file": f"{each}.png", "size": j} for j, each in enumerate(names)]
        shown = {"items": items, "ids": names, "image": "file", "folder": tmp_path / "images"}
    make_groups(tmp_path / "groups.db", 6, **shown)
    with tools.serving(tmp_path / "groups.db") as address:
        page = sit_down(address, **options)
        other = DESK if options["viewport"] == PHONE else PHONE
        for viewport in (other, options["viewport"]):
            page.set_viewport_size(viewport)
            assert in_sight(page) == 7, viewport
        check(page, f"group-{kind}-{name}")
        tools.answer(page, "3")
        expect(page.locator("#said")).to_contain_text("Saved: “A group called three”")
        page.wait_for_selector("#question[data-ready]", state="attached")
        page.keyboard.press("Shift+Digit1")
        expect(page.locator("[aria-pressed=true]")).to_have_count(1)
        page.keyboard.press("Shift+Digit3")
        expect(page.locator("#mix .ends")).to_have_text(
            "50 % A group called one 50 % A group called three"
        )
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        check(page, f"mix-{kind}-{name}")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text(
            "Saved: “30 % A group called one, 70 % A group called three”"
        )
        tools.answer(page, "0")
        expect(page.locator("#said")).to_contain_text("Saved: “none of these”")
        tools.answer(page, "z")
        expect(page.locator("#said")).to_contain_text("Taken back: “none of these”")


def test_good_enough_is_in_sight_and_accessible_and_who_stops_then_is_thanked(
    look, tmp_path, sit_down, check, tools
):
    name, options = look
    make_groups(tmp_path / "groups.db", 6, each=6)
    with tools.serving(tmp_path / "groups.db") as address:
        page = sit_down(address, **options)
        page.goto(f"{address}/results")  # a result is there, and with it an estimate
        expect(page.locator("svg.scatter")).to_be_visible()
        page.goto(address)
        stop = page.get_by_role("button", name="Good enough: stop now")
        expect(stop).to_be_visible()
        for viewport in (DESK, PHONE, options["viewport"]):
            page.set_viewport_size(viewport)
            assert in_sight(page) == 7, viewport
        check(page, f"good-enough-{name}")
        stop.click()
        expect(page.locator(".thanks")).to_contain_text("Thank you, ann")
        expect(page.locator(".sure")).to_contain_text("Good enough: you may stop now.")


def test_a_long_touch_picks_a_group_and_does_not_answer(tmp_path, sit_down, tools):
    make_groups(tmp_path / "groups.db", 2)
    with tools.serving(tmp_path / "groups.db") as address:
        page = sit_down(address, viewport=PHONE, has_touch=True)
        page.wait_for_selector("#question[data-ready]", state="attached")
        before = tools.question_of(page)
        first, second = page.locator(".choices button").all()
        first.dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True})
        expect(page.locator("[aria-pressed=true]")).to_have_count(1)
        first.dispatch_event("pointerup", {"pointerType": "touch", "bubbles": True})
        first.dispatch_event("click")
        second.click(modifiers=["Shift"])
        expect(page.locator("#mix")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("[aria-pressed=true]")).to_have_count(0)
        assert tools.question_of(page) == before
        second.tap()
        expect(page.locator("#said")).to_contain_text("Saved: “A group called two”")
