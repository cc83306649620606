"""The list of answers: filtered, and changed in place."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from askmeans._util.checks import parse_digits
from askmeans.queries import ME
from askmeans.sessions import Reply
from askmeans.web.context import AppContext, redirect
from askmeans.web.forms import INCOMPLETE, SentForm, annotator_of
from askmeans.web.looks import Look
from askmeans.web.scale import describe_fully, scale_of

_PER_PAGE = 100
_MOST_WORDS = 200  # characters of a search
_PLACE = re.compile(r"/history(\?[\w=&%+.,*-]*)?", re.ASCII)
_FIELDS = ("q", "value", "by", "page")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """An answer in the list."""

    reply: Reply
    what: str  # the item, or what was asked
    row: int | None  # of its page
    answer: str
    chosen: str  # as the form of a card has it; "" for shares and other numbers
    color: str | None
    at: datetime
    can_change: bool


def add_history(router: APIRouter, context: AppContext) -> None:
    """The list, and its forms."""

    @router.get("/history")
    def history(request: Request) -> Response:
        fields = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
        who = annotator_of(request) or ME
        is_owner = context.is_owner(request)
        by = (fields["by"] or who) if is_owner else who
        replies = context.session.history.answers(annotator=None if by == "*" else by)
        lines = _Lines(context, who)
        n_all, replies = len(replies), lines.matching(replies[::-1], fields)
        last = max(1, -(-len(replies) // _PER_PAGE))
        page = min(max(parse_digits(fields["page"]) or 1, 1), last)
        shown = replies[(page - 1) * _PER_PAGE : page * _PER_PAGE]
        return context.page(
            request, "history.html", lines=[lines.line(reply) for reply in shown], n=len(replies),
            n_all=n_all, page=page, last=last, wanted=fields, by=by,
            address=lambda **changes: _address(fields, **changes),
            people=list(context.session.status().annotators) if is_owner else [],
            key=secrets.token_urlsafe(12), groups=list(context.session.groups),
            **scale_of(context.session),
        )  # fmt: skip

    @router.post("/history/change")
    def change(request: Request, form: SentForm) -> Response:
        """Replace an answer, or take it back; the list keeps its place."""
        annotator, back = context.annotator_in(form), form.get("back") or "/history"
        question, key = form.integer("question"), form.text("key")
        context.check_assigned(request, question)
        if not _PLACE.fullmatch(back):
            raise HTTPException(422, INCOMPLETE)

        def work() -> str:
            if form.get("event"):
                return context.assignments.undo(annotator, key, question, form.integer("event"))
            return context.assignments.change(question, annotator, key, form.value())

        text, status = context.attempt(work)
        return redirect(back, text, failed=status >= 400)


class _Lines:
    """Makes lines of answers."""

    def __init__(self, context: AppContext, who: str) -> None:
        self._context, self._who = context, who
        session = self._session = context.session
        self._names = session.groups.all_names
        self._colors = Look.of(session).colors(session)

    def matching(self, replies: list[Reply], fields: Mapping[str, str]) -> list[Reply]:
        """The answers that a filter leaves."""
        words = fields["q"].casefold()[:_MOST_WORDS]
        if fields["value"]:
            replies = [each for each in replies if self._kind(each) == fields["value"]]
        if words:
            replies = [each for each in replies if words in self._what(each).casefold()]
        return replies

    def line(self, reply: Reply) -> HistoryLine:
        """One of them."""
        items = self._session.question(reply.question).items
        answer = "skipped"
        if reply.kind != "skip":
            answer = describe_fully(reply.value, self._session.config.ask, self._names)
        chosen = self._kind(reply)
        return HistoryLine(
            reply=reply, what=self._what(reply), row=items[0] if len(items) == 1 else None,
            answer=answer.strip("“”"), chosen=chosen, color=self._colors.get(self._group(reply)),
            at=datetime.fromtimestamp(reply.at, UTC), can_change=reply.annotator == self._who,
        )  # fmt: skip

    def _what(self, reply: Reply) -> str:
        question = self._session.question(reply.question)
        item = self._session.item(question.items[0])
        if len(question.items) == 1 and question.cluster is None:
            return item.text or item.label
        return self._context.cards.label(question)

    def _group(self, reply: Reply) -> int:
        """The present number of the group of an answer; -1 for others."""
        if not isinstance(reply.value, tuple) or max(reply.value, default=0.0) < 1.0:
            return -1
        number = self._session.groups.find(reply.value.index(1.0))
        return -1 if number is None else number

    def _kind(self, reply: Reply) -> str:
        """An answer as the buttons of a card have it; "" for what no button says."""
        value = reply.value
        if reply.kind == "skip":
            return "skip"
        if value is None:
            return "unsure"
        if not isinstance(value, tuple):
            return f"{value:g}"
        if not any(value):
            return "none"
        group = self._group(reply)
        return "" if group < 0 else f"group-{group}"


def _address(fields: Mapping[str, str], **changes: str) -> str:
    """The address of the list with a filter, of which some fields are changed."""
    changed = {**fields, **changes}
    kept = {name: changed[name][:_MOST_WORDS] for name in _FIELDS if changed.get(name)}
    return f"/history?{urlencode(kept)}" if kept else "/history"
