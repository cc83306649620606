"""A server, annotators and owners of one session, under kills, crashes and revocations at random.

Run as a script: ``python storm.py FOLDER DB ACTS SEED [POSTGRES]`` prints what happened as JSON;
POSTGRES is the folder of the server that DB is in, and is crashed, too. All processes are forked
from one that has loaded everything, as in `clients.py`.

Everybody writes down what they sent and what came back. `check` compares that with the log as it
is in the database, without `Session`: every confirmed move is there once, none that was not
confirmed twice, and nothing by anybody after the event that revoked them.
"""

import ctypes
import http.client
import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlencode

import clients
import numpy as np
import postgres
from servers import free_port

from askmeans import sessions
from askmeans.exceptions import SessionError
from askmeans.web import serve

ITEMS = 600
SECONDS = 90.0  # after which it is enough, however few things happened
PATIENCE = 120.0  # for a few moves, on a busy machine
PEOPLE = {"annotator": 4, "owner": 2}
_FINAL = {200, 204, 303, 400, 401, 403, 404, 409, 422}  # not what comes while something is away
_FAILED = re.compile('askmeans_said="?(%21|!)')
_MARK = re.compile(r'name="session" value="(\w+)"')


def make(database):
    """A session that asks for groups, and leases questions for a second."""
    rng = np.random.default_rng(0)
    X = 4.0 * np.eye(3)[rng.integers(3, size=ITEMS)] + rng.normal(size=(ITEMS, 3))
    sessions.create(
        database, X, n_clusters=3, ask="group", cluster_names=["a", "b", "c"], annotations=2,
        random_state=0, lease_seconds=1.0,
    ).close()  # fmt: skip


