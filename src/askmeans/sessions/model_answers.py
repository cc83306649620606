"""A language model answers ahead about a session's items, as one of its advisers."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askmeans._util.message import Message, plural_message
from askmeans.exceptions import StopAsking
from askmeans.llm import ModelOracle
from askmeans.llm.prompts import PICTURES, Prompts
from askmeans.queries import GroupQueries
from askmeans.sessions.reports import Group
from askmeans.sessions.session import Session
from askmeans.sessions.store import file_of, is_postgresql

ModelAnswers = dict[int, dict[int, float] | None]  # shares by item; None for "cannot say"

_AT_A_TIME = 8  # batches of as many requests as are made at a time, then the session keeps them


def model_prompts(session: Session, groups: Sequence[Group]) -> Prompts:
    """The instructions of the model, which are those of people."""
    texts = session.settings.options
    guidelines = "\n\n".join(text for text in (texts["purpose"], texts["guidelines"]) if text)
    names = [f"{g.name}: {g.description}" if g.description else g.name for g in groups]
    pinned = [session.groups.pinned(group.number) for group in groups]
    return Prompts(guidelines, lambda row: _shown(session, row), names, pinned)


def replies_file(database: str) -> Path:
    """The default file of raw replies."""
    if is_postgresql(database):
        return Path("askmeans.replies.db")
    file = file_of(database)
    return file.with_name(f"{file.name}.replies")


def rows_to_ask(
    session: Session, model: str, most: int | None = None, *, again: bool = False
) -> list[int]:
    """The items to ask the model about, in random order, without those it answered."""
    order = session.advisers.audit_order()
    known = {} if again else session.advisers.answers().get(model, {})
    return [row for row in order[:most] if row not in known]


def answer_ahead(
    session: Session, oracle: ModelOracle, rows: list[int], advance: Callable[[int], None]
) -> str:
    """Let the model answer; why it stopped before the end, "" where it did not.

    Answers are kept in parts; `advance` gets the number of items of each, and may raise an error.
    """
    size = _AT_A_TIME * oracle.concurrency
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        stopped, cause = False, None
        groups = list(session.groups)  # people may change groups meanwhile
        oracle.prompts = model_prompts(session, groups)
        queries = GroupQueries(np.array(part, dtype=np.int64), len(groups))
        try:
            answers = oracle.answer(queries)
            reached = np.ones(len(part), dtype=bool)
        except StopAsking as stop:
            answers, reached, stopped, cause = stop.answers, stop.reached, True, stop.__cause__
        failed = {question.items[0] for question in oracle.failed}
        values = {
            row: _value(groups, shares)
            for row, shares, has_answer in zip(part, answers.tolist(), reached, strict=True)
            if has_answer and row not in failed  # what failed is asked again next time
        }
        session.advisers.add(oracle.name, _about_present_groups(session, values))
        advance(len(part))
        if isinstance(cause, Exception):
            raise cause
        if stopped and not oracle.is_spent:
            return Message("stopped before the end")
        if stopped:
            left = len(rows) - start - len(values)
            return Message(
                "stopped before the end: {reason}. {rest}",
                reason=oracle.refusal, rest=_what_is_left(oracle, left),
            )  # fmt: skip
    return ""


def _what_is_left(oracle: ModelOracle, left: int) -> str:
    """The cost of the items that are left, by the mean of those answered."""
    spent = oracle.spent_in_all
    if not spent.calls:
        return plural_message("The {n} item left", "The {n} items left", left)
    if spent.money is not None:
        return plural_message(
            "The {n} item left would cost about {money} more",
            "The {n} items left would cost about {money} more",
            left,
            money=f"{left * oracle.votes * spent.money / spent.calls:.2g}",
        )
    tokens = (spent.tokens_in + spent.tokens_out) / spent.calls
    return plural_message(
        "The {n} item left would take about {tokens} tokens more",
        "The {n} items left would take about {tokens} tokens more",
        left,
        tokens=round(left * oracle.votes * tokens),
    )


def _shown(session: Session, row: int) -> dict[str, Any]:
    """The displayed values of an item, with its picture."""
    shown = session.item(row).shown
    file = session.rows.image_file(row)
    if file is not None and file.suffix.lower() in PICTURES:
        shown["picture"] = file
    return shown


def _value(groups: Sequence[Group], shares: list[float]) -> dict[int, float] | None:
    """A row by the groups' numbers; None for "cannot say"."""
    if any(map(math.isnan, shares)):
        return None
    pairs = zip(groups, shares, strict=True)
    return {group.number: share for group, share in pairs if share > 0.0}


def _about_present_groups(session: Session, answers: ModelAnswers) -> ModelAnswers:
    """Leave out answers about a group that was removed: they are requested again."""
    present = {group.number for group in session.groups}
    others = {j for row in answers.values() for j in row or ()} - present
    gone = {j for j in others if session.groups.find(j) is None}  # not merged with another
    return {row: shares for row, shares in answers.items() if not gone & set(shares or ())}
