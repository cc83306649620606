"""The card in a browser: the page's own script, with Python behind it instead of a server."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import askmeans
from askmeans import notebook, sessions

SCRIPT = (Path(askmeans.__file__).parent / "notebook" / "widget.js").read_text()
PICTURES = Path(__file__).parents[2] / "screenshots"
# A front end's model, as anywidget's contract has it: messages, and who listens to them.
MODEL = """(script) => import(URL.createObjectURL(
    new Blob([script], { type: "text/javascript" }))).then((module) => {
  const listeners = {};
  window.model = {
    on: (name, listen) => { listeners[name] = listen; },
    off: (name) => { delete listeners[name]; },
    send: async (message) => {
      for (const reply of await window.python(message)) listeners["msg:custom"]?.(reply);
    },
  };
  window.end = module.default.render({ model: window.model, el: document.body });
})"""
EVIL = '<img src="x" onerror="parent.evil = 1">'


@pytest.fixture
def draw(browser, tmp_path):
    """Draw the first card of a session; the page, the card's frame, and the session."""
    opened = []

    def drawn(ask, **options):
        X = [[float(place)] for place in range(12)]
        items = [f"{EVIL} {place}" for place in range(12)]
        session = sessions.create(
            tmp_path / f"{ask}.db", X, n_clusters=2, items=items, ask=ask, random_state=0,
            cluster_names=[EVIL, "other"] if ask == "group" else None, **options,
        )  # fmt: skip
        widget = notebook.ask(session)

        def python(message):
            replies = []
            widget.send = replies.append
            widget._handle_custom_msg(message, [])
            return replies

        page = browser.new_page()
        opened.extend((session, page))
        page.set_default_timeout(20_000)
        page.expose_function("python", python)
        page.set_content("<body></body>")
        page.evaluate(MODEL, SCRIPT)
        card = page.frame_locator("iframe")
        expect(card.locator("#question[data-ready]")).to_have_count(1)
        card.locator("h1").focus()
        return page, card, session

    yield drawn
    for each in opened:
        each.close()


def press(page, card, *keys):
    """Press keys; the next card is there, and ready, when it returns."""
    before = card.locator("#question").get_attribute("data-key")
    for key in keys:
        page.keyboard.press(key)
    expect(card.locator("#question")).not_to_have_attribute("data-key", before)
    expect(card.locator("#question[data-ready]")).to_have_count(1)


def answers(session):
    return [(each.kind, each.value) for each in session.history.answers()]


def test_each_key_of_a_group_card_gives_its_answer(draw):
    page, card, session = draw("group")
    for key in ("1", "2", "0", "c", "s", "z"):
        press(page, card, key)
    expected = [("answer", (1.0, 0.0)), ("answer", (0.0, 1.0)), ("answer", (0.0, 0.0)),
                ("unsure", None)]  # fmt: skip
    assert answers(session) == expected  # the skip was taken back
    page.keyboard.press("Shift+Digit1")
    page.keyboard.press("Shift+Digit2")
    press(page, card, "ArrowRight", "Enter")
    assert answers(session)[-1] == ("answer", pytest.approx((0.45, 0.55)))
    expect(card.locator("#said")).to_contain_text("Saved: ")


def test_a_new_group_is_named_and_letters_of_its_name_answer_nothing(draw):
    page, card, session = draw("group")
    page.keyboard.press("n")
    press(page, card, *"c2s", "Enter")
    assert session.groups.names[-1] == "c2s"
    assert answers(session) == [("answer", (0.0, 0.0, 1.0))]


def test_a_group_is_renamed_from_its_tile(draw):
    _, card, session = draw("group")
    card.locator("a[data-rename]").last.click()
    card.get_by_label("New name").fill("rest")
    card.locator("#rename").get_by_role("button", name="Save").click()
    expect(card.locator(".choices .word").last).to_have_text("rest")
    assert session.groups.names == [EVIL, "rest"]


def test_the_guidelines_come_with_their_key(draw):
    page, card, session = draw("group")
    session.settings.set_option("guidelines", f"Go by *weight*. {EVIL}")
    page.evaluate("window.end()")
    page.reload()
    page.evaluate(MODEL, SCRIPT)
    expect(card.locator("#question[data-ready]")).to_have_count(1)
    card.locator("h1").focus()
    page.keyboard.press("g")
    expect(card.locator("#guidelines")).to_contain_text("Go by weight.")


def test_what_comes_from_data_is_text(draw):
    page, card, _ = draw("group")
    expect(card.locator(".asked .text")).to_contain_text(EVIL)
    expect(card.locator(".choices .word").first).to_have_text(EVIL)
    assert card.locator("#question img").count() == 0
    expect(card.locator("#result-so-far li")).to_have_count(2)
    assert not page.evaluate("window.evil")


@pytest.mark.parametrize(
    ("ask", "key", "value"),
    [("membership", "4", 0.75), ("pairwise", "1", 0.0), ("relative", "2", 0.5)],
)
def test_other_questions_are_answered_by_points(draw, ask, key, value):
    page, card, session = draw(ask)
    press(page, card, key)
    assert answers(session) == [("answer", value)]


def test_the_result_is_drawn_below_the_card_after_a_pause(draw):
    page, card, _ = draw("group")
    press(page, card, "1")
    expect(card.locator("#result-so-far li")).to_have_count(2)
    expect(card.locator("#result-so-far svg.scatter circle")).to_have_count(12)
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / "notebook-card.png")


def test_a_question_mark_shows_the_keys_and_no_link_leads_away(draw):
    page, card, _ = draw("group")
    page.keyboard.press("?")
    expect(card.locator("#keys")).to_contain_text("none of these")
    expect(card.locator("a:visible:not([data-rename])")).to_have_count(0)  # once styled
