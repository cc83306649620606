"""The card in a real JupyterLab, in a real browser: keys lead to the session's database."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from askmeans import sessions

PATIENCE = 60  # seconds: the machine may be busy
PICTURES = Path(__file__).parents[2] / "screenshots"
CELL = """from askmeans import notebook, sessions
notebook.ask(sessions.open("fruit.db"), annotator="Ada")"""


@pytest.fixture
def lab(tmp_path, session):
    """A JupyterLab in the session's folder, with a notebook; gives the notebook's address."""
    assert Path(session.url).parent == tmp_path
    cell = {"cell_type": "code", "source": CELL, "metadata": {}, "outputs": [],
            "execution_count": None, "id": "a"}  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    book = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "fruit.ipynb").write_text(json.dumps(book))
    runtime = tmp_path / "jupyter"
    places = ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR",
              "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")  # fmt: skip
    never = "jupyterlab.handlers.announcements.NeverCheckForUpdate"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0",
               "--ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.password=",
               f"--LabApp.check_for_updates_class={never}"]  # fmt: skip
    with (tmp_path / "log.txt").open("w") as log:
        server = subprocess.Popen(
            command, cwd=tmp_path, stdout=log, stderr=log,
            env=os.environ | {name: str(runtime / name) for name in places},
        )  # fmt: skip
    try:
        yield f"{_address(runtime / places[0], server, tmp_path / 'log.txt')}/doc/tree/fruit.ipynb"
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def _address(folder, server, log):
    """Where the server listens, once it says so."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        for path in folder.glob("jpserver-*.json"):
            if told := path.read_text():
                return f"http://127.0.0.1:{json.loads(told)['port']}"
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])


def answer(page, card, key):
    """Press a key once the card may be answered, and wait for the next one."""
    question = card.locator("#question[data-ready]")
    before = question.get_attribute("data-key")
    page.keyboard.press(key)
    expect(question).not_to_have_attribute("data-key", before)


@pytest.mark.soak  # what it is made of is tested beside it: the script in a browser, a real kernel
def test_keys_pressed_in_jupyterlab_are_in_the_database(lab, session, browser):
    expect.set_options(timeout=1000 * PATIENCE)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(1000 * PATIENCE)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(lab)
    # Before, the cell would ask for a kernel.
    expect(page.locator(".jp-KernelName")).to_contain_text("ipykernel")
    page.locator(".jp-Notebook .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    card = page.frame_locator("iframe[title=askmeans]")
    expect(card.locator("h1")).to_contain_text("To which group does this")
    expect(card.locator(".choices li")).to_have_count(2)
    card.locator("h1").click()  # gives it the focus
    for key in ("1", "0", "c", "s", "z"):
        answer(page, card, key)
    expect(card.locator("#question[data-ready]")).to_have_count(1)
    page.keyboard.press("Shift+Digit1")
    page.keyboard.press("Shift+Digit2")
    expect(card.locator("#mix .ends")).to_have_text("50 % small 50 % large")
    answer(page, card, "Enter")
    page.keyboard.press("?")
    expect(card.locator("#keys")).to_be_visible()
    expect(card.locator("#result-so-far li")).to_have_count(2)  # drawn beside it
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / "notebook.png")
    assert page.locator(".jp-Notebook .jp-Cell").count() <= 2  # c copied, z undid no cell
    page.close()
    assert not errors
    with sessions.open(session.url) as kept:
        told = [(each.kind, each.value, each.annotator) for each in kept.history.answers()]
    assert told == [
        ("answer", (1.0, 0.0), "Ada"),
        ("answer", (0.0, 0.0), "Ada"),
        ("unsure", None, "Ada"),
        ("answer", (0.5, 0.5), "Ada"),
    ]
