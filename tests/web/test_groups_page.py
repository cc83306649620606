"""Groups shaped by hand in a real browser, on the card and on their own page; practice cards."""

import pytest
from playwright.sync_api import expect
from soaking import in_soak

from askmeans import sessions
from askmeans.web import create_app


@pytest.fixture
def products(tmp_path, tools):
    """A session on product texts, some answered by ann herself; its address and database."""
    path = tmp_path / "products.db"
    answers = tools.make_products(path, n=80, cluster_names=["coffee", "garden", "bikes", "office"])
    with sessions.open(path) as session:
        session.settings.set_option("purpose", "We sort what the shop sells.")
        session.settings.set_option("guidelines", "# Rules\n\nJudge by the **first** word.")
        for _ in range(16):
            (question,) = session.ask(annotator="ann")
            told = answers[question.items[0]]
            session.tell(question.id, max(told, key=told.get), annotator="ann")
    with tools.serving(path) as address:
        yield address, path


def answers_of(path, annotator):
    """What somebody said to each question, as it stands."""
    with sessions.open(path) as session:
        return {
            receipt.question: receipt.value
            for receipt in session.history.answers(annotator=annotator)
        }


def names(path):
    with sessions.open(path) as session:
        return session.groups.names


def test_every_page_about_groups_is_accessible(look, products, sit_down, check):
    name, options = look
    address, _ = products
    page = sit_down(address, **options)
    for path in ("groups", "name", "welcome", "practice", "help"):
        page.goto(f"{address}/{path}")
        check(page, f"{path}-texts-{name}", full_page=True)
    page.goto(address)
    page.wait_for_load_state("load")
    page.keyboard.press("g")
    expect(page.locator("#guidelines")).to_contain_text("Judge by the first word.")
    check(page, f"guidelines-{name}")
    page.keyboard.press("Escape")
    page.locator(".basis summary").click()
    check(page, f"why-go-on-{name}", full_page=True)
    page.keyboard.press("m")
    check(page, f"several-{name}")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Rename garden").click()
    check(page, f"rename-{name}")
    page.goto(f"{address}/practice")
    page.locator(".choices button").nth(1).click()
    expect(page.locator("#said")).to_have_class("failed")
    check(page, f"practice-wrong-{name}")
    page.locator(".choices button").nth(0).click()
    expect(page.locator("#said")).to_contain_text("Yes")
    check(page, f"practice-right-{name}")
    page.goto(f"{address}/find?q=set")
    expect(page.locator(".items tbody tr")).to_have_count(50)
    check(page, f"items-{name}")
    for path, folds in (
        ("groups", ".pins"), ("results", ".rename"), ("groups/merge?group=0&into=1", "h1"),
        ("groups/split?group=0", "h1"),
    ):  # fmt: skip
        page.goto(f"{address}/{path}")
        page.locator(folds).first.wait_for(state="attached")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        check(page, f"{path.partition('?')[0].replace('/', '-')}-unfolded-{name}", full_page=True)


def test_a_group_is_renamed_on_the_card_and_the_question_stays(products, sit_down, tools):
    address, path = products
    page = sit_down(address)
    question = tools.question_of(page)
    page.wait_for_selector("#question[data-ready]", state="attached")
    page.get_by_role("link", name="Rename garden").click()
    page.keyboard.type("plants")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("The group is called plants now.")
    expect(page.locator(".choices")).to_contain_text("plants")
    assert tools.question_of(page) == question
    assert names(path) == ["coffee", "plants", "bikes", "office"]


def test_what_belongs_to_a_group_is_said_in_a_line_and_taken_back(products, tools):
    _, path = products
    with tools.using(create_app(path)) as client:
        context = client.app.state.context
        session = context.session
        sent = {"token": tools.token_of(client), "session": context.assignments.mark,
                "back": "/groups", "cluster": 1, "name": "garden"}  # fmt: skip
        client.post("/rename", data=sent | {"about": "All that grows, and tools for it."})
        assert [change.kind for change in session.history.changes()][2:] == [
            "describe"
        ]  # and no rename
        assert "All that grows, and tools for it." in client.get("/welcome").text
        assert ">All that grows, and tools for it.<" in client.get("/").text
        assert 'value="All that grows, and tools for it."' in client.get("/groups").text
        session.history.take_back(session.history.changes()[-1].event)
        assert "All that grows" not in client.get("/welcome").text
        client.post("/rename", data=sent | {"name": "plants", "about": ""})
        assert session.groups.names[1] == "plants"


