"""The results in a real browser: map, previews, one-click reviews, names, exports, live."""

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from askmeans import sessions
from askmeans.cli.example_data import make_faces_session
from askmeans.datasets.pictures import MEANS


@pytest.fixture
def products(tmp_path, tools):
    """A session on product texts with 14 answers, its address and its database."""
    path = tmp_path / "products.db"
    answers = tools.make_products(path)
    with sessions.open(path) as session:
        for _ in range(14):
            (question,) = session.ask(annotator="bob")
            session.tell(question.id, answers[question.items[0]], annotator="bob")
    with tools.serving(path) as address:
        yield address, path


@pytest.fixture
def faces(tmp_path, tools):
    """The demo's faces with 12 answers."""
    path = tmp_path / "faces.db"
    make_faces_session(path)
    with sessions.open(path) as session:
        for _ in range(12):
            (question,) = session.ask(annotator="bob")
            gaps = np.square(session.rows.base[question.items[0]] - MEANS).sum(axis=1)
            session.tell(question.id, int(gaps.argmin()), annotator="bob")
    with tools.serving(path) as address:
        yield address


def test_results_of_texts_are_accessible_and_tell_what_makes_a_group(
    look, products, sit_down, check
):
    name, options = look
    page = sit_down(products[0], **options)
    page.goto(f"{products[0]}/results?stopped=1")
    check(page, f"results-texts-{name}", full_page=True)
    expect(page.locator("svg.curve .band")).to_be_visible()
    expect(page.locator(".sure")).to_contain_text("20 more cards would")
    expect(page.locator(".group")).to_have_count(4)
    assert page.locator(".words", has_text="mug").count() == 1
    expect(page.locator(".people")).to_contain_text("here now")


def test_results_of_pictures_are_accessible_and_preview_what_the_pointer_is_on(
    look, faces, sit_down, check
):
    name, options = look
    page = sit_down(faces, **options)
    page.goto(f"{faces}/results")
    page.wait_for_load_state("networkidle")
    check(page, f"results-pictures-{name}", full_page=True)
    assert page.locator("svg.scatter image").count() > 8
    if options.get("has_touch"):
        return
    page.locator("svg.scatter image").first.hover()
    expect(page.locator("#preview")).to_be_visible()
    expect(page.locator("#preview p")).to_contain_text("face ")
    expect(page.locator("#preview img")).to_be_visible()
    check(page, f"preview-{name}")
    page.mouse.move(2, 2)
    expect(page.locator("#preview")).to_be_hidden()


def test_items_of_no_group_are_listed_accessibly(look, tmp_path, sit_down, check, tools):
    name, options = look
    path = tmp_path / "products.db"
    answers = tools.make_products(path)
    with sessions.open(path) as session:
        for row in range(0, 40, 2):
            question = session.add_question("group", (row,), None)
            group = answers[row]
            session.tell(question.id, () if max(group) == 3 else group, annotator="bob")
    with tools.serving(path) as address:
        page = sit_down(address, **options)
        page.goto(f"{address}/results")
        expect(page.get_by_role("heading", name="In none of the groups")).to_be_visible()
        check(page, f"results-outside-{name}", full_page=True)
        region = page.get_by_role("region", name="In none of the groups")
        expect(region.get_by_role("listitem")).to_have_count(12)


def test_an_item_between_groups_is_decided_with_one_click(products, sit_down):
    address, path = products
    page = sit_down(address)
    page.goto(f"{address}/results")
    review = page.locator(".reviews li").first
    row = int(review.locator("a").get_attribute("href").rpartition("/")[2])
    review.get_by_role("button").first.click()
    expect(page.locator("#said")).to_contain_text("Saved: ")
    with sessions.open(path) as session:
        (receipt,) = session.history.answers(annotator="ann")
        assert session.question(receipt.question).items == (row,)
        assert max(receipt.value) == 1.0
    expect(page.locator(f'.reviews a[href="/items/{row}"]')).to_have_count(0)


