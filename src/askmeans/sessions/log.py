"""The log of a session: what happens, as frozen records, which moves are legal, and its fold.

Rules of this file:
- An event is appended once and never rewritten, but for a person's name; the state of a session is
  its events, folded. Folding the same events in the same order gives the same state; nothing else
  goes in.
- What a question is to one annotator is a Standing; MOVES says which event leads where. A move
  that is not in the table is refused, and a refused move changes nothing.
- A question is settled once as many annotators as wanted have answered, or an answer was imported.
  Undoing one of the first lets the next one move up; who took it back and answers again takes the
  old place. Every answer that stands is evidence.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from askmeans._util.checks import check_name
from askmeans._util.text import is_clean
from askmeans.exceptions import ParameterError
from askmeans.queries import MODEL, is_model
from askmeans.queries.values import combined, largest_difference
from askmeans.sessions.clients import current_client

__all__ = ["ANSWERS", "CHANGES", "GOLD", "IMPORTED", "ITSELF", "KNOWN", "MOVES",
           "REGROUPINGS", "Event", "EventKind", "NewEvent", "Standing", "State", "Value", "as_key",
           "check_annotator", "key_of_group", "key_of_split"]  # fmt: skip

# How far answers must be apart to want another: more than half of an item is put elsewhere.
DISAGREEING = 0.5
IMPORTED = "held"  # the annotator of imported answers
GOLD = "gold"  # and of those that are known, to see how people answer
ITSELF = "askmeans"  # who does what follows from the answers: adds a group, wants an opinion more


Value = float | tuple[float, ...]


class EventKind(StrEnum):
    """What happened."""

    ANSWER = "answer"
    UNSURE = "unsure"  # "cannot say": NaN as evidence
    HELD = "held"  # an imported answer; costs no budget
    GOLD = "gold"  # a known answer, whose question people are asked anyway; costs no budget
    SKIP = "skip"  # the question stays open, for later
    AGAIN = "again"  # the same answer with another key, which is used up by it
    UNDO = "undo"  # takes an answer, an unsure, an imported answer or a skip back
    PAUSE = "pause"
    RESUME = "resume"
    RENAME = "rename"  # a cluster has another name
    DESCRIBE = "describe"  # a line on what belongs to a group
    ROWS = "rows"  # items were added
    BUDGET = "budget"  # another number of questions may be answered
    GROUP = "group"  # there is a group more
    MERGE = "merge"  # a group is part of another from now on
    REMOVE = "remove"  # a group is there no more; what was put into it is in none of the groups
    REGROUP = "regroup"  # takes back that a group was added, merged or removed
    PIN = "pin"  # an item shall be shown as an example of a group, or no longer
    OPTION = "option"  # the owner decided something about the page
    ADJUDICATE = "adjudicate"  # an answer in the place of people's, or that one taken back
    OPINIONS = "opinions"  # so many answers are wanted to a question
    PSEUDONYM = "pseudonym"  # somebody has another name in all events before
    MODEL = "model"  # what a language model says of items; neither asked nor counted
    INVITE = "invite"  # somebody may come in
    REVOKE = "revoke"  # or no longer


KNOWN = frozenset({EventKind.HELD, EventKind.GOLD})  # from elsewhere
ANSWERS = frozenset({EventKind.ANSWER, EventKind.UNSURE}) | KNOWN
REGROUPINGS = frozenset({EventKind.GROUP, EventKind.MERGE, EventKind.REMOVE})
CHANGES = frozenset({EventKind.RENAME, EventKind.DESCRIBE, EventKind.GROUP, EventKind.MERGE,
                     EventKind.REMOVE, EventKind.PIN, EventKind.OPTION})  # fmt: skip


class Standing(StrEnum):
    """What a question is to one annotator."""

    OPEN = "open"
    SKIPPED = "skipped"
    ANSWERED = "answered"


_GIVEN = {
    EventKind.ANSWER: Standing.ANSWERED,
    EventKind.UNSURE: Standing.ANSWERED,
    EventKind.HELD: Standing.ANSWERED,
    EventKind.GOLD: Standing.ANSWERED,
    EventKind.SKIP: Standing.SKIPPED,
}
MOVES: dict[Standing, dict[EventKind, Standing]] = {
    Standing.OPEN: _GIVEN,
    Standing.SKIPPED: {**_GIVEN, EventKind.UNDO: Standing.OPEN},
    Standing.ANSWERED: {EventKind.UNDO: Standing.OPEN},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """What is appended to the log; `value`, `target` and `text` are what the kind says."""

    kind: EventKind
    # The client's, different for every event of an annotator.
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    annotator: str  # who did it
    question: int | None = None
    # The answer in [0, 1], to a group question a share for each group; the row of a pin, or that a
    # name goes with where clusters are found anew by every result; the group that a merge ends.
    value: Value | None = None
    # The event that an undo takes back; the cluster renamed; the part of the data added; the number
    # of questions or opinions; a group that is new, is removed or goes on after a merge, or that of
    # a pin; the number of an invitation; the gold question that one handed out is a copy of.
    target: int | None = None
    # A name, pseudonym or role; "off" for a pin that ends; as JSON an option's name and value, or
    # what a model says: pairs of a row and its shares, or null.
    text: str | None = None
    late: bool = False  # after its lease had ended, or after the question was settled
    client: str | None = field(default_factory=current_client)  # None in old databases

    @property
    def asked(self) -> int:
        """The question's number, of an event that is about one."""
        assert self.question is not None
        return self.question

    @property
    def aim(self) -> int:
        """The target, of an event that has one."""
        assert self.target is not None
        return self.target

    @property
    def whole(self) -> int:
        """The value as a row or a group, of an event whose value is one."""
        assert isinstance(self.value, float)
        return int(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """An event in the log: with its number, which only grows, and the database's time."""

    id: int
    at: float


class State:
    """What the events up to `last` come to."""

    def __init__(
        self, annotations: int = 1, budget: int | None = None, most: int | None = None
    ) -> None:
        self.annotations = annotations
        self._most = most  # annotations, where people disagree
        self.budget = budget  # most questions to answer; None for any number
        self.last = 0
        self.last_event: Event | None = None
        self.paused = False
        self.names: dict[int, str] = {}  # cluster -> name
        self.pins: dict[int, list[int]] = {}  # group -> rows, in the order they were pinned
        self.options: dict[str, Any] = {}
        self.changes: list[Event] = []  # of groups and options, in order
        self.anchors: dict[int, tuple[int, str]] = {}  # typical row -> cluster as named, name
        self.n_parts = 1
        # Groups added, merged and removed that were not taken back.
        self.regroupings: list[Event] = []
        self.n_added = 0  # groups, those taken back among them
        self.withdrawn: set[int] = set()  # their numbers
        self.by_key: dict[tuple[str, str], Event] = {}  # (annotator, key)
        self.undone: set[int] = set()  # events taken back
        self.touched: list[int] = []  # questions that something happened to, in order
        self.n_changes = 0  # of the answers that stand
        self.n_rewrites = 0  # those of them that are more than another answer
        self.given: list[Event] = []  # every answer, in order
        self._answers: dict[int, list[Event]] = {}  # question -> standing answers, in order
        self._spent: set[int] = set()  # questions answered here
        self._mine: dict[tuple[int, str], Event] = {}  # (question, annotator) -> what stands
        self._stacks: dict[str, list[Event]] = {}  # annotator -> what they may undo, in order
        self._counts: dict[str, Counter[str]] = {}  # annotator -> kinds of those
        self.gold: dict[int, Event] = {}  # question -> its known answer; of copies, too
        self._decided: dict[int, Event] = {}  # question -> what counts instead of its answers
        self.descriptions: dict[int, str] = {}  # group -> a line on what belongs there
        self.models: dict[str, dict[int, tuple[float, ...] | None]] = {}  # name -> row -> shares
        self._wanted: dict[int, int] = {}  # question -> answers wanted, where those are others
        # (question, annotator) -> answers that moved up when they undid theirs
        self._behind: dict[tuple[int, str], set[int]] = {}

    def fold(self, events: Iterable[Event]) -> None:
        """Take events in, in their order."""
        for event in events:
            assert event.id > self.last
            self.last, self.last_event = event.id, event
            self.by_key[event.annotator, event.key] = event
            if event.kind in CHANGES:
                self.changes.append(event)
            if event.question is not None:
                self.touched.append(event.question)
            if event.kind is EventKind.AGAIN:
                mine = self._mine[event.asked, event.annotator]
                self.by_key[event.annotator, event.key] = mine
            elif event.kind is EventKind.UNDO:
                self._take_back(event)
            elif event.kind is EventKind.ADJUDICATE:
                self._decide(event)
            elif event.kind is EventKind.OPINIONS:
                self._wanted[event.asked] = event.target or 0
                self.n_changes += 1
            elif event.kind is EventKind.GOLD and event.target is not None:
                self.gold[event.asked] = event
            elif event.question is not None:
                self._give(event)
            elif event.kind in (EventKind.PAUSE, EventKind.RESUME):
                self.paused = event.kind is EventKind.PAUSE
            elif event.kind is EventKind.RENAME:
                if isinstance(event.value, float):
                    self.anchors[event.whole] = (event.aim, event.text or "")
                else:
                    self.names[event.aim] = event.text or ""
            elif event.kind is EventKind.DESCRIBE:
                self.descriptions[event.aim] = event.text or ""
            elif event.kind is EventKind.ROWS:
                self.n_parts += 1
            elif event.kind is EventKind.BUDGET:
                self.budget = event.target
            elif event.kind in REGROUPINGS or event.kind is EventKind.REGROUP:
                self._regroup(event)
            elif event.kind is EventKind.PIN:
                self._pin(event)
            elif event.kind is EventKind.OPTION:
                self.options |= json.loads(event.text or "{}")
            elif event.kind is EventKind.MODEL:
                said = self.models.setdefault(event.annotator, {})
                for row, shares in json.loads(event.text or "[]"):
                    said[row] = None if shares is None else tuple(shares)
                self._rewrite()

    def standing(self, question: int, annotator: str) -> Standing:
        """What a question is to somebody."""
        event = self._mine.get((question, annotator))
        if event is None:
            return Standing.OPEN
        return Standing.SKIPPED if event.kind is EventKind.SKIP else Standing.ANSWERED

    def mine(self, question: int, annotator: str) -> Event | None:
        """What somebody last said to a question, unless it was taken back."""
        return self._mine.get((question, annotator))

    def stands(self, event: Event) -> bool:
        """Whether an event is an answer that was not taken back."""
        if event.asked in self._decided:
            return self._decided[event.asked] == event
        return event.kind in ANSWERS and self._mine.get((event.asked, event.annotator)) == event

    def may(self, kind: EventKind, question: int, annotator: str) -> bool:
        """Whether the move is legal."""
        return kind in MOVES[self.standing(question, annotator)]

    def last_of(self, annotator: str) -> Event | None:
        """What somebody would undo first."""
        stack = self._stacks.get(annotator, [])
        return next((event for event in reversed(stack) if event.kind not in KNOWN), None)

    def given_by(self, annotator: str | None = None) -> list[Event]:
        """Answers and skips that stand, of somebody or of all, in order."""
        if annotator is not None:
            return list(self._stacks.get(annotator, ()))
        every = [event for stack in self._stacks.values() for event in stack]
        return sorted(every, key=lambda event: event.id)

    def skipped_by(self, annotator: str) -> list[int]:
        """Questions that somebody skipped, the longest ago first."""
        given = self._stacks.get(annotator, ())
        return [event.asked for event in given if event.kind is EventKind.SKIP]

    def recent(self, n: int) -> list[list[Event]]:
        """The last answers and skips of everybody, at most n each, in order."""
        return [stack[-n:] for stack in self._stacks.values()]

    def count(self, question: int) -> int:
        """How many answers a question has."""
        return len(self._answers.get(question, ()))

    def evidence(self) -> list[Event]:
        """Every answer that stands, in the order of the log; of a decided question the decision."""
        every = [
            event
            for question, answers in self._answers.items()
            if question not in self._decided
            for event in answers
        ]
        return sorted([*every, *self._decided.values()], key=lambda event: event.id)

    def decision(self, question: int) -> Event | None:
        """What was decided about a question that people answered."""
        return self._decided.get(question)

    def wanted(self, question: int) -> int:
        """How many answers a question wants: one more as long as those it has disagree."""
        if question in self.gold:
            return 1  # everybody gets a copy of their own
        wanted = max(self.annotations, self._wanted.get(question, 0))
        if self._most is None or self._most <= wanted:
            return wanted
        said = [e.value for e in self._answers.get(question, ()) if e.value is not None]
        while wanted < self._most and len(said) >= wanted:
            if largest_difference(said[:wanted]) <= DISAGREEING:
                break
            wanted += 1
        return wanted

    @property
    def wants_several(self) -> bool:
        """Whether any question wants more than one answer."""
        return self.annotations > 1 or bool(self._wanted) or self._most is not None

    def answers(self, question: int) -> list[Event]:
        """The answers that settle a question, or will; not those that came after."""
        if question in self._decided:
            return [self._decided[question]]
        taken: list[Event] = []
        for event in self._answers.get(question, ()):
            if taken and taken[-1].kind in KNOWN and event.kind not in KNOWN:
                break
            taken.append(event)
            if event.kind not in KNOWN and len(taken) == self.wanted(question):
                break
        return taken

    def is_settled(self, question: int) -> bool:
        """Whether it has as many answers as wanted, or was decided."""
        if question in self._decided:
            return True
        given = self._answers.get(question)
        if not given:
            return False
        return len(given) >= self.wanted(question) or any(e.kind in KNOWN for e in given)

    def has_place(self, question: int, annotator: str) -> bool:
        """Whether somebody's answer would count, as the one did that they undid."""
        undone = (question, annotator) in self._behind
        return undone and self._place(question, annotator) < self.wanted(question)

    def original(self, question: int) -> int:
        """The gold question that one handed out is a copy of; others are themselves."""
        gold = self.gold.get(question)
        return question if gold is None or gold.target is None else gold.target

    @property
    def n_checked(self) -> int:
        """How many copies of gold questions are answered."""
        return sum(self.original(n) != n and n in self._answers for n in self.gold)

    def value(self, question: int) -> Value:
        """The answer to a settled question; NaN where nobody could say, of rows the mean."""
        return combined(event.value for event in self.answers(question) if event.value is not None)

    def group_made_with(self, answer: Event) -> Event | None:
        """The group that was added for this answer, if nothing but the answer is in it."""
        made = self.by_key.get((answer.annotator, key_of_group(answer.key)))
        if made is None or made not in self.regroupings or made.annotator != answer.annotator:
            return None
        group = made.aim
        used = self.pins.get(group) or any(
            group in (event.target, event.value) for event in self.regroupings if event != made
        )
        given = [e for events in self._answers.values() for e in events]
        others = [e for e in (*given, *self._decided.values()) if e != answer]
        if used or any(_has_some_in(event.value, group) for event in others):
            return None
        models = (row for rows in self.models.values() for row in rows.values())
        return None if any(_has_some_in(row, group) for row in models) else made

    @property
    def answered(self) -> list[int]:
        """Questions that anybody has answered, in the order of their first answers."""
        return list(self._answers)

    @property
    def told(self) -> list[int]:
        """Those, and questions that were decided and whose answers were all taken back since."""
        return [*self._answers, *(n for n in self._decided if n not in self._answers)]

    @property
    def n_spent(self) -> int:
        """Different questions answered here, which is what a budget counts."""
        return len(self._spent)

    def counts(self) -> dict[str, Counter[str]]:
        """How many answers, unsures, skips and late answers stand, by annotator."""
        found = {}
        for annotator, count in self._counts.items():
            if self._stacks[annotator]:
                found[annotator] = +count
                found[annotator]["late"] = count["late"]
        return found

    def _regroup(self, event: Event) -> None:
        """A group more, a merge, or one of these taken back."""
        self._rewrite()
        if event.kind is not EventKind.REGROUP:
            self.n_added += event.kind is EventKind.GROUP
            self.regroupings.append(event)
            if event.kind is EventKind.GROUP:
                self.names[event.aim] = event.text or ""
            return
        taken = next(each for each in self.regroupings if each.id == event.target)
        self.regroupings.remove(taken)
        self.undone.add(taken.id)
        if taken.kind is EventKind.GROUP and taken.target is not None:
            self.withdrawn.add(taken.target)

    def _pin(self, event: Event) -> None:
        """An example of a group, or one less."""
        pinned, row = self.pins.setdefault(event.aim, []), event.whole
        if row in pinned:
            pinned.remove(row)
        if event.text != "off":
            pinned.append(row)

    def _give(self, event: Event) -> None:
        """An answer or a skip."""
        place = (event.asked, event.annotator)
        before = self._mine.get(place)
        if before is not None:  # a skip, replaced
            self._unstack(before)
        self._mine[place] = event
        self._stacks.setdefault(event.annotator, []).append(event)
        count = self._counts.setdefault(event.annotator, Counter())
        count[str(event.kind)] += 1
        count["late"] += event.late
        if event.kind in ANSWERS:
            self.n_changes += 1
            self.n_rewrites += event.asked in self._decided
            self.given.append(event)
            if event.kind is EventKind.GOLD:
                self.gold[event.asked] = event
            where = self._place(*place)
            self._answers.setdefault(event.asked, []).insert(where, event)
            self._behind.pop(place, None)
            self._count(event.asked)

    def _decide(self, event: Event) -> None:
        """A decision about a question, or that it is taken back."""
        self._rewrite()
        before = self._decided.pop(event.asked, None)
        if before is not None:
            self.undone.add(before.id)
        if event.value is not None:
            self._decided[event.asked] = event

    def _take_back(self, undo: Event) -> None:
        """An undo."""
        event = self._mine.pop((undo.asked, undo.annotator))
        assert event.id == undo.target
        self.undone.add(event.id)
        self._unstack(event)
        if event.kind in ANSWERS:
            self._rewrite()
            answers = self._answers[undo.asked]
            behind = {later.id for later in answers[answers.index(event) + 1 :]}
            answers.remove(event)
            if self.is_settled(undo.asked):  # else the place is given to whoever answers next
                self._behind[undo.asked, undo.annotator] = behind
            if not self._answers[undo.asked]:
                del self._answers[undo.asked]
            self._count(undo.asked)

    def _rewrite(self) -> None:
        """The answers that stand are others than those before and one more."""
        self.n_changes += 1
        self.n_rewrites += 1

    def _unstack(self, event: Event) -> None:
        """Let go of what somebody gave."""
        self._stacks[event.annotator].remove(event)
        self._counts[event.annotator][str(event.kind)] -= 1
        self._counts[event.annotator]["late"] -= event.late

    def _place(self, question: int, annotator: str) -> int:
        """Where somebody's answer would stand among those there are."""
        behind = self._behind.get((question, annotator), ())
        answers = self._answers.get(question, ())
        places = (place for place, event in enumerate(answers) if event.id in behind)
        return next(places, len(answers))

    def _count(self, question: int) -> None:
        """Keep what the budget counts."""
        answers = self._answers.get(question, ())
        if question not in self.gold and any(event.kind not in KNOWN for event in answers):
            self._spent.add(question)
        else:
            self._spent.discard(question)


def key_of_group(key: str) -> str:
    """The key of the group that is added for the answer with this key."""
    return f"{key}-group"


def key_of_split(group: int) -> str:
    """How the keys of answers begin that a split put into a group."""
    return f"split-{group}-"


def _has_some_in(value: Value | None, group: int) -> bool:
    """Whether a row has a share in a group."""
    return isinstance(value, tuple) and len(value) > group and value[group] > 0.0


def as_key(key: str | None) -> str:
    """The client's key, or a new one."""
    if key is None:
        return uuid.uuid4().hex
    if not isinstance(key, str) or not 0 < len(key) <= 200 or not is_clean(key):
        raise ParameterError(
            "The 'key' parameter must be a str of 1 to 200 characters, without control characters. "
            f"Got {key!r:.60} instead.",
            user_message="This form came damaged, so nothing was saved. Reload the page, and try "
            "again.",
        )
    return key


def check_annotator(annotator: object, *, person: bool = False) -> str:
    """The annotator's name; refused where it is none, or is no person's."""
    name = check_name(annotator, "annotator")
    if person and name in (IMPORTED, GOLD, ITSELF):
        raise ParameterError(
            "The 'annotator' parameter must be somebody's own name. "
            f"Got {name!r}, which stands for what is by nobody: answers from before the session, "
            "and what the program does itself; choose another.",
            user_message=f"The name {name} is one the program uses itself. Choose another.",
        )
    if person and is_model(name):
        raise ParameterError(
            f"The 'annotator' parameter must be a person's name. Got {name!r:.60}; names that "
            f"begin with {MODEL!r} are those of language models (Advisers.add).",
            user_message=f"Names that begin with “{MODEL.strip()}” are those of language models. "
            "Choose another.",
        )
    return name
