"""Make the small database that a released schema leaves in tests/sessions/databases.

Run it once when a schema is released, and keep the file for ever: later versions must upgrade it.
"""

import sys
from pathlib import Path

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.sessions.store.versions import SCHEMA

FOLDER = Path(__file__).parent.parent / "tests" / "sessions" / "databases"


def main() -> int:
    """Make a session in which everything has happened once."""
    path = FOLDER / f"schema-{SCHEMA}.db"
    if path.exists():
        print(f"{path} is there already; a released schema's file is never made again.")
        return 1
    FOLDER.mkdir(exist_ok=True)
    with sessions.from_client("make_database"):
        fill(path)
    print(f"{path}: {path.stat().st_size} bytes")
    return 0


def fill(path: Path) -> None:
    """Make the session."""
    session = sessions.create(
        path,
        [[1.0], [2.0], [4.0], [8.0], [9.0], [9.5]],
        n_clusters=2,
        items=["pea", "bean", "leek", "melon", "pumpkin", "marrow"],
        ids=["p", "b", "l", "me", "pu", "ma"],
        ask="membership",
        random_state=0,
    )
    session.import_answers(
        [Answer(round=0, kind="membership", items=(0,), cluster=0, repeat=0, value=0.0)]
    )
    first, second, third = session.ask(3, annotator="ann")
    session.tell(first.id, 0.75, annotator="ann", key="key-1")
    session.unsure(second.id, annotator="ann")
    session.skip(third.id, annotator="ann")
    session.undo(second.id, annotator="ann")
    session.tell(second.id, 0.5, annotator="robert")
    session.groups.rename(0, "large")
    session.settings.pause()
    session.settings.resume()
    session.add_rows([[3.0]], items=["quince"], ids=["q"])
    session.people.invite("robert", role="owner")
    session.people.pseudonymize("robert", "bob")
    session.close()


if __name__ == "__main__":
    sys.exit(main())
