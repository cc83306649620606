"""A person in a browser, from an empty folder to a spreadsheet, with few key presses and clicks."""

import csv
import io
import re
import threading

import numpy as np
import openpyxl
import pytest
import uvicorn
from playwright.sync_api import expect

from askmeans.web.languages import language
from askmeans.web.project_pages import create_projects_app
from askmeans.web.runner import listen

TOKEN = "t" * 43
CARDS, CHECKED, MOVED = 60, 20, 10
WORDS = {
    "Coffee": "espresso grinder mug filter roast beans barista crema",
    "Garden": "spade hose seeds pruning lawn trellis compost rake",
    "Cycling": "saddle pedal chain tyre helmet brake bell gears",
    "Office": "lamp drawer monitor keyboard chair cable stapler desk",
    "Camping": "tent lantern hammock stove sleeping bag rope compass tarp",
    "Music": "guitar amplifier strings drum violin cello reed metronome",
    "Baking": "oven flour whisk dough yeast tin icing rolling",
    "Sewing": "needle thread bobbin fabric button zipper thimble hem",
}


def make_table(path, n=240):
    """Write a CSV of short texts about eight kinds of products; the kind of each, by its id."""
    rng = np.random.default_rng(0)
    kinds = {}
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "price"])
        for number, kind in enumerate(rng.choice(list(WORDS), size=n).tolist()):
            words = ", ".join(rng.choice(WORDS[kind].split(), size=4, replace=False))
            kinds[f"P{number}"] = kind
            table.writerow([f"P{number}", f"About {words}.", int(rng.integers(5, 90))])
    return kinds


@pytest.fixture
def home(tmp_path):
    """An empty folder, served; its address."""
    folder = tmp_path / "projects"
    folder.mkdir()
    app, listening = create_projects_app(folder, TOKEN), listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(timeout=30)
    listening.close()


class Person:
    """Somebody at a browser, whose key presses and clicks are counted."""

    def __init__(self, browser, code="en"):
        self.keys = self.clicks = 0
        self.language = language(code)
        self.context = browser.new_context(
            locale=code, permissions=["clipboard-read", "clipboard-write"]
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)

    def read(self, english, several=None, **values):
        """What the page says for a sentence, in the person's language."""
        catalogue = self.language.catalogue
        text = catalogue.gettext(english)
        if several is not None:
            text = catalogue.ngettext(english, several, values["n"])
        return re.sub("<[^>]*>", "", text % values)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += key.count("+") + 1

    def click(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).first.click()
        self.clicks += 1

    def choose(self, label, option):
        self.page.get_by_label(label, exact=True).select_option(label=option)
        self.clicks += 2  # the field, and what it opens

    def answer(self, kinds):
        """Answer the card with the key of its group; the id of its item."""
        page = self.page
        page.wait_for_selector("#question[data-ready]", state="attached")
        before = page.get_attribute("#question", "data-key")
        text = page.locator("#question .text").first.inner_text()
        item = self.items[text]
        self.press(str(list(WORDS).index(kinds[item]) + 1))
        later = f'#question:not([data-key="{before}"]), #result'  # after the last to check: results
        page.wait_for_selector(later, state="attached")
        return item


def test_the_pages_about_projects_shut_nobody_out(tmp_path, browser, home, check):
    make_table(tmp_path / "a table.csv", n=40)
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{home}?token={TOKEN}")
    check(page, "home-name")
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Sort your items into groups")
    check(page, "home-empty")
    page.set_input_files("#file", tmp_path / "paper.pdf")
    expect(page.get_by_role("alert")).to_have_text(re.compile("^paper.pdf is not of a kind"))
    check(page, "home-refused")
    page.set_input_files("#file", tmp_path / "a table.csv")
    expect(page.get_by_label("Its name")).to_have_value("A table")
    check(page, "home-columns")
    page.get_by_label("Name of group 3").fill("Tents")
    expect(page.get_by_label("Name of group 4")).to_be_visible()  # one more than there are
    page.get_by_label("Use of price").select_option("Sort by it")
    page.get_by_label("Kind of price").select_option("Category")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("h1")).to_have_text("Welcome, Ada", timeout=60_000)
    page.goto(page.url.replace("welcome", "models"))
    expect(page.get_by_label("Most items")).to_have_attribute("placeholder", "all 40")
    check(page, "models")
    page.goto(home)
    expect(page.get_by_role("link", name="A table")).to_be_visible()
    check(page, "home-projects")
    context.close()


