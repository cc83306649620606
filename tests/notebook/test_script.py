"""widget.js in a browser: what Python shows is drawn as text, and each key sends its message."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

import askmeans
from askmeans import notebook, sessions

SCRIPT = (Path(askmeans.__file__).parent / "notebook" / "widget.js").read_text()
# A front end's model, as anywidget's contract has it: values, messages, who listens.
MODEL = """([script, values]) => import(URL.createObjectURL(
    new Blob([script], { type: "text/javascript" }))).then((module) => {
  window.sent = [];
  const heard = {};
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; heard[`change:${name}`]?.(); },
    on: (name, listen) => { heard[name] = listen; },
    off: (name) => { delete heard[name]; },
    send: (message) => window.sent.push(message),
  };
  window.end = module.default.render({ model: window.model, el: document.body });
})"""
EVIL = '<img src="x" onerror="window.evil = 1">'


@pytest.fixture
def draw(browser, tmp_path):
    """Draw the first card of a session; the page and the card's question."""
    opened = []

    def drawn(ask):
        X = [[float(place)] for place in range(12)]
        items = [f"{EVIL} {place}" for place in range(12)]
        session = sessions.create(
            tmp_path / f"{ask}.db", X, n_clusters=2, items=items, ask=ask, random_state=0,
            cluster_names=[EVIL, "other"] if ask == "group" else None,
        )  # fmt: skip
        widget = notebook.ask(session)
        page = browser.new_page()
        opened.extend((session, page))
        page.set_default_timeout(20_000)
        page.set_content("<body></body>")
        shown = widget.shown | {"undoable": True}
        page.evaluate(MODEL, [SCRIPT, json.loads(json.dumps({"shown": shown, "beside": {}}))])
        page.locator(".askmeans").focus()
        page.wait_for_selector(".askmeans[data-ready]")
        return page, shown

    yield drawn
    for each in opened:
        each.close()


def pressed(page, *keys):
    """What keys send, as if Python had shown the same card again in between."""
    page.evaluate("window.sent.length = 0")
    for key in keys:
        page.keyboard.press(key)
    sent = page.evaluate("window.sent.filter((each) => each.do !== 'picture')")
    page.evaluate("model.set('shown', model.get('shown'))")
    page.wait_for_selector(".askmeans[data-ready]")
    return sent


def test_each_key_of_a_group_card_sends_its_answer(draw):
    page, shown = draw("group")
    values = {"1": {"0": 1}, "2": {"1": 1}, "0": "none", "c": "unsure", "s": "skip"}
    for key, value in values.items():
        (sent,) = pressed(page, key)
        wanted = {"do": "answer", "question": shown["question"], "key": shown["key"]}
        assert sent == wanted | {"value": value}
    assert pressed(page, "z") == [{"do": "undo", "key": shown["undo_key"]}]
    keys = ("Shift+Digit1", "Shift+Digit2", "ArrowRight", "Enter")
    (sent,) = pressed(page, *keys)
    assert sent["value"] == {"0": pytest.approx(0.45), "1": pytest.approx(0.55)}
    assert pressed(page, "Shift+Digit1", "Escape") == []
    assert pressed(page, "1", "2") == [sent | {"value": {"0": 1}}]  # one under way


def test_a_new_group_is_named_and_letters_of_its_name_answer_nothing(draw):
    page, shown = draw("group")
    assert pressed(page, "n", "Escape") == []
    (sent,) = pressed(page, "n", *"c2s", "Enter")
    assert sent == {
        "do": "new", "question": shown["question"], "key": shown["key"], "name": "c2s",
    }  # fmt: skip
    assert pressed(page, "n", "Enter") == []  # without a name there is none


def test_the_guidelines_come_as_text_with_their_key(draw):
    page, shown = draw("group")
    assert page.locator(".rules").count() == 0
    page.evaluate("(shown) => model.set('shown', shown)", shown | {"guidelines": EVIL})
    expect(page.locator(".rules")).to_be_hidden()
    page.wait_for_selector(".askmeans[data-ready]")
    page.keyboard.press("g")
    expect(page.locator(".rules")).to_have_text(EVIL)
    page.keyboard.press("g")
    expect(page.locator(".rules")).to_be_hidden()


def test_what_comes_from_data_is_text(draw):
    page, _ = draw("group")
    expect(page.locator(".asked .text")).to_contain_text(EVIL)
    expect(page.locator(".tile .word").first).to_have_text(EVIL)
    assert page.locator(".card img").count() == 0
    assert not page.evaluate("window.evil")


@pytest.mark.parametrize(
    ("ask", "key", "value"),
    [("membership", "4", 0.75), ("pairwise", "1", 0.0), ("relative", "2", 0.5)],
)
def test_other_questions_are_answered_by_points(draw, ask, key, value):
    page, _ = draw(ask)
    expect(page.locator(".item.asked")).to_have_count(2 if ask == "pairwise" else 1)
    expect(page.locator(".item .note")).to_have_count(3 if ask == "membership" else 0)
    (sent,) = pressed(page, key)
    assert sent["value"] == value
    if ask != "relative":
        page.get_by_label("How much, from 0 to 1").fill("0.3")
        page.get_by_role("button", name="Save").click()
        assert page.evaluate("window.sent.at(-1).value") == 0.3


def test_the_result_is_an_image_beside_the_card_and_drawn_after_a_pause(draw):
    page, _ = draw("group")
    page.wait_for_function("window.sent.some((each) => each.do === 'picture')")
    told = {"svg": "<svg/>", "groups": [[EVIL, "#0072b2", 0.25]], "wrong": "About 3 of 9 ..."}
    page.evaluate("(told) => model.set('beside', told)", told)
    expect(page.locator(".result li")).to_have_text(f"{EVIL} 25 %")
    expect(page.locator(".result .counts")).to_have_text("About 3 of 9 ...")
    assert page.locator(".result img").get_attribute("src") == "data:image/svg+xml,%3Csvg%2F%3E"
    page.evaluate("window.end()")


def test_a_question_mark_shows_the_keys(draw):
    page, _ = draw("group")
    expect(page.locator(".keys")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator(".keys")).to_contain_text("none of these")
