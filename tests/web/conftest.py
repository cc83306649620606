"""Sessions served on loopback, and a real browser to answer them with."""

import socket
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from browsers import find_browser
from missing_parts import need
from playwright.sync_api import Error, expect, sync_playwright
from sklearn.datasets import load_iris

from askmeans import TwoPhase, sessions
from askmeans.web import create_app

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "screenshots"
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
REMEDY = (
    "tools/install-browser.sh .venv/axe gets what these tests need, from Debian for root, else for "
    "you alone."
)
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
        "strategy": TwoPhase(sample_size=4),
        "random_state": 0,
    }
    X = [[float(place)] for place in range(len(FRUIT))]
    return sessions.create(path, X, **{**given, **options})


def make_iris(path, **options):
    """Iris with typical items."""
    iris = load_iris(as_frame=True)
    sessions.create(
        path, iris.data.to_numpy(), n_clusters=3, items=iris.data,
        ids=[f"flower {number}" for number in range(1, 151)],
        strategy=TwoPhase(sample_size=30), random_state=0, **options,
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
def using(app):
    """A client of an application, with a token."""
    from starlette.testclient import TestClient

    with TestClient(
        app, base_url="http://127.0.0.1", follow_redirects=False, raise_server_exceptions=False,
        client=("127.0.0.1", 50000),
    ) as client:  # fmt: skip
        client.get("/help")
        yield client


def token_of(client):
    return client.cookies["askmeans_token"]


@contextmanager
def serving(path, **options):
    """The page on a free port, in a thread; gives its address."""
    app = create_app(path, **options)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


@pytest.fixture
def address(database):
    with serving(database, settle_seconds=0.0) as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    part = "chromium, for the tests of the page"
    path = need(find_browser(), part, REMEDY)
    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:  # playwright's own may lack libraries of the system
            need(None, part, f"{path} does not start: {error.message.splitlines()[0]} {REMEDY}")
        yield made
        made.close()


@pytest.fixture(scope="session")
def axe():
    """The script that looks for what shuts people out."""
    need(AXE.exists(), "axe-core, for the tests of the page", REMEDY)
    return AXE.read_text()


@pytest.fixture
def sit_down(browser):
    """Open a desk under a name; returns its page. Errors in the browser fail the test."""
    contexts, errors = [], []

    def sit(address, name="ann", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/name")
        page.get_by_label("Your name", exact=True).fill(name)
        page.get_by_role("button", name="Start answering").click()
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
        make_iris=make_iris, question_of=question_of, serving=serving, token_of=token_of,
        using=using,
    )  # fmt: skip
