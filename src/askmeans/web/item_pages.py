"""The table of items, items moved together, and the page of one item: why it is where it is."""

import secrets
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans._util.arrays import Floats
from askmeans._util.checks import parse_digits
from askmeans._util.message import Message, listed, plural_message
from askmeans.sessions import Session, SessionResult
from askmeans.sessions.tables import NO_GROUP
from askmeans.web.context import AppContext, redirect
from askmeans.web.forms import INCOMPLETE, SentForm, annotator_of
from askmeans.web.group_views import LEVELS, leaves, result_colors
from askmeans.web.items import NOBODY, PER_PAGE, ItemFilter
from askmeans.web.result_pages import RESULT_TIMEOUT
from askmeans.web.scale import describe

_BRIEF = 0.1  # seconds to wait for a newer result; the table adds later answers anyway
_MOST_MOVED = 5000  # items at once
_NEIGHBOURS = 6
_BLOCK = 16_384  # rows whose distances are computed at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A group, an item's membership in it, and the evidence for that."""

    name: str
    color: str
    value: float
    distance: float | None
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """An item's memberships, and the answers about it."""

    summary: str
    reasons: tuple[Reason, ...]
    similar: tuple[str, ...]  # answers about the item as a whole, or beside others


def add_items(router: APIRouter, context: AppContext) -> None:
    """The table, moves, and the page of an item."""
    session = context.session
    can_move = session.config.ask == "group"

    @router.get("/items")
    async def items(request: Request) -> Response:
        wanted = ItemFilter.from_fields(request.query_params)
        number = parse_digits(request.query_params.get("page", "")) or 1
        is_there = context.result_views.glance() is not None
        view = await context.newest_result(_BRIEF if is_there else RESULT_TIMEOUT)

        def page() -> Response:
            table = context.item_table(view)
            rows = table.rows(wanted)
            last = max(1, -(-len(rows) // PER_PAGE))
            place = min(number, last)
            shown = rows[(place - 1) * PER_PAGE : place * PER_PAGE].tolist()
            return context.page(
                request, "items.html", wanted=wanted, table=table, n=len(rows), page=place,
                last=last, lines=[table.line(row) for row in shown], tiles=context.cards.buttons(),
                levels=LEVELS, nobody=NOBODY, none=NO_GROUP, key=secrets.token_urlsafe(12),
                can_move=can_move and context.is_owner(request), has_result=view is not None,
            )  # fmt: skip

        return await context.in_background(page)

    @router.post("/items/move")
    def move(request: Request, form: SentForm) -> Response:
        """Put the chosen items, or all that match, into a group."""
        if not context.is_owner(request):
            raise HTTPException(
                403, Message("Only owners of the session move items. Ask one of them.")
            )
        who, wanted = context.annotator_in(form), ItemFilter.from_fields(form.fields)
        back = wanted.address(page=form.get("page") or "")
        rows = list(form.numbered("row-"))
        for row in rows:
            context.check_row(row)
        if form.get("all"):
            rows = context.item_table(context.result_views.glance()).rows(wanted).tolist()
            if len(rows) != form.integer("n"):
                text: str = plural_message(
                    "{n} item matches by now, so none was moved. Look at it again.",
                    "{n} items match by now, so none was moved. Look at them again.",
                    len(rows),
                )
                return redirect(back, text, failed=True)
        if not 0 < len(rows) <= _MOST_MOVED:
            text = Message("Choose the items to move first.") if not rows else Message(
                "At most {most} items are moved at once. Narrow the list first.", most=_MOST_MOVED
            )  # fmt: skip
            return redirect(back, text, failed=True)
        value, key = form.value(), form.text("key")
        if value != () and not isinstance(value, int):
            raise HTTPException(422, INCOMPLETE)
        group = None if value == () else value

        def save() -> str:
            session.groups.move(rows, group, annotator=who, key=key)
            if group is None:
                return plural_message(
                    "{n} item is in none of the groups now.",
                    "{n} items are in none of the groups now.",
                    len(rows),
                )
            return plural_message(
                "{n} item is in {group} now.", "{n} items are in {group} now.",
                len(rows), group=session.groups.all_names[group],
            )  # fmt: skip

        text, status = context.attempt(save)
        return redirect(back, text, failed=status >= 400, undo=("move", key))

    @router.get("/items/{row}")
    async def item(request: Request, row: int) -> Response:
        context.check_row(row)
        view = await context.newest_result(RESULT_TIMEOUT)

        def page() -> Response:
            annotator = None if context.is_owner(request) else annotator_of(request)
            why = view and explain_item(session, row, view.result, annotator=annotator)
            table = context.item_table(view)
            return context.page(
                request, "item.html", item=context.cards.item(row), why=why, line=table.line(row),
                neighbours=[table.line(other) for other in _nearest(session, row)],
                tiles=context.cards.buttons(), can_move=can_move and context.is_owner(request),
            )  # fmt: skip

        return await context.in_background(page)

    @router.get("/find")
    def find(q: str = "") -> Response:
        """The item of a name, or else of a row number, or else those with a part of it."""
        ids, wanted = session.rows.ids(), q.strip()
        if q in ids or wanted in ids:
            return RedirectResponse(f"/items/{ids.index(q if q in ids else wanted)}", 303)
        number = parse_digits(wanted)
        if number is not None and number < len(ids):
            return RedirectResponse(f"/items/{number}", 303)
        matches = session.rows.find(wanted) if wanted else []
        if not matches:
            raise HTTPException(
                404,
                Message(
                    "No item has “{words}” in its name or its text. Try a part of it.",
                    words=wanted[:80],
                ),
            )
        if len(matches) == 1:
            return RedirectResponse(f"/items/{matches[0]}", 303)
        return RedirectResponse(ItemFilter(words=wanted).address(), 303)


def _nearest(session: Session, row: int) -> list[int]:
    """The items nearest to one by their features."""
    X = session.rows.matrix
    distances = np.concatenate([
        np.square(np.asarray(X[start : start + _BLOCK], dtype=np.float64) - X[row]).sum(axis=1)
        for start in range(0, len(X), _BLOCK)
    ])  # fmt: skip
    distances[row] = np.inf
    n = min(_NEIGHBOURS, len(X) - 1)
    nearest = np.argpartition(distances, n - 1)[:n] if n else np.array([], dtype=int)
    return [int(other) for other in nearest[np.argsort(distances[nearest], kind="stable")]]


def explain_item(
    session: Session, row: int, result: SessionResult, *, annotator: str | None = None
) -> Explanation | None:
    """An item's memberships with the answers and distances behind them.

    Answers are those of one annotator, or of all. None for an item that was added since the result
    was computed.
    """
    if row >= len(result.memberships):
        return None
    by_cluster: dict[int, list[str]] = {}
    own, similar = [], []
    n_answers, is_placed = 0, False
    for reply in session.history.answers():
        question = session.question(reply.question)
        if reply.kind == "skip" or row not in question.items:
            continue
        n_answers += 1
        is_placed |= question.kind in ("group", "membership")
        if annotator not in (None, reply.annotator):
            continue
        value = describe(reply.value, session.groups.all_names, question.kind)
        text = Message("{person} answered “{answer}”.", person=reply.annotator, answer=value)
        if question.kind == "group":
            own.append(text)
        elif question.cluster is not None:
            by_cluster.setdefault(question.cluster, []).append(text)
        elif question.kind == "relative":
            one, left, right = (session.item(other).label for other in question.items)
            similar.append(
                Message(
                    "{one} between {left} on the left and {right}: {answer}",
                    one=one,
                    left=left,
                    right=right,
                    answer=text,
                )
            )
        else:
            others = [session.item(other).label for other in question.items if other != row]
            similar.append(Message("With {items}: {answer}", items=listed(others), answer=text))
    memberships, names = result.memberships[row], result.group_names
    distances = _distances(session, row, result)
    groups = leaves(session)
    reasons = [
        Reason(
            name=name, color=color, value=float(memberships[j]),
            distance=None if distances is None else float(distances[j]),
            answers=tuple(by_cluster.get(groups[j].number if j < len(groups) else j, ())),
        )
        for j, (name, color) in enumerate(zip(names, result_colors(session, result), strict=True))
    ]  # fmt: skip
    if is_placed:
        summary = Message("People placed this item themselves; what they answered stands.")
    elif n_answers:
        summary = Message(
            "People compared this item with others; its memberships follow from that."
        )
    elif result.basis == "nothing":
        summary = Message("No answers yet: the groups have only names.")
    elif distances is None:
        summary = Message("Nobody was asked about this item; it is in the group of items like it.")
    else:
        summary = Message(
            "Nobody was asked about this item. It lies nearest to the centre of {group}, and "
            "answers about others taught how membership falls with distance.",
            group=names[int(np.argmin(distances))],
        )
    reasons.sort(key=lambda reason: -reason.value)
    return Explanation(summary=summary, reasons=tuple(reasons), similar=(*own, *similar))


def _distances(session: Session, row: int, result: SessionResult) -> Floats | None:
    """Distances of an item from the centres; None for a later item, or without centres."""
    centers = result.clustering.centers
    is_known = row < len(session.rows.base) and bool(np.isfinite(centers).all())
    if result.basis == "nothing" or not is_known:
        return None
    distances: Floats = np.linalg.norm(session.rows.base[row] - centers, axis=1)
    return distances
