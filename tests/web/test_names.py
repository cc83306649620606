"""Names and texts of users: whole, in their own direction, in colours that can be told apart."""

import re

import numpy as np
import pytest

from askmeans import sessions
from askmeans.web.drawing import colors_of
from askmeans.web.rendering import STATIC

GROUPS = [
    "Delivery late or lost",
    "Delivery damaged",
    "Rechtsschutzversicherung",
    "Refund not received",
    "Account locked",
    "Praise",
    "Card payment refused",
    "Other questions",
    "Cancellation",
]
VIEWS = {"wide": (1440, 900), "zoomed": (720, 450), "phone": (390, 844)}  # 720 is 1440 at 200 %


def channels(color):
    return np.array(list(bytes.fromhex(color.lstrip("#")))) / 255.0


def as_light(color):
    """Light intensities of a colour (IEC 61966-2-1)."""
    srgb = channels(color)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The contrast of two colours (WCAG 2)."""
    low, high = sorted(float(as_light(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def as_oklab(light):
    """Where a colour lies as people see it (Ottosson, 2020)."""
    cones = np.cbrt(np.clip(light, 0.0, 1.0) @ np.array([
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]).T)  # fmt: skip
    return cones @ np.array([
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]).T  # fmt: skip


SEEN = {  # what people see of light (Machado, Oliveira and Fernandes, 2009)
    "all colours": np.eye(3),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                          [-0.011820, 0.042940, 0.968881]]),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                        [-0.003882, -0.048116, 1.051998]]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("sight", "least"), [("all colours", 0.11), ("no green", 0.05), ("no red", 0.05)]
)
def test_twelve_groups_are_told_apart_by_their_colours(sight, least):
    seen = np.array([as_oklab(SEEN[sight] @ as_light(color)) for color in colors_of(12)])
    gaps = np.linalg.norm(seen[:, None] - seen, axis=2)
    assert gaps[~np.eye(12, dtype=bool)].min() > least  # 0.02 is just told apart


def test_every_groups_colour_stands_out_by_day_and_by_night():
    papers = re.findall(r"--(?:paper|card): (#\w+);", (STATIC / "theme.css").read_text())
    assert len(papers) == 4
    for paper in papers:
        assert min(contrast(color, paper) for color in colors_of(12)) > 3.0
        assert min(contrast(color, paper) for color in colors_of(30)) > 2.7


def test_a_group_keeps_its_colour_when_others_come():
    assert colors_of(30)[:14] == colors_of(14)
    assert len(set(colors_of(30))) == 30


@pytest.fixture
def many(tmp_path, tools):
    """A session with nine groups that have long names; its address."""
    X = [[float(row % 9), float(row)] for row in range(45)]
    path = tmp_path / "many.db"
    with sessions.create(path, X, n_clusters=9, cluster_names=GROUPS, random_state=0) as session:
        for _ in range(3):
            (question,) = session.ask(annotator="bob")
            session.tell(question.id, question.items[0] % 9, annotator="bob")
    with tools.serving(path) as address:
        yield address


NAMES = ".word, .heat li span, .legend li, .group h3, .group h2"
CUT = """(names) => [...document.querySelectorAll(names)]
  .filter((each) => each.offsetParent)
  .filter((each) => each.scrollWidth > each.clientWidth + 1
    || each.scrollHeight > each.clientHeight + 2 || getComputedStyle(each).whiteSpace === "nowrap")
  .map((each) => each.textContent)"""
BROKEN = """() => [...document.querySelectorAll(".choices .word")].flatMap((each) => {
  const text = each.firstChild, found = [];
  for (const { index, 0: word } of text.data.matchAll(/\\S+/g)) {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    if (range.getClientRects().length > 1) found.push(word);
  }
  return found;
})"""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_of_groups_are_whole(many, sit_down, picture_of, view, scheme):
    width, height = VIEWS[view]
    page = sit_down(many, viewport={"width": width, "height": height}, color_scheme=scheme)
    for path in ("", "welcome", "groups", "results"):
        page.goto(f"{many}/{path}")
        page.wait_for_load_state("load")
        picture_of(page, f"long-names-{path or 'card'}-{view}-{scheme}", full_page=True)
        assert page.evaluate(CUT, NAMES) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if not path and view != "phone":
            assert page.evaluate(BROKEN) == []  # only between words


ARABIC = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!/^\\s*[\\u0600-\\u06ff]/.test(data)) continue;
    if (parentElement.closest(".heard, title, option")) continue;
    if (getComputedStyle(parentElement).direction !== "rtl") found.push(parentElement.outerHTML);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), textarea")) {
    if (!/^[\\u0600-\\u06ff]/.test(field.value)) continue;
    if (getComputedStyle(field).direction !== "rtl") found.push(field.outerHTML);
  }
  return found;
}"""


def test_what_users_write_has_its_own_direction(tmp_path, sit_down, picture_of, tools):
    path = tmp_path / "arabic.db"
    texts = [f"تأخر الطلب رقم {row} ولم يصل" for row in range(24)]
    with sessions.create(
        path, [[float(row % 3), float(row)] for row in range(24)], n_clusters=3,
        items=[{"message": text, "channel": "هاتف", "long": row} for row, text in enumerate(texts)],
        text="message", cluster_names=["توصيل", "حساب", "شكر"], random_state=0, annotations=2,
    ) as session:  # fmt: skip
        session.settings.set_option("purpose", "نفرز الرسائل حسب موضوعها.")
        session.settings.set_option("guidelines", "# قواعد\n\nكل رسالة لها موضوع.\n\n- ثم أجب")
        for group in range(3):
            session.groups.describe(group, "كل ما يخص الموضوع")
            for row in (group, group + 3):
                session.groups.pin(group, row)
        for who, shift in (("سلمى", 0), ("ann", 1)):
            for question in session.ask(6, annotator=who):
                session.tell(question.id, (question.items[0] + shift) % 3, annotator=who)
    with tools.serving(path) as address:
        page = sit_down(address)
        for place in (
            "",
            "welcome",
            "practice",
            "groups",
            "results",
            "items/4",
            "history",
            "help",
            "find?q=الطلب",
            "items",
        ):
            page.goto(f"{address}/{place}")
            page.wait_for_load_state("load")
            page.evaluate("document.querySelectorAll('details').forEach((e) => (e.open = true))")
            assert page.evaluate(ARABIC) == [], place
            page.evaluate("document.documentElement.dir = 'rtl'")  # as a translated page
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            for stripe in page.locator(".stripe").all()[:1]:
                here, box = stripe.bounding_box(), stripe.locator("..").bounding_box()
                assert here["x"] > box["x"] + box["width"] / 2
            picture_of(
                page,
                f"arabic-{place.partition('?')[0].partition('/')[0] or 'card'}",
                full_page=True,
            )
