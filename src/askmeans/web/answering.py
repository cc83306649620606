"""The next question, answers, undos and changes, with a sentence about each."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from askmeans._util.message import Message
from askmeans.exceptions import QueryError
from askmeans.sessions import Question, Reply, Session, Status
from askmeans.web.cards import Card, Cards
from askmeans.web.scale import describe, describe_fully

# Seconds that an open page holds its question without a word. Pages say every 25 that they are open
# (page.js), hidden ones at least every 60, as browsers have it.
_LEASE = 90.0
_REGROUPED = {
    "group": Message("Taken back: the new group."),
    "merge": Message("Taken back: the merging."),
    "remove": Message("Taken back: the removal."),
    "refine": Message("Taken back: the sub-groups."),
    "flatten": Message("Taken back: that the sub-groups went."),
    "move": Message("Taken back: the moved group."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """The content of the answering page."""

    annotator: str
    status: Status
    card: Card | None
    key: str  # of the answer to come
    undo_key: str
    shown: float  # when it was made, by the server's monotonic clock
    can_undo: bool


class Assignments:
    """One session, as the people who answer use it."""

    def __init__(self, session: Session, settle_seconds: float) -> None:
        self.session = session
        self.cards = Cards(session)
        identity = (session.url, session.name, session.fingerprint, session.config.seed)
        self.mark = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]  # of this session
        self._settle_seconds = settle_seconds
        self._last_keys: dict[str, str] = {}  # of each annotator's last view

    def view(
        self, annotator: str, wanted: int | None = None, *, by_script: bool = False
    ) -> QuestionView:
        """The next question for an annotator, or the one they want to see or change.

        A page with a script reports that it is still open, so it holds a question for a short time.
        """
        session = self.session
        seconds = _LEASE if by_script else None
        questions = session.ask(annotator=annotator, lease_seconds=seconds)
        card = None
        if wanted is not None:
            card = self._wanted_card(wanted, annotator, questions)
        elif questions:
            card = self.cards.card(questions[0], annotator)
        status = session.status(annotator=annotator)
        key = self._last_keys[annotator] = secrets.token_urlsafe(12)
        return QuestionView(
            annotator=annotator, status=status, card=card, key=key,
            undo_key=secrets.token_urlsafe(12), shown=time.monotonic(),
            can_undo=annotator in status.annotators,
        )  # fmt: skip

    def renew(self, annotator: str) -> None:
        """Hold an annotator's questions longer: their page is open."""
        self.session.renew(annotator=annotator, lease_seconds=_LEASE)

    def leave(self, annotator: str, key: str) -> None:
        """Release an annotator's questions, unless a newer page of theirs shows them.

        A page that is left for another of ours reports it after the other has its question.
        """
        if self._last_keys.get(annotator, key) == key:
            self.session.leave(annotator=annotator)

    def is_too_quick(self, shown: float) -> bool:
        """Whether a question had just appeared: the second half of a double click, no answer."""
        return 0.0 <= time.monotonic() - shown < self._settle_seconds

    def give(self, question: int, annotator: str, key: str, value: Any) -> str:
        """Save an answer, "unsure" or "skip"."""
        session = self.session
        if value == "skip":
            reply = session.skip(question, annotator=annotator, key=key)
        elif value == "unsure":
            reply = session.unsure(question, annotator=annotator, key=key)
        else:
            reply = session.tell(question, value, annotator=annotator, key=key)
        return self._describe_reply(reply)

    def decide(self, row: int, annotator: str, value: Any) -> str:
        """Save which group an item belongs to that the annotator chose themselves."""
        question = self.session.add_question("group", (row,), annotator=annotator)
        reply = self.session.change(question.id, value, annotator=annotator)
        text = describe(reply.value, self.session.groups.all_names)
        return Message("Saved: {item} is “{group}”.", item=self.session.item(row).label, group=text)

    def into_new_group(self, question: int, annotator: str, key: str, name: str) -> str:
        """Add a group, and put the item of a question into it; the same key again adds no other."""
        reply = self.session.groups.add_for(question, name, annotator=annotator, key=key)
        return Message(
            "There is a group {name} now. {saved}", name=name, saved=self._describe_reply(reply)
        )

    def change(self, question: int, annotator: str, key: str, value: Any) -> str:
        """Replace one's own answer; the same answer again changes nothing."""
        session = self.session
        if value == "skip":  # the answer is taken back, and the question left for later
            mine = self._own_answer(session.question(question), annotator)
            if mine is not None and mine.kind != "skip":
                session.undo(question, annotator=annotator, key=f"{key}-undo", event=mine.event)
            return self.give(question, annotator, key, value)
        answer = None if value == "unsure" else value
        reply = session.change(question, answer, annotator=annotator, key=key)
        return self._describe_reply(reply)

    def undo(self, annotator: str, key: str, question: int | None, event: int | None) -> str:
        """Take back an answer or a skip, or that of an event."""
        undone = self.session.undo(question, annotator=annotator, key=key, event=event)
        if undone.question is None:
            return _REGROUPED[undone.kind]
        if undone.group is not None:
            return Message(
                "Taken back: the new group {group}, and the item that was put there.",
                group=undone.group,
            )
        if undone.kind == "skip":
            return Message("Taken back: the skip.")
        return Message("Taken back: {answer}.", answer=self._describe(undone.value))

    def _describe(self, value: Any) -> str:
        return describe_fully(value, self.session.config.ask, self.session.groups.all_names)

    def _describe_reply(self, reply: Reply) -> str:
        """Describe a saved answer in a sentence."""
        if reply.kind == "skip":
            return Message("Skipped: it comes again later, or for somebody else.")
        answer = self._describe(reply.value)
        if reply.repeated and not reply.late:
            saved = Message("Saved: {answer}, as before.", answer=answer)
        elif reply.late and reply.counts:  # it is evidence, unless an owner decided the question
            saved = Message("Saved: {answer} (it came late, but it counts).", answer=answer)
        elif reply.late:
            saved = Message("Saved: {answer} (it came late: another counts).", answer=answer)
        else:
            saved = Message("Saved: {answer}.", answer=answer)
        if reply.gold is None:
            return saved
        known = self._describe(reply.gold)  # the owner wants people to see it
        return Message("{saved} The known answer is {answer}.", saved=saved, answer=known)

    def _own_answer(self, question: Question, annotator: str) -> Reply | None:
        """An annotator's answer to a question, unless it was taken back."""
        answers = self.session.history.answers_about(question.items, annotator=annotator)
        return next((reply for reply in answers if reply.question == question.id), None)

    def _wanted_card(self, number: int, annotator: str, open_questions: list[Question]) -> Card:
        """A question that is open, or that was answered or skipped before."""
        question = self.session.question(number)
        if question in open_questions:
            return self.cards.card(question, annotator)
        mine = self._own_answer(question, annotator)
        if mine is None:
            raise QueryError(
                f"Question {number} must be open for {annotator!r}. Got another one.",
                user_message=Message(
                    "This question is not open for you, and you have no answer to it. Go on with "
                    "the next one."
                ),
            )
        before: str = Message("skipped")
        if mine.kind != "skip":
            before = describe(mine.value, self.session.groups.all_names, question.kind)
        return self.cards.card(question, annotator, before=before)
