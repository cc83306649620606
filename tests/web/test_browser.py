"""The page in a real browser: by keys, by clicks, without script, on a phone, through crashes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from askmeans import sessions

COMMAND = Path(sys.executable).parent / "askmeans"


def kept(database, annotator=None):
    """What stands in the database: question, kind and value of every answer."""
    with sessions.open(database) as session:
        receipts = session.history.answers(annotator=annotator)
    return [(receipt.question, receipt.kind, receipt.value) for receipt in receipts]


def test_a_session_is_answered_to_its_end_by_keyboard(address, database, sit_down, tools):
    page = sit_down(address)
    expect(page.locator("h1")).to_contain_text("How much does")
    keys = iter("15324" * 10)
    pressed = []
    while question := tools.question_of(page):
        pressed.append((int(question), key := next(keys)))
        tools.answer(page, key)
        expect(page.locator("#said")).to_contain_text("Saved")
        expect(page.locator("#next")).to_have_text(page.locator("h1").text_content())  # read out
    expect(page.locator("h1")).to_have_text("All done")
    assert kept(database) == [(q, "answer", (int(key) - 1) / 4) for q, key in pressed]
    with sessions.open(database) as session:
        assert session.status().state == "all done"
    page.keyboard.press("3")  # nothing to answer any more
    tools.answer(page, "z")
    assert tools.question_of(page) == str(pressed[-1][0])
    tools.answer(page, pressed[-1][1])
    expect(page.locator("h1")).to_have_text("All done")
    page.get_by_role("link", name="See the results").click()
    expect(page.locator("svg.scatter circle")).to_have_count(len(tools.FRUIT))


def test_undo_takes_the_last_answer_back_and_shows_its_question(address, database, sit_down, tools):
    page = sit_down(address)
    first = tools.question_of(page)
    tools.answer(page, "5")
    second = tools.question_of(page)
    assert second != first
    tools.answer(page, "s")  # a skip is no answer, and can be undone, too
    assert kept(database) == [(int(first), "answer", 1.0), (int(second), "skip", None)]
    tools.answer(page, "z")
    assert tools.question_of(page) == second
    tools.answer(page, "z")
    assert tools.question_of(page) == first
    expect(page.locator("#said")).to_contain_text("Taken back: “entirely” (1)")
    assert kept(database) == []
    assert page.get_by_role("button", name="Undo").is_disabled()
    tools.answer(page, "c")
    assert kept(database) == [(int(first), "unsure", None)]


def test_a_reload_shows_the_same_question_and_answers_nothing(address, database, sit_down, tools):
    page = sit_down(address)
    tools.answer(page, "2")
    question = tools.question_of(page)
    page.reload()
    assert tools.question_of(page) == question
    tools.answer(page, "4")
    page.reload()
    page.go_back()
    assert [given[1:] for given in kept(database)] == [("answer", 0.25), ("answer", 0.75)]


def next_ready(page, before):
    """Wait for another question that may be answered."""
    page.wait_for_selector(f'#question[data-ready]:not([data-key="{before}"])', state="attached")


def test_double_clicks_and_held_keys_answer_once(address, database, sit_down, tools):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    before = page.get_attribute("#question", "data-key")
    page.get_by_role("button", name="half").dblclick()
    next_ready(page, before)
    page.mouse.down(click_count=2)  # a slow second click: the next question is there already
    page.mouse.up(click_count=2)
    before = page.get_attribute("#question", "data-key")
    page.keyboard.down("2")
    page.keyboard.down("2")  # repeats while the key is held
    next_ready(page, before)
    page.keyboard.down("2")  # and goes on to when the next question is there
    page.keyboard.up("2")
    assert page.evaluate("document.activeElement.textContent").startswith("3")  # focus was kept
    tools.answer(page, "4")
    assert [value for _, _, value in kept(database)] == [0.5, 0.25, 0.75]


def test_a_button_answers_once_however_long_enter_is_held(address, database, sit_down, tools):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    before = page.get_attribute("#question", "data-key")
    page.get_by_role("button", name="mostly").focus()
    page.keyboard.down("Enter")
    next_ready(page, before)
    page.keyboard.down("Enter")  # repeats: the next question is there, and the button has the focus
    page.keyboard.up("Enter")
    tools.answer(page, "2")
    assert [value for _, _, value in kept(database)] == [0.75, 0.25]


def test_forms_are_about_the_question_shown_whatever_the_browser_kept(
    address, database, sit_down, tools
):
    page = sit_down(address)
    question = int(tools.question_of(page))
    # As a browser that puts values of before into the fields of a page that is loaded again.
    page.add_init_script(
        """addEventListener("readystatechange", () => {
          const form = document.getElementById("answer");
          if (form && document.readyState === "interactive") form.elements.question.value = "99";
        }, true);"""
    )
    page.reload()
    tools.answer(page, "4")
    assert kept(database) == [(question, "answer", 0.75)]


def test_focus_is_never_lost(address, sit_down, tools):
    page = sit_down(address)
    page.locator("#question .meaning a").focus()
    tools.answer(page, "3")
    assert page.evaluate("document.activeElement.tagName") == "H1"  # it was in what is exchanged
    while tools.question_of(page):
        page.wait_for_selector("#question[data-ready]", state="attached")
        before = page.get_attribute("#question", "data-key")
        page.get_by_role("button", name="half").press("Enter")
        page.wait_for_selector(f'#question:not([data-key="{before}"])', state="attached")
    expect(page.locator("h1")).to_have_text("All done")
    assert page.evaluate("document.activeElement.tagName") == "H1"  # its form is hidden now


def test_who_waits_keeps_the_focus_and_hears_nothing_twice(address, database, sit_down, tools):
    with sessions.open(database) as session:
        held = tools.take_all(session)
        page = sit_down(address)
        page.get_by_role("link", name="See the results").focus()
        page.evaluate(
            """() => {
              window.heard = 0;
              const next = document.getElementById("next");
              new MutationObserver(() => window.heard++).observe(next, { childList: true });
            }"""
        )
        who, question = next(iter(held.items()))
        session.tell(question, 0.5, annotator=who)
        expect(page.locator(".counts strong")).to_have_text("1")  # the counts are new
        assert page.evaluate("document.activeElement.textContent") == "r See the results"
        assert page.evaluate("heard") == 0


def test_what_is_unfolded_stays_so_and_the_slider_begins_in_the_middle(address, sit_down, tools):
    page = sit_down(address)
    page.locator(".basis summary").click()
    page.locator(".finer summary").click()
    page.get_by_label("How much, from 0 to 1").press("ArrowRight")
    expect(page.locator("output")).to_have_text("0.55")
    tools.answer(page, "2")
    expect(page.locator(".basis p").first).to_be_visible()
    expect(page.locator("output")).to_have_text("0.50")


def test_keys_may_be_turned_off_and_on(address, database, sit_down, tools):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    page.keyboard.press("?")
    page.get_by_label("Answer with these keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()  # it is remembered
    page.wait_for_selector("#question[data-ready]", state="attached")
    page.keyboard.press("3")
    page.keyboard.press("?")
    page.get_by_label("Answer with these keys").check()
    page.keyboard.press("Escape")
    page.wait_for_selector("#keys", state="hidden")
    tools.answer(page, "4")
    assert [value for _, _, value in kept(database)] == [0.75]


def test_letters_answer_with_the_capitals_locked(address, database, sit_down, tools):
    page = sit_down(address)
    tools.answer(page, "C")
    assert [kind for _, kind, _ in kept(database)] == ["unsure"]


def test_an_answer_never_goes_to_another_question_than_was_seen(address, database, sit_down, tools):
    here, there = sit_down(address), sit_down(address)  # one person, two windows
    question = int(tools.question_of(here))
    assert tools.question_of(there) == str(question)
    tools.answer(there, "1")
    tools.answer(here, "5")  # this window still shows the question answered there
    expect(here.locator("#said")).to_contain_text("undo that first")
    assert kept(database) == [(question, "answer", 0.0)]
    assert tools.question_of(here) == tools.question_of(there)


def test_two_annotators_never_get_the_same_question(address, database, sit_down, tools):
    ann, bob = sit_down(address, "ann"), sit_down(address, "bob")
    seen = {"ann": [], "bob": []}
    for _ in range(2):
        for name, page in (("ann", ann), ("bob", bob)):
            if question := tools.question_of(page):
                seen[name].append(question)
                tools.answer(page, "3")
    assert seen["ann"]
    assert seen["bob"]
    assert not set(seen["ann"]) & set(seen["bob"])
    assert len(kept(database, "ann")) == len(seen["ann"])
    assert len(kept(database, "bob")) == len(seen["bob"])


@pytest.mark.parametrize("script", [True, False])
def test_who_stops_is_thanked_sees_the_results_and_leaves_the_questions_to_others(
    address, database, sit_down, tools, script
):
    with sessions.open(database) as session:  # named groups have members from the first answer on
        session.tell(session.ask(annotator="cy")[0].id, 1.0, annotator="cy")
    page = sit_down(address, "ann", java_script_enabled=script)
    question = int(tools.question_of(page))
    page.get_by_role("button", name="Stop here").click()
    expect(page.locator(".thanks")).to_contain_text("Thank you, ann")
    expect(page.locator("svg.scatter circle").first).to_be_visible()
    with sessions.open(database) as session:
        assert session.ask(annotator="bob")[0].id == question


def test_who_waits_for_others_is_told_so_and_goes_on_by_themselves(
    address, database, sit_down, tools
):
    with sessions.open(database) as session:
        held = tools.take_all(session)
        page = sit_down(address)
        expect(page.locator("h1")).to_have_text("Waiting for others")
        expect(page.locator("form#answer")).to_be_hidden()
        for who, question in held.items():
            session.tell(question, 0.5, annotator=who)
        expect(page.locator("h1")).not_to_have_text("Waiting for others")
        session.settings.pause()
    page.reload()
    expect(page.locator("h1")).to_have_text("Paused")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("h1")).not_to_have_text("Paused")


@pytest.fixture
def start(database, tools):
    """Start the real command on the database; kill what is left."""
    running = []

    def run(port):
        process = subprocess.Popen(
            [COMMAND, "serve", database, "--port", str(port), "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        for line in process.stdout:
            if found := re.search(r"(http://\S+)/\?token=\S+", line):
                tools.PRINTED[found[1]] = found[0]
                return process, found[1]
        raise AssertionError("the server ended")

    yield run
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def test_an_answer_given_while_the_server_is_dead_arrives_when_it_is_back(
    database, start, sit_down, tools
):
    process, address = start(0)
    page = sit_down(address)
    tools.answer(page, "2")
    question = int(tools.question_of(page))
    page.wait_for_selector("#question[data-ready]", state="attached")
    process.kill()
    process.wait()
    page.keyboard.press("4")
    expect(page.locator("#said")).to_contain_text("Not saved yet")
    page.keyboard.press("1")  # one at a time: this one is not taken
    start(int(address.rpartition(":")[2]))
    expect(page.locator("#said")).to_contain_text("Saved: “mostly” (¾)")
    assert kept(database)[1:] == [(question, "answer", 0.75)]
    tools.answer(page, "5")
    assert len(kept(database)) == 3


@pytest.mark.parametrize("status", [429, 502])
def test_an_answer_that_a_proxy_or_a_limit_turns_away_is_sent_again(
    address, database, sit_down, tools, status
):
    page = sit_down(address)
    question = int(tools.question_of(page))
    page.wait_for_selector("#question[data-ready]", state="attached")
    away = {"status": status, "content_type": "text/html", "body": "<html>nginx</html>"}
    turned = []

    def turn_away(route):
        turned.append(route.request.post_data)
        route.fulfill(**away)

    page.route("**/answer", turn_away, times=1)
    page.keyboard.press("4")
    expect(page.locator("#said")).to_contain_text("Saved: ")
    assert len(turned) == 1
    assert kept(database) == [(question, "answer", 0.75)]


def test_who_stops_before_an_answer_is_kept_leaves_when_it_is(database, sit_down, tools):
    with tools.serving(database) as address:
        page = sit_down(address)
        page.wait_for_selector("#question[data-ready]", state="attached")
    page.keyboard.press("4")
    expect(page.locator("#said")).to_contain_text("Not saved yet")
    page.get_by_role("button", name="Stop here").click()
    with tools.serving(database, int(address.rpartition(":")[2])):
        expect(page.locator("svg.scatter circle").first).to_be_visible()
    assert [value for _, _, value in kept(database)] == [0.75]
    with sessions.open(database) as session:
        assert session.status().leased == 0


def wait_until(page, expression):
    """Wait for what a script says; the page forbids what `wait_for_function` does."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


