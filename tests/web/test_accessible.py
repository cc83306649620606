"""axe-core finds nothing to complain of on any page, by day and by night; pictures of all."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sklearn.datasets import load_iris

from askmeans import TwoPhase, sessions

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63689971030003420190e13b2d510000000049454e44ae426082"
)
README_PICTURE = Path(__file__).parents[2] / "docs" / "images" / "answering.png"


@pytest.fixture
def check(tools, picture_of):
    """Look for violations on the page as it is, and keep a picture of it."""

    def run(page, name, **options):
        picture_of(page, name, **options)
        if not page.evaluate("'axe' in window"):
            page.evaluate(tools.AXE.read_text())  # as a tool, which the page's policy lets in
        found = page.evaluate("axe.run()")
        told = [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]]
        assert not told, json.dumps(told, indent=1)
        assert page.locator("h1").count() == 1

    return run


def make_iris(path, **options):
    """Iris with typical items, as `askmeans demo --web` has it."""
    iris = load_iris(as_frame=True)
    sessions.create(
        path,
        iris.data.to_numpy(),
        n_clusters=3,
        items=iris.data,
        ids=[f"flower {number}" for number in range(1, 151)],
        strategy=TwoPhase(sample_size=30),
        random_state=0,
        **options,
    ).close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_of_a_session_is_accessible(scheme, tmp_path, sit_down, check, tools):
    make_iris(tmp_path / "iris.db", budget=6)
    with tools.serving(tmp_path / "iris.db") as address:
        page = sit_down(address, color_scheme=scheme)
        for key in "2415":
            tools.answer(page, key)
        page.wait_for_timeout(150)  # let colours change to their end
        check(page, f"answering-{scheme}")
        expect(page.locator(".row li")).to_have_count(3)  # the whole row on one card
        page.locator(".basis summary").click()
        page.locator(".finer summary").click()
        check(page, f"answering-open-{scheme}")
        page.keyboard.press("?")
        check(page, f"keys-{scheme}")
        for path in ("name", "history", "help", "results", "items/50", "items/9999"):
            page.goto(f"{address}/{path}")
            check(page, f"{path.replace('/', '-')}-{scheme}", full_page=True)
        page.goto(address)
        tools.answer(page, "1")
        tools.answer(page, "1")
        expect(page.locator("h1")).to_have_text("The budget is spent")
        check(page, f"spent-{scheme}")


def test_pairs_texts_and_images_are_accessible_and_images_zoom(tmp_path, sit_down, check, tools):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in tools.FRUIT:
        (folder / f"{name}.png").write_bytes(PNG)
    items = [
        {"file": f"{name}.png", "words": f"A {name}, ripe.", "place": place, "kind": name[0]}
        for place, name in enumerate(tools.FRUIT)
    ]
    tools.make_fruit(
        tmp_path / "pairs.db", items=items, ask="pairwise", cluster_names=None, image="file",
        text="words", folder=folder, strategy="auto",
    ).close()  # fmt: skip
    with tools.serving(tmp_path / "pairs.db") as address:
        page = sit_down(address)
        expect(page.locator("h1")).to_contain_text("How similar are")
        expect(page.locator(".meaning")).to_contain_text("both land in the same one")
        boxes = [box.bounding_box() for box in page.locator("article.item").all()]
        assert boxes[0]["y"] == boxes[1]["y"]  # side by side
        assert page.locator(".differs abbr").count() > 0  # marked by more than colour
        assert page.evaluate("[...document.images].every(i => i.naturalWidth === 1 || !i.src)")
        check(page, "pairs")
        page.locator("a[data-zoom]").first.click()
        expect(page.locator("dialog#zoom img")).to_be_visible()
        check(page, "zoom")


def test_the_readme_shows_the_page_as_it_is(tmp_path, sit_down, tools, picture_of):
    """The picture in the README is taken here; where it shows other words, take it anew."""
    make_iris(tmp_path / "iris.db")
    with tools.serving(tmp_path / "iris.db") as address:
        page = sit_down(address, viewport={"width": 1100, "height": 750})
        for key in "31425":
            tools.answer(page, key)
        page.wait_for_timeout(150)
        picture_of(page, README_PICTURE.stem)
    assert README_PICTURE.stat().st_size < 150_000
    assert (tools.SCREENSHOTS / README_PICTURE.name).stat().st_size > 10_000