def test_groups_are_named_by_their_words_or_by_hand_and_exported_by_keys(products, sit_down):
    address, path = products
    page = sit_down(address)
    page.goto(f"{address}/results")
    page.keyboard.press("n")
    expect(page.locator("#said")).to_contain_text("4 groups have names now.")
    with sessions.open(path) as session:
        assert not any(name.startswith("Group ") for name in session.groups.names)
    group = page.locator(".group").first
    group.get_by_text("Rename").click()
    group.get_by_label("New name of").fill("Kitchen")
    group.get_by_label("New name of").press("Enter")
    expect(page.locator(".group h3").first).to_have_text("Kitchen")
    page.wait_for_load_state("load")
    with page.expect_download() as coming:
        page.keyboard.press("x")
    assert coming.value.suggested_filename == "main.spreadsheet.xlsx"
    sheet = pd.read_excel(coming.value.path())
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as coming:
        page.get_by_role("link", name="The same as CSV").click()
    csv = pd.read_csv(coming.value.path())
    assert list(csv.columns) == list(sheet.columns)
    assert list(csv.columns)[:5] == ["text", "id", "group", "share", "confidence"]
    assert "Kitchen" in csv.columns
    assert csv["text"].tolist() == sheet["text"].tolist()
    with sessions.open(path) as session:
        U, names = session.result().memberships, session.groups.names
    np.testing.assert_allclose(sheet[names], U, atol=1e-9)
    np.testing.assert_allclose(csv[names], U, atol=1e-6)
    assert csv["group"].tolist() == [names[j] for j in U.argmax(axis=1)]


def test_the_least_sure_items_are_checked_as_cards_and_then_come_the_results(
    products, sit_down, tools
):
    address, path = products
    page = sit_down(address)
    page.goto(f"{address}/results")
    with sessions.open(path) as session:
        answered = {q.question for q in session.history.answers(annotator="bob")}
    page.get_by_role("button", name="Check these 20").click()
    expect(page.locator("#checking")).to_have_text("Check 1 of 20")
    tools.answer(page, "2")
    expect(page.locator("#checking")).to_have_text("Check 2 of 20")
    tools.answer(page, "z")
    expect(page.locator("#checking")).to_have_text("Check 1 of 20")
    for _ in range(19):
        tools.answer(page, "1")
    expect(page.locator("#checking")).to_have_text("Check 20 of 20")
    page.wait_for_selector("#question[data-ready]", state="attached")
    page.keyboard.press("1")
    expect(page.locator("h1")).to_contain_text("Results")
    with sessions.open(path) as session:
        mine = session.history.answers(annotator="ann")
        assert len(mine) == 20
        assert not {reply.question for reply in mine} & answered
    page.goto(address)
    expect(page.locator("#checking")).to_be_hidden()


def test_a_name_in_the_legend_shows_its_group_alone(products, sit_down):
    page = sit_down(products[0])
    page.goto(f"{products[0]}/results")
    expect(page.locator("svg.scatter text.label")).to_have_count(4)
    name = page.locator(".legend a").first
    name.click()
    shown = page.locator("svg.scatter a:not(.faint)")
    groups = {each.get_attribute("data-group") for each in shown.all()}
    assert groups == {"0"}
    name.click()
    expect(page.locator(".faint")).to_have_count(0)


def test_many_items_are_drawn_from_a_sample_and_it_says_so(tmp_path, sit_down, tools):
    X = np.random.default_rng(0).normal(size=(5000, 3))
    X[:2500] += 4.0
    sessions.create(tmp_path / "many.db", X, n_clusters=2, random_state=0).close()
    with tools.serving(tmp_path / "many.db") as address:
        page = sit_down(address)
        page.goto(f"{address}/results")
        expect(page.locator(".map figcaption")).to_contain_text("a sample of 1,250 of 5,000 items")
        assert page.locator("svg.scatter circle").count() == 1250


def test_without_script_results_are_reviewed_and_renamed(products, sit_down):
    address, _ = products
    page = sit_down(address, java_script_enabled=False)
    page.goto(f"{address}/results")
    page.locator(".reviews button").first.click()
    expect(page.locator("#said")).to_contain_text("Saved: ")
    page.get_by_role("button", name="Use these names").click()
    expect(page.locator("#said")).to_contain_text("4 groups have names now.")


def test_what_people_disagree_about_is_decided_with_one_click(tmp_path, sit_down, check, tools):
    path = tmp_path / "two.db"
    answers = tools.make_products(path, n=60, annotations=2)
    with sessions.open(path) as session:
        for place in range(8):
            (question,) = session.ask(annotator="bob")
            kind = max(answers[question.items[0]], key=answers[question.items[0]].get)
            session.tell(question.id, kind, annotator="bob")
            session.tell(question.id, kind if place else (kind + 1) % 4, annotator="cleo")
    with tools.serving(path) as address:
        page = sit_down(address)
        page.goto(f"{address}/results")
        expect(page.locator(".people + .note, .scroll + .note")).to_contain_text("alpha: 0.")
        check(page, "results-disputes", full_page=True)
        dispute = page.get_by_role("heading", name="Where people disagree").locator("+ ul li")
        expect(dispute).to_have_count(1)
        dispute.get_by_role("button").first.click()
        expect(page.locator("#said")).to_contain_text("Decided.")
        expect(dispute).to_contain_text("Decided: ")
        dispute.get_by_role("button", name="Take back").click()
        expect(page.locator("#said")).to_contain_text("Taken back.")
