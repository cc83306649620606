"""Groups within groups in a real browser: a card with two keys, and trees that fold."""

import pytest
from playwright.sync_api import expect

from askmeans import sessions


@pytest.fixture
def nested(tmp_path, tools):
    """A session on product texts, whose four groups are in two; its address and database."""
    path = tmp_path / "products.db"
    tools.make_products(path, n=60, cluster_names=["coffee", "garden", "bikes", "office"])
    with sessions.open(path) as session:
        for name, parts in (("home", ("coffee", "garden")), ("away", ("bikes", "office"))):
            session.groups.add(name)
            for part in parts:
                session.groups.move_group(part, name)
    with tools.serving(path) as address:
        yield address, path


def test_two_keys_on_one_card_and_trees_that_fold(nested, sit_down, check):
    address, path = nested
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    heading, tiles = page.locator("main h1"), page.locator(".choices .word")
    assert tiles.all_inner_texts() == ["home", "away"]
    item = page.locator(".item.asked").inner_text()
    page.wait_for_timeout(300)  # before that a key answers nothing
    page.keyboard.press("1")
    expect(heading).to_contain_text("To which sub-group of home does")
    assert page.locator(".item.asked").inner_text() == item
    assert tiles.all_inner_texts() == ["coffee", "garden", "home", "away"]
    check(page, "nested-card")
    page.wait_for_timeout(300)
    page.keyboard.press("2")
    expect(page.locator("#said")).to_contain_text("garden")
    with sessions.open(path) as session:
        first, second = session.history.answers()
        assert session.question(first.question).items == session.question(second.question).items
        assert session.result().memberships.max(axis=1).max() == 1.0

    page.goto(f"{address}/groups")
    paths = page.locator(".shaping .group:not(.new)").evaluate_all(
        "(all) => all.map((each) => each.ariaLabel)"
    )
    assert paths == ["home", "home / coffee", "home / garden", "away", "away / bikes",
                     "away / office"]  # fmt: skip
    coffee = page.get_by_label("home / coffee", exact=True)
    coffee.locator(".refine summary").click()
    coffee.get_by_label("Names of its sub-groups").fill("beans, cups")
    coffee.get_by_role("button", name="Refine").click()
    expect(page.locator("#said")).to_contain_text("coffee has sub-groups now: beans, cups.")
    check(page, "nested-groups", full_page=True)
    coffee.locator(".refine summary").click()
    page.get_by_role("button", name="Take the sub-groups away from coffee").click()
    expect(page.locator("#said")).to_contain_text("nothing answered is lost")

    page.goto(f"{address}/results")
    branch = page.locator(".branch").first
    expect(branch.locator("summary h3")).to_have_text("home")
    assert branch.locator(".group").evaluate_all(
        "(all) => all.map((each) => each.ariaLabel)"
    ) == ["coffee", "garden"]  # fmt: skip
    branch.locator("summary").first.click()
    expect(branch.locator(".group").first).to_be_hidden()
    page.get_by_text("Coloured by the groups at the top").click()
    expect(page.locator(".level .legend")).to_contain_text("away")
    check(page, "nested-results", full_page=True)


def test_sub_groups_are_proposed_from_an_unsupervised_fit_and_its_words(nested, tools):
    from askmeans.web import create_app

    _, path = nested
    with sessions.open(path) as session:
        for _ in range(12):
            (question,) = session.ask()
            session.tell(question.id, "home")
    with tools.using(create_app(path)) as client:
        text = client.get("/groups?refine=4").text
        assert '<details class="refine" open>' in text
        assert " and " in text.split('id="refine-4"')[1].split('value="')[1].split('"')[0]
