"""Write the database of the present schema: a session in which everything happened once.

Run once for each released schema: ``python tests/sessions/databases/make.py``.
"""

from pathlib import Path

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.sessions.store.versions import SCHEMA

ITEMS = ["apple", "plum", "cherry", "melon", "pumpkin", "papaya"]


def make(path: Path) -> None:
    """Write the database; the log has every kind of answer, and a pseudonym."""
    X = [[float(place)] for place in range(len(ITEMS))]
    with sessions.create(
        path, X, n_clusters=2, ask="membership", items=ITEMS, ids=ITEMS, random_state=0
    ) as session:
        session.import_answers(
            [Answer(round=0, kind="membership", items=(0,), cluster=0, repeat=0, value=0.0)]
        )
        first, second = session.ask(2, annotator="ann")
        session.tell(first.id, 0.75, annotator="ann", key="key-1")
        session.skip(second.id, annotator="ann")
        (third,) = session.ask(annotator="robert")
        session.unsure(third.id, annotator="robert")
        session.undo(annotator="robert")
        session.tell(third.id, 0.5, annotator="robert")
        session.groups.rename(0, "large")
        session.settings.pause()
        session.settings.resume()
        session.add_rows([[2.5]], items=["quince"], ids=["quince"])
        session.people.invite("robert", role="owner")
        session.people.pseudonymize("robert", "bob")


if __name__ == "__main__":
    make(Path(__file__).parent / f"schema-{SCHEMA}.db")
