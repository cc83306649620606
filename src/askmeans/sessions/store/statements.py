"""What every answer asks a database for: to make these statements anew costs more than to run them.

A statement takes a round trip, so what is wanted together is read together.
"""

from sqlalchemy import bindparam, delete, insert, select

from askmeans.sessions.store import models
from askmeans.sessions.store.backend import Backend

__all__ = ["EVENTS", "NEW_QUESTIONS", "QUESTIONS", "RELEASE", "Statements"]

EVENTS = (
    select(models.events)
    .where(
        models.events.c.session_id == bindparam("session"),
        models.events.c.id > bindparam("after"),
    )
    .order_by(models.events.c.id)
)
QUESTIONS = (
    select(models.questions)
    .where(
        models.questions.c.session_id == bindparam("session"),
        models.questions.c.number > bindparam("after"),
    )
    .order_by(models.questions.c.number)
)
NEW_QUESTIONS = insert(models.questions)
RELEASE = delete(models.leases).where(
    models.leases.c.session_id == bindparam("session"),
    models.leases.c.question == bindparam("number"),
    models.leases.c.annotator == bindparam("person"),
)


class Statements:
    """Those that are in the dialect of a database."""

    def __init__(self, backend: Backend) -> None:
        invites, leases = models.invites, models.leases
        self.invites = (
            select(invites, backend.now.scalar_subquery().label("now"))
            .where(invites.c.session_id == bindparam("session"))
            .order_by(invites.c.id)
        )
        self.invite = self.invites.where(invites.c.digest == bindparam("digest"))
        now = backend.now.subquery()  # one row: the time is told where there are no leases, too
        self.leases = select(*now.c, leases.c.question, leases.c.annotator, leases.c.until)
        self.leases = self.leases.select_from(
            now.outerjoin(leases, leases.c.session_id == bindparam("session"))
        )
        give = backend.insert(leases)
        self.lease = give.on_conflict_do_update(
            index_elements=["session_id", "question", "annotator"],
            set_={"until": give.excluded.until},
        )
