"""Small sessions to answer, and an expert who knows."""

import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from askmeans import oracles, sessions
from askmeans.queries import GroupQueries, MembershipQueries
from askmeans.queries.questions import KINDS
from askmeans.sessions.store.versions import SCHEMA

RNG = np.random.default_rng(0)
U = RNG.dirichlet([0.6, 0.6, 0.6], size=40)
X = U[:, :2] + 0.01 * RNG.normal(size=(40, 2))


class Expert:
    """Knows the memberships; its answers do not depend on the order of the items asked about."""

    def answer(self, queries):
        return np.round(oracles.TableOracle(U).answer(queries), 9)


EXPERT = Expert()


def knows(question):
    """What the expert says to a question."""
    if question.kind == "membership":
        batch = MembershipQueries(question.items, [question.cluster])
    elif question.kind == "group":
        row = EXPERT.answer(GroupQueries(question.items, U.shape[1]))[0]
        return dict(enumerate((row / row.sum()).tolist()))
    else:
        batch = KINDS[question.kind]([question.items])
    return float(EXPERT.answer(batch)[0])


def answer(session, count=10**6, annotator="me"):
    """Answer so many questions; the questions."""
    asked = []
    while len(asked) < count:
        questions = session.ask(annotator=annotator)
        if not questions:
            break
        session.tell(questions[0].id, knows(questions[0]), annotator=annotator)
        asked.append(questions[0])
    return asked


@pytest.fixture
def kit():
    """The data, the expert and who answers for them."""
    return SimpleNamespace(X=X, U=U, expert=EXPERT, knows=knows, answer=answer)


@pytest.fixture(scope="session")
def memory():
    """Where files are in memory, None where there is no such place."""
    place = Path("/dev/shm")
    return place if os.access(place, os.W_OK) else None


@pytest.fixture
def folder(memory):
    """A folder in memory, where there is one: most tests are not about the disk."""
    with tempfile.TemporaryDirectory(dir=memory) as path:
        yield Path(path)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_at(request, tmp_path):
    """Where a new database goes, by a name: of either store."""
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    made = []

    def place(name):
        if server is None:
            return str(tmp_path / f"{name}.db")
        made.append(server.create())
        return made[-1]

    yield place
    for url in made:
        server.drop(url)


@pytest.fixture
def make(folder):
    """Make a session in a database of its own."""
    made = []

    def create(path="s.db", **options):
        options = {"n_clusters": 3, "ask": "membership", "random_state": 0} | options
        session = sessions.create(folder / path, options.pop("X", X), **options)
        made.append(session)
        return session

    yield create
    for session in made:
        session.close()


@pytest.fixture
def again():
    """Open a session anew, as another process does."""
    opened = []

    def reopen(session, **options):
        opened.append(sessions.open(session.url, session.name, **options))
        return opened[-1]

    yield reopen
    for session in opened:
        session.close()


@pytest.fixture(scope="session")
def end_leases():
    """Let every lease end, without waiting for it."""
    from sqlalchemy import text

    end_all = text("UPDATE askmeans_leases SET until = 1 WHERE annotator LIKE :annotator")

    def end(session, annotator="%"):
        with session.runtime.store.backend.engine.begin() as connection:
            connection.execute(end_all, {"annotator": annotator})

    return end


@pytest.fixture
def old_database(tmp_path):
    """A copy of the database that this schema left."""
    name = f"schema-{SCHEMA}.db"
    return Path(shutil.copy(Path(__file__).parent / "databases" / name, tmp_path))
