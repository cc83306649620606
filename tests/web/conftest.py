"""Sessions served on loopback, and a real browser to answer them with."""

import json
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import uvicorn
from browsers import REMEDY
from missing_parts import need
from playwright.sync_api import expect
from signing import become
from sklearn.datasets import load_iris
from soaking import in_soak

from askmeans import sessions
from askmeans.tables import read_items
from askmeans.web import create_app
from askmeans.web.runner import listen

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "screenshots"
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
FRUIT = ["plum", "cherry", "grape", "melon", "pumpkin", "papaya"]

expect.set_options(timeout=20_000)  # the machine may be busy


def make_fruit(path, **options):
    """Six fruits of one number each: small ones and large ones."""
    given = {
        "n_clusters": 2,
        "items": [
            {"name": name, "grams": 10.0 * 3**place, "kind": "stone" if place < 2 else "other"}
            for place, name in enumerate(FRUIT)
        ],
        "ids": FRUIT,
        "cluster_names": ["small", "large"],
        "ask": "membership",
        "random_state": 0,
    }
    X = [[float(place)] for place in range(len(FRUIT))]
    return sessions.create(path, X, **{**given, **options})


PRODUCTS = {
    "coffee": "espresso grinder mug filter roast beans barista crema kettle",
    "garden": "spade hose seeds pruning lawn pot trellis compost rake",
    "cycling": "saddle pedal chain tyre helmet brake bell gears pump",
    "office": "lamp drawer monitor keyboard chair cable stand mouse desk",
}


def make_products(path, n=300, **options):
    """Short texts about products of four kinds, some between two; what to answer to each."""
    rng = np.random.default_rng(0)
    words = [told.split() for told in PRODUCTS.values()]
    texts, answers = [], []
    for kind in rng.integers(len(words), size=n).tolist():
        other = int(rng.integers(len(words))) if rng.random() < 0.4 else kind
        answers.append({kind: 1.0} if other == kind else {kind: 0.6, other: 0.4})
        first, second = rng.choice(words[kind], size=2, replace=False)
        look = rng.choice(["sturdy", "light", "new", "classic"])
        texts.append(f"{first} and {second} set with {rng.choice(words[other])}, {look}.")
    table = read_items(pd.DataFrame({"text": texts}), text=["text"])
    given = {"n_clusters": len(words), "items": texts, "random_state": 0} | options
    sessions.create(path, table.features, **given).close()
    return answers


def make_iris(path, **options):
    """Iris with typical items."""
    iris = load_iris(as_frame=True)
    sessions.create(
        path, iris.data.to_numpy(), n_clusters=3, items=iris.data,
        ids=[f"flower {number}" for number in range(1, 151)],
        ask="membership", random_state=0, **options,
    ).close()  # fmt: skip


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "fruit.db"
    make_fruit(path).close()
    return path


@pytest.fixture
def client(database):
    """The page without a browser, as programs reach it."""
    with using(create_app(database, settle_seconds=0.0)) as made:
        yield made


@contextmanager
def using(app, name="ann", role="owner"):
    """A client of an application, signed in, with a token for its forms."""
    with knocking(app) as client:
        sign_in(client, app, name, role)
        yield client


@contextmanager
def knocking(app):
    """A client that nobody knows."""
    from starlette.testclient import TestClient

    with TestClient(
        app, base_url="http://127.0.0.1", follow_redirects=False, raise_server_exceptions=False,
        client=("127.0.0.1", 50000),
    ) as client:  # fmt: skip
        yield client


def sign_in(client, app, name="ann", role="owner"):
    """Come in as somebody, with a link of their own; its token."""
    token = app.state.context.session.people.invite(name, role=role)
    reply = client.get(f"/help?token={token}", follow_redirects=False)
    assert reply.headers["location"] == "/help"
    assert client.get("/help").status_code == 200
    return token


SERVED = {}  # addresses, with the applications behind them
PRINTED = {}  # addresses, with the links that a command printed


def link_to(address, name="ann", role="owner", path="/"):
    """A link that lets somebody in at an address that `serving` gave, or a command printed."""
    if address in PRINTED:
        return PRINTED[address]
    people = SERVED[address].state.context.session.people
    return f"{address}{path}?token={people.invite(name, role=role)}"


def token_of(client):
    return client.cookies["askmeans_token"]


@contextmanager
def serving(path, port=0, **options):
    """The page on a free port or this one, in a thread; gives its address."""
    app = create_app(path, **options)
    listening = listen("127.0.0.1", port)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1,
                            proxy_headers=False)  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    SERVED[address] = app
    try:
        yield address
    finally:
        del SERVED[address]
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


@pytest.fixture
def address(database):
    with serving(database, settle_seconds=0.0) as found:
        yield found


@pytest.fixture(scope="session")
def axe():
    """The script that looks for what shuts people out."""
    need(AXE.exists(), "axe-core, for the tests of the page", REMEDY)
    return AXE.read_text()


@pytest.fixture
def sit_down(browser):
    """Start answering under a name; returns the page. Errors in the browser fail the test."""
    contexts, errors = [], []

    def sit(address, name="ann", role="owner", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        context.request.get(link_to(address, name, role), max_redirects=0)  # past the welcome
        page.goto(address)
        page.wait_for_selector("#question")
        page.wait_for_load_state("load")  # with its stylesheet
        return page

    yield sit
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def picture_of():
    """Keep a screenshot as an artefact."""

    def keep(page, name, **options):
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", **options)

    return keep


DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LOOKS = {
    "light": {"color_scheme": "light", "viewport": DESK},
    "dark": {"color_scheme": "dark", "viewport": DESK},
    "phone-light": {"color_scheme": "light", "viewport": PHONE, "has_touch": True},
    "phone-dark": {"color_scheme": "dark", "viewport": PHONE, "has_touch": True},
}


@pytest.fixture(params=["light", *(in_soak(name) for name in LOOKS if name != "light")])
def look(request):
    """A name and what a browser needs for it."""
    return request.param, LOOKS[request.param]


# All rules are tried, and what breaks them comes back: the rest is megabytes.
VIOLATIONS = """axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))"""


@pytest.fixture
def check(axe, picture_of):
    """Look for violations on the page as it is, and keep a picture of it."""

    def run(page, name, **options):
        page.wait_for_timeout(150)  # let colours change to their end
        picture_of(page, name, **options)
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe)  # as a tool, which the page's policy lets in
        told = page.evaluate(VIOLATIONS)
        assert not told, json.dumps(told, indent=1)
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    return run


def take_all(session):
    """Let others hold every question, one each; who, and which."""
    held = {}
    while questions := session.ask(annotator=f"bob {len(held)}"):
        held[f"bob {len(held)}"] = questions[0].id
    return held


def question_of(page):
    return page.get_attribute("#question", "data-question")


def answer(page, key):
    """Press a key when the question may be answered, and wait for the next one."""
    page.wait_for_selector("#question[data-ready]", state="attached")
    before = page.get_attribute("#question", "data-key")
    page.keyboard.press(key)
    page.wait_for_selector(f'#question:not([data-key="{before}"])', state="attached")


@pytest.fixture(scope="session")
def tools():
    """The functions above, for the tests: they cannot import a conftest."""
    return SimpleNamespace(
        FRUIT=FRUIT, SCREENSHOTS=SCREENSHOTS, answer=answer, make_fruit=make_fruit,
        make_iris=make_iris, make_products=make_products, question_of=question_of,
        serving=serving, token_of=token_of, using=using, knocking=knocking, sign_in=sign_in,
        link_to=link_to, become=become, PRINTED=PRINTED, take_all=take_all,
    )  # fmt: skip