class Client:
    """Somebody with a token, who writes down what they did."""

    def __init__(self, name, token, port, journal, seed):
        self.name, self.token, self.port = name, token, port
        self.rng = np.random.default_rng(seed)
        self.file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.count = 0

    def note(self, **values):
        os.write(self.file, json.dumps({"who": self.name} | values).encode() + b"\n")

    def call(self, method, path, body=b"", kind="application/json"):
        """A request, sent slowly at times; its status, headers and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.putrequest(method, path)
            connection.putheader("authorization", f"Bearer {self.token}")
            if method == "POST":
                connection.putheader("content-type", kind)
                connection.putheader("content-length", str(len(body)))
            connection.endheaders()
            if self.rng.random() < 0.3:  # it began before a revocation, and ends later
                time.sleep(float(self.rng.uniform(0.0, 0.3)))
            if body:
                connection.send(body)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read().decode()

    def until_final(self, path, values):
        """The reply to a move that is sent until there is one: it has a key."""
        while True:
            sent = time.monotonic()
            with suppress(OSError, http.client.HTTPException):
                status, _, text = self.call("POST", path, json.dumps(values).encode())
                if status in _FINAL:
                    return sent, status, text
            time.sleep(0.05)

    def key(self):
        self.count += 1
        return f"key-{self.count}"  # the same as others have


def annotate(client):
    """Ask, answer, skip and undo until the invitation ends."""
    rng = client.rng
    while True:
        _, status, text = client.until_final("/api/ask", {"n": int(rng.integers(1, 4))})
        if status == 401:
            return
        asked = json.loads(text)
        if not asked:
            time.sleep(0.05)
        for question in asked:
            kind = str(rng.choice(["answer", "answer", "answer", "unsure", "skip", "undo"]))
            told = {"question": question["id"], "key": client.key()}
            path = "/api/undo" if kind == "undo" else "/api/answers"
            if kind == "undo":  # of what they said last
                del told["question"]
            else:
                told["kind"] = kind
            if kind == "answer":
                told["value"] = int(rng.integers(3))
            sent, status, text = client.until_final(path, told)
            if kind == "undo" and status == 409:
                continue  # nothing to take back
            client.note(move=kind, sent=sent, status=status, text=text[:200], **told)
            if status == 401:
                return


def reshape(client):
    """Rename, add, refine, merge and pin groups and invite others until the invitation ends.

    These moves have no keys, so nothing is sent twice; every one can be told from all others.
    """
    rng, mark = client.rng, ""
    while True:
        try:
            if not mark:
                status, _, text = client.call("GET", "/")
                if status != 200:
                    if status == 303:  # to the page that says how to come in
                        return
                    continue
                mark = _MARK.search(text)[1]
            unique = f"{client.name} {client.key()}"
            path, form, event = {
                0: ("/rename", {"cluster": int(rng.integers(3)), "name": unique}, "rename"),
                1: ("/groups", {"name": unique}, "group"),
                2: ("/merge", {"into": 0, "group": int(rng.integers(3, 9))}, "merge"),
                3: ("/pin", {"group": 1, "row": client.count % ITEMS}, "pin"),
                4: ("/invite", {"name": unique, "role": "owner", "days": 1}, "invite"),
                5: ("/refine", {"group": int(rng.integers(3)), "names": unique}, "refine"),
            }[int(rng.choice(6, p=[0.3, 0.05, 0.1, 0.25, 0.25, 0.05]))]
            body = urlencode({"session": mark, **form}).encode()
            sent = time.monotonic()
            client.note(began=event, sent=sent, **form)
            status, headers, text = client.call(
                "POST", path, body, "application/x-www-form-urlencoded"
            )
            if status == 401 or headers.get("location", "").startswith("/signin"):
                return
            cookies = " ".join(headers.get_all("set-cookie", ()))
            if status in (200, 303) and not _FAILED.search(cookies):
                client.note(move=event, sent=sent, status=200, **form)
        except (OSError, http.client.HTTPException):
            pass  # whether it was kept is not known
        time.sleep(float(rng.uniform(0.0, 0.1)))


def end_with_parent():
    """Let the system kill this process when the one that forked it is gone, however it went."""
    with suppress(AttributeError, OSError):  # Linux has it
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def run_client(role, *arguments):
    """Do what somebody of this role does."""
    end_with_parent()
    (annotate if role == "annotator" else reshape)(Client(*arguments))


def run_server(database, port, log):
    """Serve until killed."""
    end_with_parent()
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(out, 1)
    os.dup2(out, 2)
    serve(database, port=port, open_browser=False)


class Crew:
    """The processes, started anew when they end, under new names."""

    def __init__(self, folder, database, seed):
        self.folder, self.database = folder, database
        self.rng, self.port = np.random.default_rng(seed), free_port()
        self.admin = sessions.open(database)
        self.server, self.people, self.count = None, {}, 0

    def start(self):
        """Start whoever is not running."""
        for name, (child, _) in list(self.people.items()):
            if os.waitpid(child, os.WNOHANG)[0]:
                del self.people[name]
        if self.server is None:
            log = self.folder / "server.log"
            self.server = clients.forked(run_server, self.database, self.port, log)
        for role, wanted in PEOPLE.items():
            for _ in range(wanted - sum(kind == role for _, kind in self.people.values())):
                self.count += 1
                name = f"{role} {self.count}"
                token = self.admin.people.invite(name, role=role)
                journal = self.folder / f"journal-{self.count}"
                seed = int(self.rng.integers(2**30))
                child = clients.forked(run_client, role, name, token, self.port, journal, seed)
                self.people[name] = child, role

    def wait_for(self, moves, *, at_most):
        """Wait until so many more were confirmed: the machine may be busy."""
        end, before = time.monotonic() + at_most, self.n_moves()
        while self.n_moves() < before + moves and time.monotonic() < end:
            time.sleep(0.02)

    def n_moves(self):
        """How many moves were confirmed."""
        return sum(path.read_bytes().count(b'"move"') for path in self.folder.glob("journal-*"))

    def kill_server(self):
        """Kill the server."""
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        self.server = None

    def revoke(self):
        """End somebody's invitation; when that was confirmed is written down."""
        name = str(self.rng.choice(sorted(self.people)))
        with suppress(SessionError):  # they were revoked before, and have not noticed yet
            self.admin.people.revoke(name)
            with (self.folder / "journal-0").open("a") as file:
                file.write(json.dumps({"revoked": name, "at": time.monotonic()}) + "\n")

    def end(self):
        """Stop everybody."""
        for child, _ in self.people.values():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.kill_server()
        self.admin.close()


def storm(folder, database, acts, seed, crashing=None):
    """Let so many things happen; what came of it."""
    make(database)
    crew, happened = Crew(folder, database, seed), Counter()
    kinds = ["kill", "revoke", "revoke"] + (["crash"] if crashing is not None else [])
    end = time.monotonic() + SECONDS
    while sum(happened.values()) < acts and (
        len(happened) < len(set(kinds)) or time.monotonic() < end
    ):
        crew.start()
        crew.wait_for(int(crew.rng.integers(5, 20)), at_most=PATIENCE)
        act = kinds[sum(happened.values()) % len(kinds)]
        happened[act] += 1
        if act == "kill":
            crew.kill_server()
        elif act == "revoke":
            crew.revoke()
        else:
            crashing.stop("immediate")
            crashing.start()
    crew.start()
    crew.wait_for(20, at_most=PATIENCE)
    crew.end()
    lines = []
    for path in folder.glob("journal-*"):
        lines += [json.loads(line) for line in path.read_text().splitlines() if line]
    return {"happened": happened, "lines": lines}


