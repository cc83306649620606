"""What is done with a session: groups named and shaped, options, a pause, a budget."""

from collections.abc import Callable

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans.exceptions import AskmeansError
from askmeans.sessions.changes import OPTIONS
from askmeans.web.context import AppContext
from askmeans.web.errors import status_of, tell
from askmeans.web.forms import Form, SentForm, annotator_of
from askmeans.web.replies import (
    annotator_in,
    check_mark,
    check_row,
    go_on,
    group_name,
    is_script,
    said_at,
    value_of,
)
from askmeans.web.shaping import group_page_of

__all__ = ["add_owner"]

_PLACES = frozenset({"/", "/groups", "/results"})  # where a form may lead back to


def add_owner(router: APIRouter, context: AppContext) -> None:
    """Everything that is not answering."""
    _add_groups(router, context)
    _add_options(router, context)


def _add_groups(router: APIRouter, context: AppContext) -> None:
    """Names, new groups, merges, parts split off, examples."""
    session = context.session

    @router.get("/groups")
    def groups(request: Request) -> Response:
        who = annotator_of(request) or "me"
        return context.page(
            request, "groups.html", groups=group_page_of(session, context.assignments.cards, who),
            changes=session.changes()[-20:][::-1], options=session.options,
            can_group=session.can_regroup, can_merge=session.config.ask == "group",
        )  # fmt: skip

    @router.post("/rename")
    def rename(request: Request, form: SentForm) -> Response:
        def renamed(who: str) -> str:
            group, name, about = form.whole("cluster"), group_name(form), form.get("about")
            before = next((each for each in session.groups if each.number == group), None)
            told = f"The group is called {name} now."
            if before is None or before.name != name or about is None:
                session.rename(group, name, annotator=who)
            if before is not None and about is not None and about.strip() != before.description:
                session.describe(group, about.strip(), annotator=who)
                told += " What belongs there is saved."
            return told

        return _done(context, request, form, renamed)

    @router.post("/names")
    def names(request: Request, form: SentForm) -> Response:
        """Several groups get their names at once."""

        def named(who: str) -> str:
            told = form.numbered("name-")
            for number, name in told.items():
                session.rename(number, name, annotator=who)
            return f"{len(told)} groups have names now."

        return _done(context, request, form, named)

    @router.post("/groups")
    def add_group(request: Request, form: SentForm) -> Response:
        def added(who: str) -> str:
            name = group_name(form)
            session.add_group(name, annotator=who)
            return f"There is a group {name} now."

        return _done(context, request, form, added)

    @router.post("/merge")
    def merge(request: Request, form: SentForm) -> Response:
        def merged(who: str) -> str:
            session.merge_groups(form.whole("into"), form.whole("group"), annotator=who)
            return "The two groups are one now."

        return _done(context, request, form, merged)

    @router.post("/split")
    def split(request: Request, form: SentForm) -> Response:
        """Some items that were placed in a group become a group of their own."""

        def done(who: str) -> str:
            rows = list(form.numbered("row-"))
            for row in rows:
                check_row(context, row)
            name = group_name(form)
            session.split_off(name, rows, annotator=who)
            moved = "1 item is" if len(rows) == 1 else f"{len(rows)} items are"
            return f"{moved} in the new group {name} now."

        return _done(context, request, form, done)

    @router.post("/pin")
    def pin(request: Request, form: SentForm) -> Response:
        def pinned(who: str) -> str:
            row, on = form.whole("row"), not form.get("off")
            check_row(context, row)
            session.pin(form.whole("group"), row, on=on, annotator=who)
            return f"{session.item(row).label} is {'an' if on else 'no longer a pinned'} example."

        return _done(context, request, form, pinned)

    @router.post("/adjudicate")
    def adjudicate(request: Request, form: SentForm) -> Response:
        """One answer in the place of several that differ."""

        def decided(who: str) -> str:
            back = form.get("value") == "back"
            value = None if back else value_of(form)
            session.adjudicate(form.whole("question"), value, annotator=who)
            return "Taken back." if back else "Decided."

        return _done(context, request, form, decided)

    @router.post("/take-back")
    def take_back(request: Request, form: SentForm) -> Response:
        def taken(who: str) -> str:
            session.take_back(form.whole("event"), annotator=who)
            return "Taken back."

        return _done(context, request, form, taken)


def _add_options(router: APIRouter, context: AppContext) -> None:
    """The owner's options, a pause, the budget."""
    session = context.session

    @router.post("/options")
    def options(request: Request, form: SentForm) -> Response:
        def decided(who: str) -> str:
            before = session.options
            for name, kind in OPTIONS.items():
                if kind not in (str, bool):
                    continue  # not on this page
                told = (form.get(name) or "").strip().replace("\r\n", "\n")
                value = bool(told) if kind is bool else told
                if value != before[name]:
                    session.set_option(name, value, annotator=who)
            return "Saved."

        return _done(context, request, form, decided)

    @router.post("/pause")
    def pause(request: Request, form: SentForm) -> Response:
        check_mark(context, form)
        who = annotator_of(request) or "me"
        if form.get("off"):
            session.resume(annotator=who)
        else:
            session.pause(annotator=who)
        return RedirectResponse("/" if form.get("off") else "/results", 303)

    @router.post("/budget")
    def budget(request: Request, form: SentForm) -> Response:
        annotator = annotator_in(context, form)
        number = form.whole("n")
        session.set_budget(number, annotator=annotator)
        return go_on(context, request, annotator, f"The budget is {number} questions now.")


def _done(
    context: AppContext, request: Request, form: Form, work: Callable[[str], str]
) -> Response:
    """Do something that somebody wants, and lead back with a sentence about it."""
    check_mark(context, form)
    annotator = annotator_of(request)
    back = form.get("back") or "/results"
    if back not in _PLACES:
        raise HTTPException(422, "The field 'back' must be a page of the session.")
    try:
        text, status = work(annotator or "me"), 200
    except AskmeansError as error:
        text, status = tell(error, context.session), status_of(error)
    if is_script(request) and annotator is not None:
        return go_on(context, request, annotator, text, status)
    return said_at(back, text, failed=status >= 400)