def test_a_page_that_is_left_gives_its_question_back_and_a_reload_keeps_it(
    address, database, sit_down, tools
):
    renewed = "performance.getEntriesByName(location.origin + '/renew').length"
    with sessions.open(database) as session:
        session.settings.set_budget(1)
        page = sit_down(address)
        wait_until(page, renewed)
        assert session.status().holding[0].seconds <= 90  # an open page renews a short lease
        other = sit_down(address, "bob")
        expect(other.locator("h1")).to_have_text("Waiting for others")
        expect(other.locator(".holders")).to_contain_text("ann has question 1, for up to")
        page.reload()
        wait_until(page, renewed)  # after the word of the old page that it was left
        assert tools.question_of(page) == "1"
        assert [each.annotator for each in session.status().holding] == ["ann"]
        page.goto("about:blank")
        expect(other.locator("h1")).to_contain_text("How much does")  # it looks again by itself
        assert [each.annotator for each in session.status().holding] == ["bob"]


def test_on_a_phone_items_are_stacked_and_the_answers_are_under_the_thumb(
    address, database, sit_down, picture_of
):
    page = sit_down(address, viewport={"width": 390, "height": 844}, has_touch=True)
    boxes = [box.bounding_box() for box in page.locator("article.item").all()]
    assert len(boxes) == 2
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    buttons = page.locator(".scale button")
    for box in (button.bounding_box() for button in buttons.all()):
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert 844 / 2 < box["y"] + box["height"] <= 844
    picture_of(page, "phone-answering")
    page.wait_for_selector("#question[data-ready]", state="attached")
    buttons.nth(4).tap()
    expect(page.locator("#said")).to_contain_text("Saved: “entirely”")
    assert len(kept(database)) == 1


