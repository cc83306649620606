"""The page: from a key press to the next question, large pictures, a crowd, many items.

`--keys` answers 60 of the demo's faces in chromium. `--pictures` shows cards with pictures of
4,000 x 3,000 pixels. `--crowd` lets ten people answer group questions until the budget ends.
`--results` shows the results of 100,000 items, `--items` lists 100,000 texts. `--load` lets 20
annotators answer for 60 seconds, as the page's script does, and compares what was confirmed to them
with what the database holds.
`--team` lets 50 annotators do so who think for two seconds over each question, in a file and in
PostgreSQL. `--annotators N` lets N of them answer group questions about 20,000 items for two
minutes, while an owner reads the results, and prints the server's memory, too.
"""

import argparse
import itertools
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from askmeans import sessions

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
ANNOTATORS = 20
TEAM, THINKING = 50, 2.0  # people, seconds over a question
LONG = 120.0  # seconds that `--annotators` takes
READING = 2.0  # seconds between an owner's looks at the results
HELPERS = Path(__file__).parent.parent / "tests" / "helpers"
SECONDS = 60.0
CARDS = 60
LOOKING = 1500.0  # milliseconds over a card with pictures
CROWD, BUDGET = 10, 200
MANY = 100_000
ROWS = 20_000  # two questions about every other one: more than can be answered in the time
# Times a key press until the next question is in the page and a frame was drawn after it.
WATCH = """
window.times = [];
document.addEventListener("keydown", () => { window.began = performance.now(); }, true);
new MutationObserver(() => requestAnimationFrame(() => {
  if (window.began) window.times.push(performance.now() - window.began);
  window.began = 0;
})).observe(document.getElementById("question").parentElement, { childList: true });
"""


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """An `askmeans` command that serves a page; gives the link to it."""
    with process_of(*arguments) as (link, _):
        yield link


@contextmanager
def process_of(*arguments: str) -> Iterator[tuple[str, int]]:
    """The same, with the number of its process."""
    command = [sys.executable, "-c", "from askmeans.cli import main; main()", *arguments]
    process = subprocess.Popen([*command, "--port", "0", "--no-browser"], stdout=subprocess.PIPE,
                               text=True)  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+token=\S+", line):
                yield found[0], process.pid
                break
    finally:
        process.terminate()
        process.wait()


@contextmanager
def starting() -> Iterator[Any]:
    """An empty page in chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser.new_page()
        browser.close()


@contextmanager
def browsing(link: str) -> Iterator[Any]:
    """A page in chromium on which somebody has begun to answer."""
    with starting() as page:
        page.goto(link)  # the welcome
        page.goto(link.partition("?")[0])
        page.wait_for_selector("#question[data-ready]", state="attached")
        yield page


def keys(folder: Path) -> None:
    """Print how long the next question takes, on the demo's faces."""
    with (
        serving("demo", "--web", "--out", str(folder)) as link,
        browsing(link) as page,
    ):
        page.evaluate(WATCH)
        for place in range(CARDS):
            page.wait_for_selector("#question[data-ready]", state="attached")
            count = page.evaluate("times.length")
            page.keyboard.press("1234"[place % 4])
            while page.evaluate("times.length") == count:
                page.wait_for_timeout(5)
        times = page.evaluate("times")
    middle, high = np.percentile(times, [50, 95])
    print(
        f"key press to the next question, faces, {len(times)} answers: median {middle:.0f} ms, "
        f"p95 {high:.0f} ms"
    )


def pictures(folder: Path) -> None:
    """Print how long cards with large pictures take until all is there, with no copy made before.

    The welcome is asked for as soon as the server prints its link; then somebody looks at every
    page for a second and a half.
    """
    from PIL import Image

    for kind in ("jpg", "png"):
        images = folder / kind
        images.mkdir()
        for place in range(40):
            noise = Image.effect_noise((800, 600), 80).resize((4000, 3000)).convert("RGB")
            noise.save(images / f"{place}.{kind}", quality=90, compress_level=1)
        path = folder / f"{kind}.db"
        X = [[float(place % 2), place / 40.0] for place in range(40)]
        sessions.create(
            path, X, n_clusters=2, items=[{"file": f"{place}.{kind}"} for place in range(40)],
            image="file", folder=images, random_state=0,
        ).close()  # fmt: skip
        with serving("serve", str(path)) as link, starting() as page:
            began = time.perf_counter()
            page.goto(link, wait_until="load")
            print(f"{kind}, 4,000 x 3,000: the welcome, cold, {since(began):.0f} ms with its "
                  f"{page.locator('main img').count()} pictures")  # fmt: skip
            page.wait_for_timeout(LOOKING)
            began = time.perf_counter()
            page.goto(link.partition("?")[0], wait_until="load")
            first, times = since(began), []
            for _ in range(12):
                page.wait_for_timeout(LOOKING)
                key = page.get_attribute("#question", "data-key")
                began = time.perf_counter()
                page.keyboard.press("1")
                while page.get_attribute("#question", "data-key") == key or not page.evaluate(
                    "[...document.querySelectorAll('.grouping img')].every((i) => i.complete)"
                ):
                    page.wait_for_timeout(5)
                times.append(since(began))
            count = page.locator(".grouping img").count()
            print(
                f"{kind}, 4,000 x 3,000: the first card, loaded as a page, {first:.0f} ms; then "
                f"{len(times)} new cards with {count} pictures: median {np.median(times):.0f} ms, "
                f"most {max(times):.0f} ms"
            )