def test_a_new_group_takes_the_item_and_undo_takes_both_back(products, sit_down, tools):
    address, path = products
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    question = int(tools.question_of(page))
    page.keyboard.press("n")
    page.keyboard.type("toys")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("There is a group toys now. Saved: “toys”")
    with sessions.open(path) as session:
        assert session.history.answers(annotator="ann")[-1].value == (0.0, 0.0, 0.0, 0.0, 1.0)
        assert session.history.answers(annotator="ann")[-1].question == question
    tools.answer(page, "z")
    expect(page.locator("#said")).to_contain_text("Taken back: the new group toys, and the item")
    assert names(path) == ["coffee", "garden", "bikes", "office"]


@pytest.mark.parametrize("script", [False, in_soak(True)])
def test_groups_are_merged_split_pinned_and_all_is_taken_back(products, sit_down, script):
    address, path = products
    answers = answers_of(path, "ann")
    page = sit_down(address, java_script_enabled=script)
    page.goto(f"{address}/groups")
    first = page.locator("#group-0")
    first.get_by_text("examples of coffee").click()
    first.get_by_role("button", name="Pin").nth(1).click()
    expect(page.locator("#said")).to_contain_text("is an example.")
    with sessions.open(path) as session:
        assert session.groups.pinned(0) == session.exemplars(0, n=1)
    first.get_by_role("link", name="Split coffee").click()
    part = page.get_by_role("form", name="Part 1")
    boxes = part.locator(".picks input")
    rows = [int(box.get_attribute("name").removeprefix("row-")) for box in boxes.all()]
    part.get_by_label("Its name").fill("mugs")
    part.get_by_role("button", name="Split off").click()
    expect(page.locator("#said")).to_contain_text(f"{len(rows)} items are in the new group mugs")
    with sessions.open(path) as session:
        assert set(session.exemplars(4, n=20)) == set(rows)
    page.get_by_role("link", name="Merge bikes").click()
    page.get_by_label("It becomes a part of").select_option(label="office")
    page.get_by_role("button", name="Show both").click()
    expect(page.locator(".choices li")).to_have_count(2)  # with their examples
    page.get_by_role("button", name="Merge them").click()
    expect(page.locator("#said")).to_contain_text("The two groups are one now.")
    assert names(path) == ["coffee", "garden", "office", "mugs"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    assert names(path) == ["coffee", "garden", "bikes", "office", "mugs"]
    page.locator(".changes li", has_text="pinned").get_by_role("button").click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    with sessions.open(path) as session:
        assert session.groups.pinned(0) == []
    page.locator(".changes li", has_text="added mugs").get_by_role("button").click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    now = answers_of(path, "ann")
    assert {question: now[question] for question in answers} == answers
    first.get_by_label("New name of coffee").fill("drinks")
    first.get_by_label("New name of coffee").press("Enter")
    expect(page.locator("#said")).to_contain_text("The group is called drinks now.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    page.get_by_role("button", name="Remove garden").click()
    expect(page.locator("#said")).to_contain_text("The group garden is removed")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    assert names(path) == ["coffee", "garden", "bikes", "office"]


def test_the_owner_tells_people_what_it_is_for(products, sit_down):
    address, path = products
    page = sit_down(address)
    page.goto(f"{address}/groups")
    page.get_by_label("What this is for").fill("For the catalogue.")
    page.get_by_label("Predicted groups come first").check()
    page.get_by_label("Show the known answer").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#said")).to_contain_text("Saved.")
    with sessions.open(path) as session:
        assert session.settings.options["purpose"] == "For the catalogue."
        assert session.settings.options["predicted_first"]
        assert session.settings.options["guidelines"].startswith("# Rules")
        assert session.settings.options["gold_feedback"]
        assert len(session.history.changes()) == 5
    page.goto(f"{address}/welcome")
    expect(page.locator(".purpose")).to_have_text("For the catalogue.")


def test_the_owner_says_when_it_is_good_enough(products, sit_down):
    address, path = products
    page = sit_down(address)
    page.goto(f"{address}/groups")
    field = page.get_by_label("Good enough with fewer than")
    expect(field).to_have_value("")
    field.fill("60")
    page.get_by_role("button", name="Save what is good enough").click()
    expect(page.locator("#said")).to_contain_text("good enough with fewer than 60 %")
    expect(field).to_have_value("60")
    with sessions.open(path) as session:
        assert session.settings.options["good_enough"] == 0.6
        assert session.result().clustering.diagnostics.target == 0.6
    page.goto(f"{address}/results")
    expect(page.locator("body")).to_contain_text("fewer than 60 % in the wrong group")
    page.goto(f"{address}/groups")
    page.locator(".changes button").first.click()  # taken back
    with sessions.open(path) as session:
        assert session.settings.options["good_enough"] == 0.0
        assert session.result().clustering.diagnostics.target != 0.6
    page.get_by_label("At most").fill("300")
    page.get_by_role("button", name="Save the budget").click()
    expect(page.locator("#said")).to_contain_text("The budget is 300 questions now.")


def test_likely_groups_come_first_only_if_the_owner_lets_them_and_none_is_chosen(
    products, sit_down
):
    address, path = products
    page = sit_down(address)
    order = page.locator(".choices .word")
    assert order.all_inner_texts() == ["coffee", "garden", "bikes", "office"]
    with sessions.open(path) as session:
        session.settings.set_option("predicted_first", True)
        page.goto(f"{address}/results")  # a result is there
        row = session.ask(annotator="ann")[0].items[0]
        likely = session.result().memberships[row].argmax()
        page.goto(address)
        expect(order.first).to_have_text(session.groups.names[likely])
    assert page.locator("[aria-pressed]").count() == 0
    expect(page.locator(".grouping")).to_contain_text("The likeliest groups come first.")


def test_many_groups_are_found_by_typing(look, tmp_path, sit_down, check, tools):
    name, options = look
    path = tmp_path / "many.db"
    words = ["ants", "bees", "cats", "dogs", "eels", "foxes", "goats", "hens", "ibis", "jays",
             "kites", "llamas"]  # fmt: skip
    X = [[float(row % 12), float(row)] for row in range(48)]
    sessions.create(path, X, n_clusters=12, cluster_names=words, random_state=0).close()
    with tools.serving(path) as address:
        page = sit_down(address, **options)
        page.wait_for_selector("#question[data-ready]", state="attached")
        check(page, f"many-groups-{name}")
        page.keyboard.press("/")
        page.keyboard.type("lam")
        expect(page.locator(".choices li:visible")).to_have_count(1)
        check(page, f"seek-{name}")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("Saved: “llamas”")
        expect(page.locator(".choices li:visible")).to_have_count(12)


@pytest.mark.parametrize("script", [False, in_soak(True)])
def test_who_comes_in_first_learns_what_it_is_for_and_practises_before_real_cards(
    products, browser, tools, script
):
    address, path = products
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(link := tools.link_to(address, "bob", "annotator"))
    with sessions.open(path) as session:
        before = [event for event in session.history.audit() if event.kind != "invite"]
    expect(page.locator("h1")).to_have_text("Welcome, bob")
    expect(page.locator("main")).to_contain_text("We sort what the shop sells.")
    expect(page.locator(".choices li")).to_have_count(4)
    page.get_by_role("link", name="Practise with 3 cards").click()
    page.locator(".choices button").nth(1).click()  # the first is about the first group
    expect(page.locator("#said")).to_contain_text("others would say coffee")
    page.locator(".choices button").nth(0).click()
    expect(page.locator("#said")).to_contain_text("Yes: it is coffee.")
    for _ in range(2):
        page.get_by_role("link", name="Next practice card").click()
        page.locator(".choices button").nth(2).click()
    page.get_by_role("link", name="Start with the real ones").click()
    expect(page.locator("#answer")).to_be_visible()
    with sessions.open(path) as session:
        assert [event for event in session.history.audit() if event.kind != "invite"] == before
        (question,) = session.ask(annotator="bob")
        session.tell(question.id, 0, annotator="bob")
    page.goto(link)  # no newcomer any more
    expect(page.locator("#answer")).to_be_visible()
    context.close()


def test_practice_goes_by_keys(products, sit_down):
    page = sit_down(products[0])
    page.goto(f"{products[0]}/practice")
    page.wait_for_load_state("load")
    page.keyboard.press("1")
    expect(page.locator("#said")).to_contain_text("Yes: it is coffee.")
    page.wait_for_load_state("load")
    clicked = []
    page.on("console", lambda message: clicked.append(message.text))
    page.evaluate("document.addEventListener('click', (e) => console.log(e.target.tagName), true)")
    page.locator(".choices button").nth(1).press("Enter")  # not the next card, too
    expect(page.locator("#said")).to_contain_text("You said garden; others would say coffee.")
    assert clicked == ["BUTTON"]
    page.wait_for_load_state("load")
    page.locator("h1").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Practice card 2 of 3")


def test_a_split_that_is_refused_changes_nothing(products, tools):
    _, path = products
    with tools.using(create_app(path)) as client:
        context = client.app.state.context
        session = context.session
        answers = session.history.answers(annotator="ann")
        row = next(
            row for row in range(80) if not session.history.answers_about((row,), annotator="ann")
        )
        form = {"token": tools.token_of(client), "session": context.assignments.mark, "group": 0,
                "name": "garden", f"row-{row}": "1"}  # fmt: skip
        client.post("/split", data=form)
        assert session.history.answers(annotator="ann") == answers
        client.post("/split", data=form | {"name": "mugs"})
        assert session.history.answers(annotator="ann")[-1].value == (0.0, 0.0, 0.0, 0.0, 1.0)
