"""The next question, an answer, an undo, a change, in words for people."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from askmeans.exceptions import QueryError
from askmeans.sessions import Question, Receipt, Session, Status
from askmeans.web.cards import Card, Cards
from askmeans.web.scale import say, say_fully

__all__ = ["Assignments", "QuestionView"]

# Seconds that an open page holds its question without a word. Pages say every 25 that they are open
# (page.js), hidden ones at least every 60, as browsers have it.
_LEASE = 90.0
_REGROUPED = {"group": "the new group", "merge": "the merging", "remove": "the removal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """All that the answering page shows."""

    annotator: str
    status: Status
    card: Card | None
    key: str  # of the answer to come
    undo_key: str
    shown: float  # when it was drawn up, by the server's clock that only goes forward
    can_undo: bool


class Assignments:
    """One session, as the people who answer use it."""

    def __init__(self, session: Session, settle_seconds: float) -> None:
        self.session = session
        self.cards = Cards(session)
        told = (session.url, session.name, session.fingerprint, session.config.seed)
        self.mark = hashlib.sha256(repr(told).encode()).hexdigest()[:16]  # of this session
        self._settle = settle_seconds
        self._last: dict[str, str] = {}  # the key of everybody's last view

    def view(
        self, annotator: str, wanted: int | None = None, *, by_script: bool = False
    ) -> QuestionView:
        """The next question for somebody, or the one they want to see or change.

        A page with a script says that it is still open, so it holds a question for a short time.
        """
        session = self.session
        seconds = _LEASE if by_script else None
        row = session.ask_row(annotator=annotator, lease_seconds=seconds)
        card = None
        if wanted is not None:
            card = self._wanted(wanted, annotator, row)
        elif row:
            card = self.cards.card(row[0], annotator, row)
        status = session.status(annotator=annotator)
        key = self._last[annotator] = secrets.token_urlsafe(12)
        return QuestionView(
            annotator=annotator,
            status=status,
            card=card,
            key=key,
            undo_key=secrets.token_urlsafe(12),
            shown=time.monotonic(),
            can_undo=annotator in status.annotators,
        )

    def renew(self, annotator: str) -> None:
        """Go on holding somebody's questions: their page is open."""
        self.session.renew(annotator=annotator, lease_seconds=_LEASE)

    def leave(self, annotator: str, key: str) -> None:
        """Let others have somebody's questions, unless a newer page of theirs shows them.

        A page that is left for another of ours says so after the other has its question.
        """
        if self._last.get(annotator, key) == key:
            self.session.leave(annotator=annotator)

    def is_too_quick(self, shown: float) -> bool:
        """Whether a question had just appeared: the second half of a double click, no answer."""
        return 0.0 <= time.monotonic() - shown < self._settle

    def give(self, question: int, annotator: str, key: str, value: Any) -> str:
        """Keep an answer, "unsure" or "skip"; an answer given before is changed. What was kept."""
        session = self.session
        if value == "skip":
            receipt = session.skip(question, annotator=annotator, key=key)
        elif value == "unsure":
            receipt = session.unsure(question, annotator=annotator, key=key)
        else:
            receipt = session.tell(question, value, annotator=annotator, key=key)
        return self._said(receipt)

    def decide(self, question: Question, annotator: str, value: Any) -> str:
        """Keep what somebody says of an item that they chose themselves, in words for people."""
        receipt = self.session.change(question.id, value, annotator=annotator)
        said = say(receipt.value, self.session.groups.all_names)
        return f"Saved: {self.session.item(question.items[0]).label} is “{said}”."

    def into_new_group(self, question: int, annotator: str, key: str, name: str) -> str:
        """Add a group, and put the item of a question into it; the same key again adds no other."""
        receipt = self.session.groups.add_for(question, name, annotator=annotator, key=key)
        return f"There is a group {name} now. {self._said(receipt)}"

    def change(self, question: int, annotator: str, key: str, value: Any) -> str:
        """Put another answer in the place of one's own; the same again changes nothing."""
        session = self.session
        if value == "skip":  # the answer is taken back, and the question left for later
            mine = self._mine(session.question(question), annotator)
            if mine is not None and mine.kind != "skip":
                session.undo(question, annotator=annotator, key=f"{key}-undo", event=mine.event)
            return self.give(question, annotator, key, value)
        told = None if value == "unsure" else value
        receipt = session.change(question, told, annotator=annotator, key=key)
        return self._said(receipt)

    def undo(self, annotator: str, key: str, question: int | None, event: int | None) -> str:
        """Take an answer or a skip back, that of the event where one is meant. What it was."""
        undone = self.session.undo(question, annotator=annotator, key=key, event=event)
        if undone.question is None:
            return f"Taken back: {_REGROUPED[undone.kind]}."
        what = (
            "the skip"
            if undone.kind == "skip"
            else say_fully(undone.value, self.session.config.ask, self.session.groups.all_names)
        )
        text = f"Taken back: {what} to question {undone.question.id}."
        if undone.group is not None:
            text = f"Taken back: the new group {undone.group}, and the item that was put there."
        return text

    def _said(self, receipt: Receipt) -> str:
        """What was kept, in a sentence."""
        number = receipt.question
        if receipt.kind == "skip":
            return f"Skipped question {number}: it comes again later, or for somebody else."
        late = ""
        if receipt.late:  # it is evidence, unless an owner decided the question
            late = f" (it came late{', but it counts' if receipt.counts else ': another counts'})"
        again = ", as before" if receipt.repeated else ""
        value = say_fully(receipt.value, self.session.config.ask, self.session.groups.all_names)
        known = ""
        if receipt.gold is not None:  # the owner wants people to see it
            told = say_fully(receipt.gold, self.session.config.ask, self.session.groups.all_names)
            known = f" The known answer is {told}."
        return f"Saved: {value} to question {number}{again}{late}.{known}"

    def _mine(self, question: Question, annotator: str) -> Receipt | None:
        """What somebody said to a question, unless it was taken back."""
        said = self.session.history.answers_about(question.items, annotator=annotator)
        return next((receipt for receipt in said if receipt.question == question.id), None)

    def _wanted(self, number: int, annotator: str, row: list[Question]) -> Card:
        """A question of the open row, or one that was answered or skipped before."""
        question = self.session.question(number)
        if number in {q.id for q in row}:
            return self.cards.card(question, annotator, row)
        mine = self._mine(question, annotator)
        if mine is None:
            raise QueryError(
                f"Question {number} must be open for {annotator!r}. Got another one.",
                user_message="This question is not open for you, and you have no answer to it. Go "
                "on with the next one.",
            )
        before = "skipped"
        if mine.kind != "skip":
            before = say(mine.value, self.session.groups.all_names, question.kind)
        return self.cards.card(question, annotator, before=before)