def raw_log(database):
    """Every event and invitation, as they are in the database."""
    events = (
        "SELECT id, kind, key, annotator, question, value, target, text FROM askmeans_events"
        " ORDER BY id"
    )
    invites = "SELECT id, name, revoked FROM askmeans_invites ORDER BY id"
    if str(database).startswith("postgresql"):
        import psycopg

        opened = psycopg.connect(database)
    else:
        opened = sqlite3.connect(database)
    with closing(opened) as connection:
        return tuple(connection.execute(query).fetchall() for query in (events, invites))


def check(database, lines):
    """What is wrong with the log, in sentences; none where every promise was kept."""
    events, invites = raw_log(database)
    wrong = []
    names = {number: name for number, name, _ in invites}
    by_key = Counter((annotator, key) for _, _, key, annotator, *_ in events)
    wrong += [f"{key} is there {n} times" for key, n in by_key.items() if n > 1]
    kept = {(annotator, key): event for event in events for key, annotator in [event[2:4]]}
    ended = {names[event[6]]: event[0] for event in events if event[1] == "revoke"}
    for event in events:
        if event[3] in ended and event[0] > ended[event[3]]:
            wrong.append(f"{event} came after event {ended[event[3]]}, which revoked its author")
    revoked = {line["revoked"]: line["at"] for line in lines if "revoked" in line}
    for line in lines:
        if "move" not in line:
            continue
        who = line["who"]
        if line["status"] == 200 and line["sent"] > revoked.get(who, float("inf")):
            wrong.append(f"{line} was confirmed, and sent after a revocation")
        if "not asked of you" in line.get("text", ""):
            wrong.append(f"{line} was asked, and refused as if it were not")
        if "key" in line:
            event = kept.get((who, line["key"]))
            if line["status"] == 200 and not _fits(event, line):
                wrong.append(f"{line} was confirmed, and is not there: {event}")
        else:
            same = [event for event in events if _is_that(event, line, names)]
            if len(same) != 1:
                wrong.append(f"{line} was confirmed, and is there {len(same)} times")
    begun = [line for line in lines if "began" in line]
    for line in begun:
        meant = line | {"move": line["began"]}
        if sum(_is_that(event, meant, names) for event in events) > 1:
            wrong.append(f"{line} was sent once, and is there more than once")
    return wrong + _illegal(events)


def _fits(event, line):
    """Whether an event is a move that has a key."""
    if event is None or event[1] not in (line["move"], "again"):
        return False
    if event[1] == "undo":
        return True
    if event[4] != line["question"]:
        return False
    row = json.loads(event[7] or "[]") if line["move"] == "answer" else []
    return not row or row.index(max(row)) == line["value"]


def _is_that(event, line, names):
    """Whether an event is a move without a key."""
    _, kind, _, annotator, _, value, target, text = event
    if (kind, annotator) != (line["move"], line["who"]):
        return False
    if kind == "merge":
        return (target, value) == (line["into"], line["group"])
    if kind in ("rename", "group"):
        return text == line["name"]
    if kind == "refine":
        return (target, json.loads(text)) == (line["group"], [line["names"]])
    if kind == "invite":
        return names[target] == line["name"]
    return kind == "pin" and value == line["row"]


def _illegal(events):
    """Moves that must not follow each other, by question and annotator."""
    standing, wrong = {}, []
    for number, kind, _, annotator, question, _, target, _ in events:
        place = question, annotator
        if kind in ("answer", "unsure"):
            if standing.get(place, (0, "skip"))[1] != "skip":
                wrong.append(f"event {number} answers once more after {standing[place]}")
            standing[place] = number, kind
        elif kind == "skip":
            standing[place] = number, kind
        elif kind == "undo" and standing.pop(place, (0, ""))[0] != target:
            wrong.append(f"event {number} takes back {target}, which does not stand")
    return wrong


if __name__ == "__main__":
    place, database, acts, seed, *server = sys.argv[1:]
    crashing = postgres.Server(server[0]) if server else None
    report = storm(Path(place), database, int(acts), int(seed), crashing)
    report["wrong"] = check(database, report["lines"])
    json.dump(report, sys.stdout)
