"""Pages in other languages: nobody is shut out, and long words and mirrored pages fit a phone."""

import pytest
from playwright.sync_api import expect
from soaking import in_soak

from askmeans import sessions
from askmeans._util.message import Message
from askmeans.datasets import make_messages
from askmeans.notebook.card import CardDocument
from askmeans.tables import read_items
from askmeans.web import serve
from askmeans.web.languages import language

PAGES = ("welcome", "results", "groups", "items", "items/3", "history", "help", "invites", "models",
         "name", "signin", "nowhere")  # fmt: skip
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def messages(tmp_path):
    path, data = tmp_path / "shop.db", make_messages(60, n_topics=4)
    names = sorted(set(data.topics))
    with sessions.create(
        path, read_items(list(data.texts)), n_clusters=4, cluster_names=names, random_state=0
    ) as session:
        for question in session.ask(8, annotator="ann"):
            session.tell(question.id, data.topics[question.items[0]], annotator="ann")
        session.settings.set_option("purpose", "Where is the parcel?")
    return path


@pytest.mark.parametrize("code", ["ar", *map(in_soak, ("de", "fr", "es", "zh-CN"))])
def test_pages_in_other_languages_are_accessible_and_fit_a_phone(
    messages, sit_down, check, tools, code
):
    with tools.serving(messages, settle_seconds=0.0) as address:
        page = sit_down(address, locale=code, viewport=PHONE, has_touch=True)
        check(page, f"card-{code}")
        page.locator(".basis summary").click()
        page.keyboard.press("?")
        check(page, f"keys-{code}")
        for path in PAGES:
            page.goto(f"{address}/{path}")
            page.wait_for_load_state("networkidle")
            page.evaluate("document.querySelectorAll('details').forEach((e) => (e.open = true))")
            check(page, f"{path.replace('/', '-')}-{code}", full_page=True)


def test_keys_and_scripts_speak_the_language_of_the_page(messages, sit_down, tools):
    arabic = language("ar")
    with sessions.open(messages) as session:
        first, second, *_ = session.groups.names
    with tools.serving(messages, settle_seconds=0.0) as address:
        page = sit_down(address, locale="ar")
        page.wait_for_selector("#question[data-ready]", state="attached")
        page.keyboard.press("Shift+Digit1")
        asked = arabic.translate(Message("{group}, and which other group?", group=first))
        expect(page.locator("#said")).to_have_text(asked)
        page.keyboard.press("Escape")
        tools.answer(page, "2")
        answer = Message("“{answer}”", answer=second)
        saved = arabic.translate(Message("Saved: {answer}.", answer=answer))
        expect(page.locator("#said")).to_have_text(saved)


def test_a_language_is_chosen_at_the_foot_of_a_page(messages, sit_down, tools):
    with tools.serving(messages, settle_seconds=0.0) as address:
        page = sit_down(address)
        page.goto(f"{address}/items?group=1")
        page.get_by_role("link", name="Deutsch").click()
        page.wait_for_url("**/items?group=1")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page.locator("#in-group")).to_have_value("1")
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", "de")


def test_an_owner_sets_the_language_of_all(messages, sit_down, tools):
    with tools.serving(messages, settle_seconds=0.0) as address:
        page = sit_down(address)
        page.goto(f"{address}/groups")
        page.get_by_label("Language of the page").select_option("العربية")
        page.locator("form[action='/options'] button").click()
        expect(page.locator("html")).to_have_attribute("dir", "rtl")


def test_the_notebooks_card_has_a_language(messages, tmp_path):
    with sessions.open(messages) as session:
        card = CardDocument(session, "ann", str(tmp_path / "small"), "ar")
        assert '<html lang="ar" dir="rtl">' in card.html()
        text, status = card.reply("/answer", "session=another")
        assert status == 409
        assert language("ar").catalogue.gettext("None of these") in card.html()
        assert text


def test_serve_takes_a_language_that_there_is(messages):
    with pytest.raises(ValueError, match="'language' parameter of askmeans serve"):
        serve(messages, language="xx", open_browser=False)