def test_everything_works_without_script(address, database, sit_down):
    page = sit_down(address, java_script_enabled=False)
    for name in ("half", "Cannot say", "Skip"):
        page.get_by_role("button", name=name).click()
        expect(page.locator("#said")).to_be_visible()
    assert [kind for _, kind, _ in kept(database)] == ["answer", "unsure", "skip"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Taken back: the skip")
    page.get_by_text("Slider").click()
    page.get_by_label("How much, from 0 to 1").press("ArrowRight")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#said")).to_contain_text("0.55")
    page.goto(f"{address}/history")
    page.get_by_label(re.compile("Answer to question")).last.select_option("entirely")
    page.get_by_role("button", name=re.compile("Save the answer")).last.click()
    assert [value for _, _, value in kept(database)] == [None, 0.55, 1.0]
    page.goto(f"{address}/results")
    expect(page.locator("svg.scatter circle").first).to_be_visible()


def test_a_second_click_without_script_is_no_answer_to_the_next_question(database, sit_down, tools):
    with tools.serving(database, settle_seconds=3600.0) as address:  # every click is too quick
        page = sit_down(address, java_script_enabled=False)
        page.get_by_role("button", name="half").click()
        expect(page.locator("#said")).to_contain_text("nothing was saved")
        assert kept(database) == []


def test_answers_are_changed_in_the_history(address, database, sit_down, tools):
    page = sit_down(address)
    first = tools.question_of(page)
    tools.answer(page, "1")
    tools.answer(page, "1")
    page.goto(f"{address}/?question={first}")
    expect(page.locator(".meaning")).to_contain_text("Your answer was “0”")
    tools.answer(page, "4")
    expect(page.locator("#said")).to_contain_text("Saved: “mostly” (¾)")
    assert {q: value for q, _, value in kept(database)}[int(first)] == 0.75
    page.goto(f"{address}/history?q=a")
    page.get_by_label(f"Answer to question {first}").select_option("entirely")
    page.get_by_role("button", name=f"Save the answer to question {first}").click()
    expect(page.locator("#said")).to_contain_text("Saved: “entirely” (1)")
    assert page.url.endswith("/history?q=a")  # the list stays where it was
    page.get_by_role("button", name=f"Take back question {first}").click()
    expect(page.locator("#said")).to_contain_text("Taken back")
    assert len(kept(database)) == 1
    page.goto(address)
    assert tools.question_of(page) == first


def test_the_slider_answers_in_fine_steps_by_keyboard(address, database, sit_down):
    page = sit_down(address)
    page.locator(".finer summary").press("Enter")
    slider = page.get_by_label("How much, from 0 to 1")
    for _ in range(3):
        slider.press("ArrowRight")
    expect(page.locator("output")).to_have_text("0.65")
    page.wait_for_selector("#question[data-ready]", state="attached")
    slider.press("Enter")
    expect(page.locator("#said")).to_contain_text("Saved: “0.65”")
    assert [value for _, _, value in kept(database)] == [0.65]


def test_help_is_a_key_away_and_explains_with_items_of_the_data(address, sit_down, tools):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    page.keyboard.press("?")
    expect(page.locator("dialog#keys")).to_be_visible()
    page.keyboard.press("3")  # keys answer nothing while it is open
    page.get_by_role("link", name="What the answers mean").click()
    expect(page.locator(".example")).to_contain_text(re.compile("|".join(tools.FRUIT)))
    page.go_back()
    assert tools.question_of(page) == "1"


def test_the_results_follow_the_answers_and_leads_to_reasons(
    address, database, sit_down, tools, picture_of
):
    page = sit_down(address)
    question = int(tools.question_of(page))
    page.goto(f"{address}/results")
    expect(page.locator(".facts")).to_contain_text("Answers0")
    with sessions.open(database) as session:
        row = session.question(question).items[0]
        session.tell(question, 0.75, annotator="bob")
    expect(page.locator(".facts")).to_contain_text("Answers1")
    page.locator(f'svg.scatter a[href="items/{row}"] circle').click()
    expect(page.locator("h1")).to_have_text(tools.FRUIT[row])
    expect(page.locator("main")).to_contain_text("bob answered “¾”")
    picture_of(page, "item")


def test_which_of_two_an_item_is_more_like_is_answered_by_keys_and_buttons(
    tmp_path, sit_down, tools, check
):
    path = tmp_path / "relative.db"
    tools.make_fruit(path, ask="relative", cluster_names=None).close()
    with tools.serving(path, settle_seconds=0.0) as address:
        page = sit_down(address)
        expect(page.locator("h1")).to_contain_text("more like the left or the right one?")
        check(page, "relative")
        first = int(tools.question_of(page))
        tools.answer(page, "3")
        expect(page.locator("#said")).to_contain_text("“more like the right”")
        second = int(tools.question_of(page))
        page.wait_for_selector("#question[data-ready]", state="attached")
        page.get_by_role("button", name="both alike").click()
        expect(page.locator("#said")).to_contain_text("“both alike”")
        assert kept(path) == [(first, "answer", 0.0), (second, "answer", 0.5)]
        page.goto(f"{address}/history")
        expect(page.locator("main")).to_contain_text("more like the right")
        expect(page.locator("main")).to_contain_text(" between ")
        page.goto(f"{address}/help")
        expect(page.locator("main")).to_contain_text("in the middle more like the left")


def test_a_key_before_the_card_could_be_read_is_refused_in_sight(
    address, database, sit_down, picture_of, tools
):
    page = sit_down(address)
    tools.answer(page, "2")
    page.wait_for_selector("#question[data-ready]", state="attached")
    question = tools.question_of(page)
    page.evaluate("delete document.getElementById('question').dataset.ready")  # as at first
    page.keyboard.press("4")
    expect(page.locator("#early")).to_contain_text("Too early for this card")
    expect(page.locator("#said")).to_contain_text("Saved")  # what was is still there
    picture_of(page, "too-early")
    assert tools.question_of(page) == question
    page.evaluate("document.getElementById('question').dataset.ready = '1'")
    tools.answer(page, "5")
    expect(page.locator("#early")).to_be_empty()
    assert [value for _, _, value in kept(database)] == [0.25, 1.0]


def test_a_key_while_an_answer_is_under_way_is_refused_in_sight(address, database, sit_down):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    waiting = []
    page.route("**/answer", lambda route: waiting.append(route))
    before = page.get_attribute("#question", "data-key")
    page.keyboard.press("2")
    page.keyboard.press("4")
    expect(page.locator("#early")).to_contain_text("Too early for this card")
    waiting.pop().continue_()
    page.unroute("**/answer")
    next_ready(page, before)
    expect(page.locator("#said")).to_contain_text("Saved")
    expect(page.locator("#early")).to_contain_text("Too early for this card")  # for the new one
    assert [value for _, _, value in kept(database)] == [0.25]


def test_the_second_half_of_a_double_click_is_refused_in_sight(address, database, sit_down):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    before = page.get_attribute("#question", "data-key")
    page.get_by_role("button", name="half").dblclick()
    next_ready(page, before)
    expect(page.locator("#early")).to_contain_text("Too early for this card")
    assert [value for _, _, value in kept(database)] == [0.5]


def test_whose_link_ended_reads_that_their_answer_was_not_saved(address, database, sit_down):
    page = sit_down(address)
    page.wait_for_selector("#question[data-ready]", state="attached")
    with sessions.open(database) as session:
        session.people.revoke("ann")
    page.keyboard.press("2")
    expect(page.locator("#said")).to_contain_text("You are not signed in here any more")
    expect(page.locator("#said")).to_contain_text("Open your link again")
    assert kept(database) == []