def since(began: float) -> float:
    """Milliseconds since then."""
    return (time.perf_counter() - began) * 1000.0


def crowd(folder: Path) -> None:
    """Print whether ten people have to wait before the budget ends."""
    path = folder / "crowd.db"
    rng = np.random.default_rng(0)
    X = 3.0 * np.eye(4)[rng.integers(4, size=2000)] + rng.normal(size=(2000, 4))
    sessions.create(path, X, n_clusters=4, budget=BUDGET, random_state=0).close()
    with serving("serve", str(path)) as link:
        links = invited(str(path), link, CROWD)
        people = [Grouper(*each, math.inf) for each in links]
        for person in people:
            person.start()
        for person in people:
            person.join()
    times = np.array([t for person in people for t in person.times]) * 1000.0
    errors = [error for person in people for error in person.errors]
    early = [n for n in map(int, (e for e in errors if e.isdigit())) if n < BUDGET - CROWD + 1]
    assert not [error for error in errors if not error.isdigit()], errors[:3]
    middle, high = np.percentile(times, [50, 95])
    print(
        f"{CROWD} people until a budget of {BUDGET}: {len(times)} answers, {len(early)} of them "
        f"waited before the last questions were handed out; answer and next question median "
        f"{middle:.0f} ms, p95 {high:.0f} ms"
    )


def results(folder: Path) -> None:
    """Print how long the results of many items take."""
    path = folder / "many.db"
    rng = np.random.default_rng(0)
    kinds = rng.integers(4, size=MANY)
    X = 3.0 * np.eye(4)[kinds] + rng.normal(size=(MANY, 4))
    with sessions.create(path, X, n_clusters=4, random_state=0) as session:
        for _ in range(20):
            (question,) = session.ask()
            session.tell(question.id, int(kinds[question.items[0]]))
    with serving("serve", str(path)) as link, browsing(link) as page:
        address = link.partition("/?")[0]
        for what in ("the first time", "again"):
            began = time.perf_counter()
            page.goto(f"{address}/results")
            while page.locator("svg.scatter").count() == 0:
                page.wait_for_timeout(200)
                page.goto(f"{address}/results")
            seconds = time.perf_counter() - began
            told = page.locator(".map figcaption b").inner_text()
            print(f"results of {MANY:,} items, {what}: {seconds:.1f} s ({told})")


def items(folder: Path) -> None:
    """Print how long pages of the table of many texts take, and areas of the map."""
    import httpx

    from askmeans.datasets import make_messages

    path = folder / "items.db"
    texts = [f"{text} Order {n}." for n, text in enumerate(make_messages(MANY).texts)]
    rng = np.random.default_rng(0)
    kinds = rng.integers(8, size=MANY)
    X = 3.0 * np.eye(8)[kinds] + rng.normal(size=(MANY, 8))
    with sessions.create(path, X, n_clusters=8, items=texts, random_state=0) as session:
        for _ in range(40):
            (question,) = session.ask()
            session.tell(question.id, int(kinds[question.items[0]]))
    lists = [
        f"items?{urlencode(fields)}"
        for page in range(10)
        for fields in (
            {"page": 200 * page + 1}, {"group": page % 8, "page": page}, {"q": f"order 7{page}"},
            {"below": 90, "sort": "confidence", "page": page}, {"by": "-", "sort": "group"},
        )
    ]  # fmt: skip
    corners = rng.integers(50, 350, size=(30, 12, 2))
    areas = [
        f"items?{urlencode({'area': ' '.join(f'{x},{y}' for x, y in each)})}" for each in corners
    ]
    with (
        serving("serve", str(path)) as link,
        httpx.Client(follow_redirects=True, timeout=60) as client,
    ):
        address = link.partition("/?")[0]
        client.get(link)
        while "are being computed" in client.get(f"{address}/items").text:
            time.sleep(1.0)
        client.get(f"{address}/{areas[0]}")
        for what, paths in (("pages of the table", lists), ("areas of the map", areas)):
            times = []
            for each in paths:
                began = time.perf_counter()
                client.get(f"{address}/{each}").raise_for_status()
                times.append(since(began))
            middle, high = np.percentile(times, [50, 95])
            print(f"{MANY:,} texts, {len(times)} {what}: median {middle:.0f} ms, p95 {high:.0f} ms")


