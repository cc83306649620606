"""Two servers and four clients of one database, under kills and removals at random.

Run as a script: ``python servers.py FOLDER SECONDS SEED`` prints what happened as JSON. All
processes are forked from one that has loaded everything, as in `clients.py`.

The database is moved away at times, with its log, and put back or replaced by a new one. It is
written down which of them was at its place when: an answer must be in one that was there between
the time it was sent and the time it was confirmed.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import clients
import numpy as np

from askmeans import sessions
from askmeans.web import serve

ITEMS = 1000  # of which half are asked about: more than anybody answers before the next removal
FILES = ("", "-wal", "-shm")
NAMES = [f"client-{number}" for number in range(4)]


class Place:
    """Where the database is, and which one was there when."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "here" / "s.db"
        self.path.parent.mkdir()
        self.template = folder / "clients.db"
        clients.make(self.template, ITEMS, ITEMS // 2)
        with sessions.open(self.template) as session:  # every database after it has them, too
            self.tokens = {name: session.people.invite(name) for name in NAMES}
        with closing(sqlite3.connect(self.template)) as connection, connection:
            # Whoever is killed holds a question for a second only.
            connection.execute(
                "UPDATE askmeans_sessions SET config = json_set(config, '$.lease_seconds', 1.0)"
            )
        self.files: list[Path] = []  # where each database is
        self.stays: list[tuple[int, float, float]] = []  # which was here, from when until when
        self._since = 0.0

    def put_new(self) -> None:
        """Put a new database here."""
        new = shutil.copy(self.template, self.path.with_name("new"))
        self.files.append(self.path)
        self._since = time.monotonic()
        Path(new).rename(self.path)

    def take_away(self, number: int) -> None:
        """Move the database that is here elsewhere; its own file first, then its log."""
        away = self.path.parent.with_name(f"away-{len(self.stays)}") / "s.db"
        away.parent.mkdir()
        for ending in FILES:
            move(self.path, away, ending)
            if not ending:
                self.stays.append((number, self._since, time.monotonic()))
        self.files[number] = away

    def put_back(self, number: int) -> None:
        """Move one back, its own file last."""
        away, self.files[number] = self.files[number], self.path
        for ending in reversed(FILES):
            if not ending:
                self._since = time.monotonic()
            move(away, self.path, ending)

    def end(self, number: int) -> None:
        """Nothing happens any more."""
        self.stays.append((number, self._since, time.monotonic()))


def move(before: Path, after: Path, ending: str) -> None:
    """Move one of a database's files, if there is one."""
    with suppress(FileNotFoundError):
        os.rename(f"{before}{ending}", f"{after}{ending}")


def run_server(path: Path, port: int, log: Path) -> None:
    """Serve until killed."""
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(out, 1)
    os.dup2(out, 2)
    serve(path, port=port, open_browser=False)


def run_client(who: tuple[str, str], ports: list[int], journal: Path, seed: int) -> None:
    """Ask and tell at one of the servers until killed; what was confirmed is written down."""
    name, token = who
    rng = np.random.default_rng(seed)
    file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    count = 0
    while True:
        port = int(rng.choice(ports))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            for _ in range(10):
                status, asked = post(connection, "ask", token, {"annotator": name})
                if status != 200 or not asked:
                    os.write(file, f"refused {status}\n".encode())
                    break
                count += 1
                key = f"{name}-{os.getpid()}-{count}"
                told = {"annotator": name, "question": asked[0]["id"], "value": 0.25, "key": key}
                sent = time.monotonic()
                status, _ = post(connection, "answers", token, told)
                line = f"told {key} {sent} {time.monotonic()}" if status == 200 else f"no {status}"
                os.write(file, f"{line}\n".encode())
        except (OSError, http.client.HTTPException):  # the server was killed
            pass
        finally:
            connection.close()
        time.sleep(0.02)


def post(connection: http.client.HTTPConnection, what: str, token: str, values: object) -> tuple:
    """A request of the API: its status, and what it says."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    connection.request("POST", f"/api/{what}", json.dumps(values), headers)
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read() or b"null")


class Crew:
    """The processes, started anew when they end."""

    def __init__(self, place: Place, folder: Path, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.place, self.folder = place, folder
        self.ports = [free_port(), free_port()]
        self.running: dict[tuple[str, int], int] = {}

    def start(self) -> None:
        """Start whoever is not running."""
        for who, child in list(self.running.items()):
            if os.waitpid(child, os.WNOHANG)[0]:
                del self.running[who]
        for number, port in enumerate(self.ports):
            if ("server", number) not in self.running and self.place.path.exists():
                log = self.folder / f"server-{number}.log"
                child = clients.forked(run_server, self.place.path, port, log)
                self.running["server", number] = child
        for number in range(4):
            if ("client", number) not in self.running:
                name, journal = NAMES[number], self.folder / f"journal-{number}"
                who = (name, self.place.tokens[name])
                seed = int(self.rng.integers(2**30))
                child = clients.forked(run_client, who, self.ports, journal, seed)
                self.running["client", number] = child

    def wait_for(self, answers: int, *, at_most: float) -> None:
        """Wait until so many more were confirmed: the machine may be busy."""
        end, before = time.monotonic() + at_most, self.n_told()
        while self.n_told() < before + answers and time.monotonic() < end:
            time.sleep(0.02)

    def n_told(self) -> int:
        """How many answers were confirmed."""
        journals = self.folder.glob("journal-*")
        return sum(path.read_bytes().count(b"told") for path in journals)

    def kill(self, who: tuple[str, int]) -> None:
        """Kill one of them."""
        if who in self.running:
            child = self.running.pop(who)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def free_port() -> int:
    """A port nobody listens at."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return int(listening.getsockname()[1])


def soak(folder: Path, seconds: float, seed: int) -> dict[str, object]:
    """Let things happen for so long; what came of it."""
    place = Place(folder)
    with sessions.open(place.template) as session:
        session.ask()  # the first round is stored
        session.leave()
        session.result()  # compiles what servers will use
    rng = np.random.default_rng(seed)
    place.put_new()
    crew = Crew(place, folder, seed)
    happened: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crew.start()
        crew.wait_for(int(rng.integers(1, 40)), at_most=5.0)
        act = str(rng.choice(["kill server", "kill client", "put back", "replace"]))
        happened[act] += 1
        if act.startswith("kill"):
            kind = act.removeprefix("kill ")
            crew.kill((kind, int(rng.integers(2 if kind == "server" else 4))))
            continue
        here = place.files.index(place.path)
        place.take_away(here)
        time.sleep(rng.uniform(0.0, 0.5))
        if act == "put back":
            place.put_back(here)
            continue
        place.put_new()
        time.sleep(rng.uniform(0.0, 1.0))
        for number in range(2):  # as they say that one should
            crew.kill(("server", number))
    for who in list(crew.running):
        crew.kill(who)
    place.end(place.files.index(place.path))
    lines = [line for path in folder.glob("journal-*") for line in path.read_text().splitlines()]
    return {
        "happened": happened, "stays": place.stays, "files": [str(path) for path in place.files],
        "told": [line.split()[1:] for line in lines if line.startswith("told")],
        "refused": Counter(line for line in lines if not line.startswith("told")),
    }  # fmt: skip


if __name__ == "__main__":
    place, seconds, seed = sys.argv[1:]
    json.dump(soak(Path(place), float(seconds), int(seed)), sys.stdout)
