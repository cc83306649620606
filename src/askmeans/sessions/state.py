"""The state of a session that follows from its events, and the legal moves.

Rules of this file:
- The state is a fold of the events: the same events in the same order give the same state.
- The Standing of a question for an annotator changes by the events in MOVES. Any other move is
  refused, and changes nothing.
- A question is settled by the wanted number of answers, or by an imported one. After an undo the
  next answer counts; an annotator who answers again gets the old place. All valid answers are
  evidence.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from askmeans.queries.values import combined, largest_difference
from askmeans.sessions.authors import key_of_group
from askmeans.sessions.events import (
    CHANGES,
    GROUP_CHANGES,
    KNOWN,
    AddGroup,
    AddRows,
    Adjudicate,
    Advice,
    Answer,
    Describe,
    Event,
    Gold,
    GroupChange,
    Imported,
    Pause,
    Pin,
    Refine,
    Rename,
    Repeat,
    Reply,
    Resume,
    SetBudget,
    SetOption,
    Skip,
    Undo,
    UndoGroupChange,
    Unsure,
    Value,
    WantOpinions,
)

# Difference of answers from which on another is wanted: more than half of an item is moved.
DISAGREEING = 0.5
E = TypeVar("E", bound=Event)


class Standing(StrEnum):
    """The state of a question for one annotator."""

    OPEN = "open"
    SKIPPED = "skipped"
    ANSWERED = "answered"


_GIVEN: dict[type[Event], Standing] = {
    Answer: Standing.ANSWERED,
    Unsure: Standing.ANSWERED,
    Imported: Standing.ANSWERED,
    Gold: Standing.ANSWERED,
    Skip: Standing.SKIPPED,
}
MOVES: dict[Standing, dict[type[Event], Standing]] = {
    Standing.OPEN: _GIVEN,
    Standing.SKIPPED: {**_GIVEN, Undo: Standing.OPEN},
    Standing.ANSWERED: {Undo: Standing.OPEN},
}


class State:
    """The state after the events up to `last`."""

    def __init__(
        self, annotations: int = 1, budget: int | None = None, most: int | None = None
    ) -> None:
        self.annotations = annotations
        self._most = most  # maximum number of annotations, if people disagree
        self.budget = budget  # maximum number of questions; None without a limit
        self.last = 0
        self.last_event: Event | None = None
        self.paused = False
        self.names: dict[int, str] = {}  # group -> name
        self.descriptions: dict[int, str] = {}  # group -> a line about its items
        self.pins: dict[int, list[int]] = {}  # group -> rows, in the order they were pinned
        self.options: dict[str, Any] = {}
        self.changes: list[Event] = []  # of groups and options, in order
        self.anchors: dict[int, tuple[int, str]] = {}  # typical row -> group as named, name
        self.n_parts = 1
        self.group_changes: list[GroupChange] = []  # those that were not taken back
        self.n_added = 0  # groups, those taken back among them
        self.withdrawn: dict[int, int | None] = {}  # their numbers -> what they were sub-groups of
        self.by_key: dict[tuple[str, str], Event] = {}  # (annotator, key)
        self.undone: set[int] = set()  # events taken back
        self.touched: list[int] = []  # questions of the events, in order
        self.n_changes = 0  # number of changes of the valid answers
        self.n_rewrites = 0  # those of them that are not just a further answer
        self.log_answers: list[Reply] = []  # every answer, those taken back included
        self.gold: dict[int, Gold] = {}  # question -> its known answer; copies included
        self.advice: dict[str, dict[int, tuple[float, ...] | None]] = {}  # adviser -> row -> shares
        self._answers: dict[int, list[Reply]] = {}  # question -> valid answers, in order
        self._spent: set[int] = set()  # questions answered here
        self._replies: dict[tuple[int, str], Reply] = {}  # (question, annotator)
        self._stacks: dict[str, list[Reply]] = {}  # annotator -> replies to undo, in order
        self._counts: dict[str, Counter[str]] = {}  # annotator -> numbers of them by kind
        self._decisions: dict[int, Adjudicate] = {}  # question -> decision
        self._wanted: dict[
            int, int
        ] = {}  # question -> number of wanted answers, if not the usual one
        # (question, annotator) -> answers that counted instead after an undo
        self._behind: dict[tuple[int, str], set[int]] = {}

    def fold(self, events: Iterable[Event]) -> None:
        """Add events, in their order."""
        for event in events:
            assert event.id > self.last
            self.last, self.last_event = event.id, event
            self.by_key[event.annotator, event.key] = event
            if isinstance(event, CHANGES):
                self.changes.append(event)
            match event:
                case Gold(original=int()):
                    self.gold[event.question] = event
                    self.touched.append(event.question)
                case Reply():
                    self._add_reply(event)
                case Repeat():
                    first = self._replies[event.question, event.annotator]
                    self.by_key[event.annotator, event.key] = first
                    self.touched.append(event.question)
                case Undo():
                    self._undo(event)
                case Adjudicate():
                    self._decide(event)
                case WantOpinions():
                    self._wanted[event.question] = event.n
                    self.n_changes += 1
                    self.touched.append(event.question)
                case Pause() | Resume():
                    self.paused = isinstance(event, Pause)
                case Rename(row=None):
                    self.names[event.group] = event.name
                case Rename(row=int(row)):
                    self.anchors[row] = (event.group, event.name)
                case Describe():
                    self.descriptions[event.group] = event.description
                case AddRows():
                    self.n_parts += 1
                case SetBudget():
                    self.budget = event.n
                case SetOption():
                    self.options |= event.options
                case Pin():
                    self._pin(event)
                case UndoGroupChange():
                    self._undo_group_change(event)
                case Advice():
                    self.advice.setdefault(event.annotator, {}).update(event.rows)
                    self._rewrite()
                case _ if isinstance(event, GROUP_CHANGES):
                    self._change_groups(event)

    def standing(self, question: int, annotator: str) -> Standing:
        """The state of a question for an annotator."""
        event = self._replies.get((question, annotator))
        if event is None:
            return Standing.OPEN
        return Standing.SKIPPED if isinstance(event, Skip) else Standing.ANSWERED

    def reply(self, question: int, annotator: str) -> Reply | None:
        """An annotator's valid answer or skip; None without one."""
        return self._replies.get((question, annotator))

    def stands(self, event: Event) -> bool:
        """Whether an event is an answer that counts."""
        if isinstance(event, Adjudicate):
            return self._decisions.get(event.question) == event
        return (
            isinstance(event, Reply)
            and not isinstance(event, Skip)
            and event.question not in self._decisions
            and self._replies.get((event.question, event.annotator)) == event
        )

    def as_of_now(self, event: E, *, repeated: bool = False) -> E:
        """An event as a receipt, with its present state."""
        flags: dict[str, Any] = {"repeated": repeated, "undone": event.id in self.undone}
        if isinstance(event, Reply):
            gold = self.gold.get(event.question) if self.options.get("gold_feedback") else None
            known = None if gold is None or isinstance(event, Skip) else gold.value
            flags |= {"counts": self.stands(event), "gold": known}
        return replace(event, **flags)

    def may(self, kind: type[Event], question: int, annotator: str) -> bool:
        """Whether the move is legal."""
        return kind in MOVES[self.standing(question, annotator)]

    def last_of(self, annotator: str) -> Reply | None:
        """The reply that an annotator would undo first."""
        stack = self._stacks.get(annotator, [])
        return next((event for event in reversed(stack) if not isinstance(event, KNOWN)), None)

    def replies(self, annotator: str | None = None) -> list[Reply]:
        """Valid answers and skips of one annotator or of all, in order."""
        if annotator is not None:
            return list(self._stacks.get(annotator, ()))
        every = [event for stack in self._stacks.values() for event in stack]
        return sorted(every, key=lambda event: event.id)

    def skipped_by(self, annotator: str) -> list[int]:
        """Questions that an annotator skipped, the earliest first."""
        stack = self._stacks.get(annotator, ())
        return [event.question for event in stack if isinstance(event, Skip)]

    def recent(self, n: int) -> list[list[Reply]]:
        """The last answers and skips of each annotator, at most n each, in order."""
        return [stack[-n:] for stack in self._stacks.values()]

    def count(self, question: int) -> int:
        """The number of answers to a question."""
        return len(self._answers.get(question, ()))

    def evidence(self) -> list[Reply | Adjudicate]:
        """All valid answers in the order of the log; decisions instead of replaced answers."""
        undecided = [
            event
            for question, answers in self._answers.items()
            if question not in self._decisions
            for event in answers
        ]
        return sorted([*undecided, *self._decisions.values()], key=lambda event: event.id)

    def decision(self, question: int) -> Adjudicate | None:
        """The decision about a question."""
        return self._decisions.get(question)

    def wanted(self, question: int) -> int:
        """The wanted number of answers: one more while answers disagree."""
        if question in self.gold:
            return 1  # everybody gets a copy of their own
        wanted = max(self.annotations, self._wanted.get(question, 0))
        if self._most is None or self._most <= wanted:
            return wanted
        values = [e.value for e in self._answers.get(question, ()) if e.value is not None]
        while wanted < self._most and len(values) >= wanted:
            if largest_difference(values[:wanted]) <= DISAGREEING:
                break
            wanted += 1
        return wanted

    @property
    def wants_several(self) -> bool:
        """Whether any question wants more than one answer."""
        return self.annotations > 1 or bool(self._wanted) or self._most is not None

    def answers(self, question: int) -> list[Reply | Adjudicate]:
        """The answers that settle a question, without later ones."""
        if question in self._decisions:
            return [self._decisions[question]]
        settling: list[Reply | Adjudicate] = []
        for event in self._answers.get(question, ()):
            if settling and isinstance(settling[-1], KNOWN) and not isinstance(event, KNOWN):
                break
            settling.append(event)
            if not isinstance(event, KNOWN) and len(settling) == self.wanted(question):
                break
        return settling

    def is_settled(self, question: int) -> bool:
        """Whether a question has the wanted answers, or a decision."""
        if question in self._decisions:
            return True
        answers = self._answers.get(question)
        if not answers:
            return False
        return len(answers) >= self.wanted(question) or any(isinstance(e, KNOWN) for e in answers)

    def has_place(self, question: int, annotator: str) -> bool:
        """Whether an annotator's new answer would be among the wanted ones, as the undone one."""
        undone = (question, annotator) in self._behind
        return undone and self._place(question, annotator) < self.wanted(question)

    def original(self, question: int) -> int:
        """The gold question of a copy; other questions are their own original."""
        gold = self.gold.get(question)
        return question if gold is None or gold.original is None else gold.original

    @property
    def n_checked(self) -> int:
        """The number of answered copies of gold questions."""
        return sum(self.original(n) != n and n in self._answers for n in self.gold)

    def value(self, question: int) -> Value:
        """The combined answer to a question; NaN for "cannot say", the mean of rows."""
        return combined(event.value for event in self.answers(question) if event.value is not None)

    def group_made_with(self, answer: Event) -> AddGroup | Refine | None:
        """The group that was added for this answer, if it has no other item."""
        made = self.by_key.get((answer.annotator, key_of_group(answer.key)))
        if not isinstance(made, AddGroup | Refine) or made not in self.group_changes:
            return None
        group = made.group if isinstance(made, AddGroup) else made.first
        used = self.pins.get(group) or any(
            group in (event.group, getattr(event, "into", None))
            for event in self.group_changes
            if event != made
        )
        events = [e for each in self._answers.values() for e in each]
        others: list[Reply | Adjudicate] = [*events, *self._decisions.values()]
        rows = [event.value for event in others if event != answer]
        rows += [shares for advice in self.advice.values() for shares in advice.values()]
        return None if used or any(_has_some_in(row, group) for row in rows) else made

    @property
    def answered(self) -> list[int]:
        """Questions with answers, in the order of their first answers."""
        return list(self._answers)

    @property
    def n_spent(self) -> int:
        """The number of different questions that cost budget."""
        return len(self._spent)

    def counts(self) -> dict[str, Counter[str]]:
        """The numbers of valid answers, unsures, skips and late answers, by annotator."""
        counts = {}
        for annotator, count in self._counts.items():
            if self._stacks[annotator]:
                counts[annotator] = +count
                counts[annotator]["late"] = count["late"]
        return counts

    def _change_groups(self, event: GroupChange) -> None:
        """Apply a change of the groups."""
        self._rewrite()
        self.group_changes.append(event)
        if isinstance(event, AddGroup):
            self.n_added += 1
            self.names[event.group] = event.name
        elif isinstance(event, Refine):
            self.n_added += len(event.names)
            self.names |= dict(zip(event.numbers, event.names, strict=True))

    def _undo_group_change(self, undo: UndoGroupChange) -> None:
        """Take a change of the groups back."""
        self._rewrite()
        change = next(each for each in self.group_changes if each.id == undo.taken_back)
        self.group_changes.remove(change)
        self.undone.add(change.id)
        if isinstance(change, AddGroup):
            self.withdrawn[change.group] = None
        elif isinstance(change, Refine):
            self.withdrawn |= dict.fromkeys(change.numbers, change.group)

    def _pin(self, event: Pin) -> None:
        """Add or remove an example of a group."""
        rows = self.pins.setdefault(event.group, [])
        if event.row in rows:
            rows.remove(event.row)
        if event.on:
            rows.append(event.row)

    def _add_reply(self, event: Reply) -> None:
        """Apply an answer or a skip."""
        self.touched.append(event.question)
        place = (event.question, event.annotator)
        before = self._replies.get(place)
        if before is not None:  # a skip, replaced
            self._unstack(before)
        self._replies[place] = event
        self._stacks.setdefault(event.annotator, []).append(event)
        count = self._counts.setdefault(event.annotator, Counter())
        count[event.kind] += 1
        count["late"] += event.late
        if isinstance(event, Skip):
            return
        self.n_changes += 1
        self.n_rewrites += event.question in self._decisions
        self.log_answers.append(event)
        if isinstance(event, Gold):
            self.gold[event.question] = event
        where = self._place(*place)
        self._answers.setdefault(event.question, []).insert(where, event)
        self._behind.pop(place, None)
        self._count(event.question)

    def _decide(self, event: Adjudicate) -> None:
        """Apply a decision, or its reversal."""
        self._rewrite()
        self.touched.append(event.question)
        before = self._decisions.pop(event.question, None)
        if before is not None:
            self.undone.add(before.id)
        if event.value is not None:
            self._decisions[event.question] = event

    def _undo(self, undo: Undo) -> None:
        """Apply an undo."""
        self.touched.append(undo.question)
        event = self._replies.pop((undo.question, undo.annotator))
        assert event.id == undo.taken_back
        self.undone.add(event.id)
        self._unstack(event)
        if isinstance(event, Skip):
            return
        self._rewrite()
        answers = self._answers[undo.question]
        behind = {later.id for later in answers[answers.index(event) + 1 :]}
        answers.remove(event)
        if self.is_settled(undo.question):  # else the place is given to whoever answers next
            self._behind[undo.question, undo.annotator] = behind
        if not self._answers[undo.question]:
            del self._answers[undo.question]
        self._count(undo.question)

    def _rewrite(self) -> None:
        """Note a change of the valid answers that is not just a further answer."""
        self.n_changes += 1
        self.n_rewrites += 1

    def _unstack(self, event: Reply) -> None:
        """Remove a reply from those that its annotator may undo."""
        self._stacks[event.annotator].remove(event)
        self._counts[event.annotator][event.kind] -= 1
        self._counts[event.annotator]["late"] -= event.late

    def _place(self, question: int, annotator: str) -> int:
        """The place of an annotator's answer among the present ones."""
        behind = self._behind.get((question, annotator), ())
        answers = self._answers.get(question, ())
        places = (place for place, event in enumerate(answers) if event.id in behind)
        return next(places, len(answers))

    def _count(self, question: int) -> None:
        """Update whether a question costs budget."""
        answers = self._answers.get(question, ())
        if question not in self.gold and any(not isinstance(event, KNOWN) for event in answers):
            self._spent.add(question)
        else:
            self._spent.discard(question)


def _has_some_in(value: Value | None, group: int) -> bool:
    """Whether a row has a share in a group."""
    return isinstance(value, tuple) and len(value) > group and value[group] > 0.0