def invited(path: str, link: str, n: int) -> list[tuple[str, str]]:
    """Links for so many people, with their names."""
    address = link.partition("/?")[0]
    with sessions.open(path) as session:
        names = [f"ann{place}" for place in range(n)]
        return [(f"{address}/?token={session.people.invite(name)}", name) for name in names]


class Annotator(threading.Thread):
    """Somebody who answers over one connection, as quickly as the page allows or after thinking."""

    def __init__(self, link: str, name: str, until: float, thinking: float = 0.0) -> None:
        super().__init__(daemon=True)
        self.name = name
        self.until = until
        self.thinking = thinking
        self.times: list[float] = []
        self.confirmed: dict[int, float] = {}
        self.errors: list[str] = []
        address, _, self._invitation = link.partition("/?token=")
        host, port = address.removeprefix("http://").split(":")
        self._host = f"{host}:{port}"
        self._socket = socket.create_connection((host, int(port)))
        self._file = self._socket.makefile("rb")

    def run(self) -> None:
        """Answer until the time is over."""
        rng = np.random.default_rng(sum(map(ord, self.name)))
        status, page, token = self._request("GET", "/help", None)
        self._cookie = f"askmeans_token={token}"
        _, page, _ = self._request("GET", "/", None)
        while time.monotonic() < self.until:
            time.sleep(rng.uniform(0.0, 2.0 * self.thinking))
            question = re.search(
                r'data-session="(\w+)" .*data-question="(\d+)" data-key="([^"]+)"', page
            )
            if question is None:
                self.end(page)
                return
            value = self.value(rng)
            fields = {"token": token, "session": question[1], "annotator": self.name,
                      "question": question[2], "key": question[3], "value": value}  # fmt: skip
            began = time.perf_counter()
            status, page, _ = self._request("POST", "/answer", urlencode(fields))
            self.times.append(time.perf_counter() - began)
            if status == 200 and 'data-said="Saved: ' in page:
                self.confirmed[int(question[2])] = value
            else:
                self.errors.append(f"{status} {page[:200]}")

    def end(self, _: str) -> None:
        """There is no question."""
        self.errors.append("no question")

    def value(self, rng: np.random.Generator) -> Any:
        """What is answered."""
        return float(rng.integers(5)) / 4

    _cookie = ""

    def _request(self, method: str, path: str, body: str | None) -> tuple[int, str, str]:
        """One request: status, body and a token that was set."""
        data = (body or "").encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nX-Askmeans: part\r\n"
            f"Cookie: {self._cookie}\r\nAuthorization: Bearer {self._invitation}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        self._socket.sendall(head.encode() + data)
        status = int(self._file.readline().split()[1])
        length, token = 0, ""
        while (line := self._file.readline().decode().strip()) != "":
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                length = int(value)
            if found := re.search(r"askmeans_token=([^;]+)", value):
                token = found[1]
        return status, self._file.read(length).decode(), token


class Grouper(Annotator):
    """Somebody who answers group questions until there is none."""

    def end(self, page: str) -> None:
        """Note how many were answered when somebody had to wait."""
        if 'data-state="waiting' in page:
            counted = re.search(r"<strong>(\d+)</strong> answered", page)
            self.errors.append(counted[1] if counted else page[:200])

    def value(self, rng: np.random.Generator) -> str:
        """A group."""
        return f"group-{rng.integers(4)}"


def team(folder: Path) -> None:
    """Print how a team fares that thinks, in a file and in PostgreSQL."""
    people_at_once(str(folder / "team.db"), TEAM, THINKING, "SQLite, ")
    sys.path.insert(0, str(HELPERS))
    import postgres  # type: ignore[import-not-found]  # of the tests

    if postgres.binaries() is None:
        print("PostgreSQL is not installed (tools/install-postgres.sh): not measured")
        return
    with postgres.running(safe=True) as server:
        people_at_once(server.create(), TEAM, THINKING, "PostgreSQL, ")


def load(folder: Path) -> None:
    """Print how 20 annotators fare at once who do not think."""
    people_at_once(str(folder / "load.db"))


