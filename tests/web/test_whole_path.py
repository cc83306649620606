"""From the name to a named, exported result by keys alone; nothing moves; nobody waits."""

import re

import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect
from soaking import in_soak

from askmeans import sessions
from askmeans.web import create_app


@pytest.mark.parametrize("cards", [12, in_soak(60)])
def test_product_texts_end_in_a_named_exported_result_by_few_keys(cards, tmp_path, browser, tools):
    path = tmp_path / "products.db"
    kinds = [max(told, key=told.get) for told in tools.make_products(path, budget=cards)]
    with sessions.open(path) as session:  # what the examples on the tiles show
        groups = {kinds[session.exemplars(group, n=1)[0]]: group for group in range(4)}
    pressed = []
    with tools.serving(path) as address, sessions.open(path) as session:
        page = browser.new_context().new_page()
        page.on("console", lambda message: pressed.append(message.text))
        page.add_init_script(
            "document.addEventListener('keydown', (e) => console.log(e.key), true)"
        )
        page.goto(tools.link_to(address))
        expect(page.locator("h1")).to_have_text("Welcome, ann")
        page.wait_for_load_state("load")
        page.keyboard.press("Enter")  # no names, and no practice: nobody has placed an item yet
        page.wait_for_selector("#question")
        for _ in range(cards):
            row = session.question(int(tools.question_of(page))).items[0]
            tools.answer(page, str(groups[kinds[row]] + 1) if kinds[row] in groups else "0")
        expect(page.locator("h1")).to_have_text("The budget is spent")
        page.keyboard.press("r")
        expect(page.locator("svg.scatter circle").first).to_be_visible()
        page.wait_for_load_state("load")
        page.keyboard.press("n")
        expect(page.locator("#said")).to_contain_text("groups have names now.")
        page.wait_for_load_state("load")
        with page.expect_download() as coming:
            page.keyboard.press("x")
        table = pd.read_excel(coming.value.path())
        page.context.close()
    assert len(pressed) == cards + 4
    assert len(table) == 300
    assert not any(name.startswith("Group ") for name in table.columns)


SHIFTS = """
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) window.shifts.push(each.value);
  }).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("viewport", [(1280, 800), in_soak((390, 844))])
def test_large_pictures_come_as_small_copies_and_nothing_moves_after_a_card_is_painted(
    viewport, tmp_path, sit_down, tools
):
    folder = tmp_path / "images"
    folder.mkdir()
    for place in range(8):
        noise = Image.effect_noise((400, 300), 80).resize((4000, 3000))
        noise.convert("RGB").save(folder / f"{place}.jpg", quality=90)
    sessions.create(
        tmp_path / "large.db", [[float(place % 2), place / 9.0] for place in range(8)],
        n_clusters=2, items=[{"file": f"{place}.jpg"} for place in range(8)], image="file",
        folder=folder, random_state=0,
    ).close()  # fmt: skip
    with tools.serving(tmp_path / "large.db") as address:
        page = sit_down(address, viewport=dict(zip(("width", "height"), viewport, strict=True)))
        page.add_init_script(SHIFTS)
        page.reload()
        page.wait_for_load_state("networkidle")
        for key in "12":
            sizes = page.evaluate(
                "[...document.querySelectorAll('.grouping img')].map((i) => i.naturalWidth)"
            )
            assert len(sizes) >= 5
            assert max(sizes) <= 480
            tools.answer(page, key)
            page.wait_for_load_state("networkidle")
        assert page.evaluate("window.shifts") == []


def test_pictures_of_a_membership_have_their_places_before_they_come(tmp_path, sit_down, tools):
    for place in range(8):
        Image.new("RGB", (300 + 40 * place, 400)).save(tmp_path / f"{place}.png")
    sessions.create(
        tmp_path / "pictures.db", [[float(place % 2), place / 9.0] for place in range(8)],
        n_clusters=2, items=[{"file": f"{place}.png", "size": place} for place in range(8)],
        image="file", folder=tmp_path, ask="membership", random_state=0,
    ).close()  # fmt: skip
    heights = "[...document.querySelectorAll('article, .beside img')].map((e) => e.offsetHeight)"
    with tools.serving(tmp_path / "pictures.db") as address:
        page = sit_down(address)
        page.wait_for_load_state("networkidle")
        with_pictures = page.evaluate(heights)
        page.route("**/image/**", lambda route: route.abort())
        page.reload()
        assert len(with_pictures) == 6  # two cards, an item and three typical ones
        assert page.evaluate(heights) == with_pictures
        assert min(with_pictures) > 90


def state(reply):
    return re.search(r'data-state="([^"]+)" data-question="(\d*)" data-key="([^"]+)"', reply.text)


def test_ten_people_at_once_never_wait_before_the_budget_is_handed_out(tmp_path, tools):
    path, budget = tmp_path / "crowd.db", 40
    tools.make_products(path, n=120, budget=budget)
    people = [f"person{place}" for place in range(10)]
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        held = {}
        answered = 0
        for turn in range(budget + 10):
            name = people[turn % 10]
            tools.become(client, name)
            if name in held:
                question, key = held.pop(name)
                mark = client.app.state.context.assignments.mark
                fields = {"token": tools.token_of(client), "session": mark, "annotator": name,
                          "question": question, "key": key, "value": "group-1"}  # fmt: skip
                assert client.post("/answer", data=fields).status_code == 303
                answered += 1
            found = state(client.get("/"))
            if answered + len(held) < budget:
                assert found[1] == "asking", (turn, answered)
                assert found[2] not in {question for question, _ in held.values()}
                held[name] = (found[2], found[3])
        assert answered == budget
        assert found[1] == "budget spent"


@pytest.mark.soak
def test_ten_browsers_at_once_never_wait_before_the_budget_is_handed_out(tmp_path, browser, tools):
    path, budget = tmp_path / "crowd.db", 60
    tools.make_products(path, n=120, budget=budget)
    with tools.serving(path) as address, sessions.open(path) as session:
        contexts = [browser.new_context() for _ in range(10)]
        pages = [context.new_page() for context in contexts]
        for place, page in enumerate(pages):
            page.goto(tools.link_to(address, f"person{place}", "annotator"))
            page.get_by_role("link", name="Start answering").click()
        for turn in range(budget - 10):
            page = pages[turn % 10]
            assert tools.question_of(page), page.locator("h1").inner_text()
            tools.answer(page, "1234"[turn % 4])
        held = [tools.question_of(page) for page in pages]
        assert len(set(held)) == 10  # the last ones are in people's hands
        assert all(held)
        for page in pages:
            tools.answer(page, "1")
        expect(pages[0].locator("h1")).to_have_text("The budget is spent")
        assert session.status().answered == budget
        for context in contexts:
            context.close()