@pytest.mark.soak
@pytest.mark.parametrize("code", ["en", "ar"])
def test_a_person_sorts_a_file_and_takes_a_spreadsheet_home(tmp_path, browser, home, code):
    kinds = make_table(tmp_path / "products.csv")
    person = Person(browser, code)
    page, read = person.page, person.read
    with (tmp_path / "products.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    person.items = {row["text"]: row["id"] for row in rows.values()}

    page.goto(f"{home}?token={TOKEN}")
    expect(page.locator("h1")).to_have_text(read("What is your name?"))
    expect(page.locator("html")).to_have_attribute("dir", person.language.direction)
    person.press("A", "d", "a", "Enter")
    with page.expect_file_chooser() as chooser:
        page.locator("#drop label").click()
        person.clicks += 1
    chooser.value.set_files(tmp_path / "products.csv")
    expect(page.locator("#columns")).to_be_visible()
    lines = "\n".join(f"{kind}: {words}" for kind, words in WORDS.items())
    page.evaluate("(text) => navigator.clipboard.writeText(text)", lines)
    page.get_by_label(read("Name of group %(number)s", number=1), exact=True).click()
    person.clicks += 1
    person.press("Control+v", "Enter")
    expect(page.locator("h1")).to_have_text(
        read("Welcome, <bdi>%(name)s</bdi>", name="Ada"), timeout=60_000
    )
    page.wait_for_load_state("load")
    person.press("Enter")
    answered = {person.answer(kinds) for _ in range(CARDS)}
    assert len(answered) == CARDS

    person.click("link", read("Results"))
    check = read("Check this %(n)s", "Check these %(n)s", n=CHECKED)
    person.click("button", f"c {check}")
    answered |= {person.answer(kinds) for _ in range(CHECKED)}
    assert len(answered) == CARDS + CHECKED

    person.click("link", read("Items"))
    page.wait_for_load_state("networkidle")
    person.choose(read("Group"), "Garden")
    page.wait_for_url("**/items?group=*")
    boxes = page.locator('tbody input[type="checkbox"]')
    moved = []
    for place in range(MOVED):
        boxes.nth(place).click()
        person.clicks += 1
        moved.append(page.locator("tbody tr").nth(place).inner_text())
    moved = {person.items[re.search(r"About .*?\.", text)[0]] for text in moved}
    page.get_by_role("button", name="Office").click()
    person.clicks += 1
    expect(page.locator("#said")).to_contain_text(str(MOVED))

    person.click("link", read("Results"))
    with page.expect_download() as coming:
        person.click("link", f"x {read('Download spreadsheet')}")
    book = openpyxl.load_workbook(io.BytesIO(coming.value.path().read_bytes()))
    header, *lines = book.active.iter_rows(values_only=True)
    table = {line[header.index("id")]: dict(zip(header, line, strict=True)) for line in lines}
    person.context.close()

    assert table.keys() == rows.keys()
    for item, line in table.items():
        assert (line["text"], line["price"]) == (rows[item]["text"], int(rows[item]["price"]))
        assert max(line[name] for name in WORDS) == pytest.approx(line["share"])
        if item in moved:
            assert (line["group"], line["decided_by"]) == ("Office", "Ada")
        elif item in answered:
            assert (line["group"], line["decided_by"]) == (kinds[item], "Ada")
    right = [line["group"] == kinds[item] for item, line in table.items() if item not in moved]
    assert np.mean(right) > 0.9
    assert person.keys < 90
    assert person.clicks < 25