def people_at_once(
    path: str, annotators: int = ANNOTATORS, thinking: float = 0.0, note: str = ""
) -> None:
    """Print how many annotators fare at once, and that nothing was lost or counted twice."""
    X = np.random.default_rng(0).normal(size=(ROWS, 2))
    sessions.create(
        path, X, n_clusters=3, cluster_names=["a", "b", "c"],
        ask="membership", random_state=0,
    ).close()  # fmt: skip
    began = os.times()
    with serving("serve", path) as link:
        links = invited(path, link, annotators)
        until = time.monotonic() + SECONDS
        people = [Annotator(*each, until, thinking) for each in links]
        for person in people:
            person.start()
        for person in people:
            person.join()
    ended = os.times()  # the server has ended, too
    seconds = ended.children_user + ended.children_system
    seconds -= began.children_user + began.children_system
    times = np.array([t for person in people for t in person.times]) * 1000.0
    confirmed = {(p.name, q): v for p in people for q, v in p.confirmed.items()}
    with sessions.open(path) as session:
        kept = [((r.annotator, r.question), r.value) for r in session.history.answers()]
    errors = [error for person in people for error in person.errors]
    assert not errors, errors[:3]
    assert len({question for (_, question), _ in kept}) == len(kept), "a question answered twice"
    assert dict(kept) == confirmed, "an answer was lost, or is another one"
    middle, high = np.percentile(times, [50, 95])
    print(
        f"{note}{annotators} annotators for {SECONDS:.0f} s, {thinking:.0f} s of thinking: "
        f"{len(kept)} answers, "
        f"{len(kept) / SECONDS:.0f} per second, answer and next question median {middle:.0f} ms, "
        f"p95 {high:.0f} ms; {1000.0 * seconds / len(kept):.0f} ms of the processor per answer, "
        "with the server's start; no error, none lost, none twice"
    )


class Reader(threading.Thread):
    """An owner who looks at the results again and again, and exports them now and then."""

    def __init__(self, link: str, until: float) -> None:
        super().__init__(daemon=True)
        self.until = until
        self.times: dict[str, list[float]] = {}
        self._link = link

    def run(self) -> None:
        """Read until the time is over."""
        import httpx

        address = self._link.partition("/?")[0]
        with httpx.Client(follow_redirects=True, timeout=60.0) as client:
            client.get(self._link)
            for place in itertools.count():
                if time.monotonic() > self.until:
                    return
                path = "export/memberships.csv" if place % 8 == 7 else (
                    "results" if place % 4 == 3 else "results/part")  # fmt: skip
                began = time.perf_counter()
                client.get(f"{address}/{path}").raise_for_status()
                self.times.setdefault(path, []).append(time.perf_counter() - began)
                time.sleep(READING)


def megabytes(pid: int) -> float:
    """What of a process is in memory."""
    with Path(f"/proc/{pid}/statm").open() as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def many_people(folder: Path, annotators: int) -> None:
    """Print how so many annotators fare while an owner reads results, and the server's memory."""
    path = folder / "many_people.db"
    rng = np.random.default_rng(0)
    X = 3.0 * np.eye(8)[rng.integers(4, size=ROWS)] + rng.normal(size=(ROWS, 8))
    sessions.create(path, X, n_clusters=4, random_state=0).close()
    with process_of("serve", str(path)) as (link, pid):
        links = invited(str(path), link, annotators)
        until = time.monotonic() + LONG
        people = [Grouper(*each, until, THINKING) for each in links]
        reader = Reader(link, until)
        used = [megabytes(pid)]
        for person in (*people, reader):
            person.start()
        while time.monotonic() < until:
            time.sleep(LONG / 8)
            used.append(megabytes(pid))
        for person in (*people, reader):
            person.join()
    times = np.array([t for person in people for t in person.times]) * 1000.0
    errors = [error for person in people for error in person.errors]
    assert not errors, errors[:3]
    middle, high = np.percentile(times, [50, 95])
    print(
        f"{annotators} annotators for {LONG:.0f} s, {THINKING:.0f} s of thinking, {ROWS:,} items, "
        f"results read: {len(times)} answers, answer and next question median {middle:.0f} ms, "
        f"p95 {high:.0f} ms, most {times.max():.0f} ms"
    )
    print("memory, MB, every 15 s: " + ", ".join(f"{each:.0f}" for each in used))
    for path_read, each in sorted(reader.times.items()):
        print(f"/{path_read}: {len(each)} times, median {1000 * np.median(each):.0f} ms")


def main() -> None:
    """Run what was asked for; everything, where nothing was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, metavar="N", help=many_people.__doc__)
    parts = (keys, pictures, crowd, results, items, load, team)
    for part in parts:
        parser.add_argument(f"--{part.__name__}", action="store_true", help=part.__doc__)
    chosen = vars(parser.parse_args())
    if chosen["annotators"]:
        with tempfile.TemporaryDirectory() as folder:
            many_people(Path(folder), chosen["annotators"])
        return
    for part in parts:
        if chosen[part.__name__] or not any(chosen.values()):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))


if __name__ == "__main__":
    main()
