"""What is done with a session: groups shaped, items decided, options, people invited."""

from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans.queries import ME
from askmeans.sessions.people import ROLES
from askmeans.sessions.settings import OPTIONS
from askmeans.web.context import AppContext, said_at
from askmeans.web.forms import INCOMPLETE, Form, SentForm, annotator_of, is_script
from askmeans.web.group_views import group_page_of

__all__ = ["add_owner"]

_PLACES = frozenset({"/", "/groups", "/results", "/invites"})  # where a form may lead back to

Work = Callable[[Form, str], str]  # what somebody wants; it says what was done
Does = Callable[..., Callable[[Work], None]]


def add_owner(router: APIRouter, context: AppContext) -> None:
    """Everything that is not answering."""

    def does(path: str, back: str = "/results") -> Callable[[Work], None]:
        """Add a form that does something, and leads back with a sentence about it."""

        def add(work: Work) -> None:
            @router.post(path)
            def done(request: Request, form: SentForm) -> Response:
                context.check_mark(form)
                annotator, place = annotator_of(request), form.get("back") or back
                if place not in _PLACES:
                    raise HTTPException(422, INCOMPLETE)
                text, status = context.attempt(lambda: work(form, annotator or ME))
                if is_script(request) and annotator is not None:
                    return context.go_on(request, annotator, text, status)
                return said_at(place, text, failed=status >= 400)

        return add

    _add_groups(router, context, does)
    _add_items(context, does)
    _add_options(router, context, does)
    _add_invitations(router, context, does)


def _add_groups(router: APIRouter, context: AppContext, does: Does) -> None:
    """Names, new groups, merges, parts split off, changes taken back."""
    session = context.session

    @router.get("/groups")
    def groups(request: Request) -> Response:
        who = annotator_of(request) or ME
        return context.page(
            request, "groups.html", groups=group_page_of(session, context.assignments.cards, who),
            changes=session.history.changes()[-20:][::-1], options=session.settings.options,
            budget=session.status().budget,
            can_group=session.groups.can_change, can_merge=session.config.ask == "group",
        )  # fmt: skip

    @does("/rename")
    def renamed(form: Form, who: str) -> str:
        group, name, about = form.integer("cluster"), form.group_name(), form.get("about")
        before = next((each for each in session.groups if each.number == group), None)
        told = f"The group is called {name} now."
        if before is None or before.name != name or about is None:
            session.groups.rename(group, name, annotator=who)
        if before is not None and about is not None and about.strip() != before.description:
            session.groups.describe(group, about.strip(), annotator=who)
            told += " What belongs there is saved."
        return told

    @does("/names")
    def named(form: Form, who: str) -> str:
        """Several groups get their names at once."""
        told = form.numbered("name-")
        for number, name in told.items():
            session.groups.rename(number, name, annotator=who)
        return f"{len(told)} groups have names now."

    @does("/groups")
    def added(form: Form, who: str) -> str:
        name = form.group_name()
        session.groups.add(name, annotator=who)
        return f"There is a group {name} now."

    @does("/merge")
    def merged(form: Form, who: str) -> str:
        session.groups.merge(form.integer("into"), form.integer("group"), annotator=who)
        return "The two groups are one now."

    @does("/remove")
    def removed(form: Form, who: str) -> str:
        """A group is there no more."""
        group = form.integer("group")
        name = next((each.name for each in session.groups if each.number == group), "")
        session.groups.remove(group, annotator=who)
        return (
            f"The group {name} is removed: what was put there is in none of the groups now. "
            "“Take back” under Changes brings it back."
        )

    @does("/split")
    def split(form: Form, who: str) -> str:
        """Some items that were placed in a group become a group of their own."""
        rows = list(form.numbered("row-"))
        for row in rows:
            context.check_row(row)
        name = form.group_name()
        session.groups.split(form.integer("group"), rows, name, annotator=who)
        moved = "1 item is" if len(rows) == 1 else f"{len(rows)} items are"
        return f"{moved} in the new group {name} now."

    @does("/take-back")
    def taken(form: Form, who: str) -> str:
        session.history.take_back(form.integer("event"), annotator=who)
        return "Taken back."


def _add_items(context: AppContext, does: Does) -> None:
    """Examples, items of one's own choice, and one answer in the place of several that differ."""
    session = context.session

    @does("/pin")
    def pinned(form: Form, who: str) -> str:
        row, on = form.integer("row"), not form.get("off")
        context.check_row(row)
        pin = session.groups.pin if on else session.groups.unpin
        pin(form.integer("group"), row, annotator=who)
        return f"{session.item(row).label} is {'an' if on else 'no longer a pinned'} example."

    @does("/review")
    def reviewed(form: Form, who: str) -> str:
        row, value = form.integer("row"), form.value()
        context.check_row(row)
        question = session.add_question("group", (row,), annotator=who)
        return context.assignments.decide(question, who, value)

    @does("/adjudicate")
    def decided(form: Form, who: str) -> str:
        back = form.get("value") == "back"
        value = None if back else form.value()
        session.people.adjudicate(form.integer("question"), value, annotator=who)
        return "Taken back." if back else "Decided."


def _add_options(router: APIRouter, context: AppContext, does: Does) -> None:
    """The owner's options, a pause, the budget, and what is good enough."""
    session = context.session

    @does("/options")
    def decided(form: Form, who: str) -> str:
        before = session.settings.options
        for name, kind in OPTIONS.items():
            if kind not in (str, bool):
                continue  # not on this page
            told = (form.get(name) or "").strip().replace("\r\n", "\n")
            value = bool(told) if kind is bool else told
            if value != before[name]:
                session.settings.set_option(name, value, annotator=who)
        return "Saved."

    @router.post("/pause")
    def pause(request: Request, form: SentForm) -> Response:
        context.check_mark(form)
        off = bool(form.get("off"))
        settings = context.session.settings
        (settings.resume if off else settings.pause)(annotator=annotator_of(request) or ME)
        return RedirectResponse("/" if off else "/results", 303)

    @does("/budget", back="/")
    def budget(form: Form, who: str) -> str:
        number = form.integer("n")
        session.settings.set_budget(number, annotator=who)
        return f"The budget is {number} questions now."

    @does("/good-enough", back="/groups")
    def good_enough(form: Form, who: str) -> str:
        """The share of wrong items to stop at; none where the field is empty."""
        percent = form.number("percent") if (form.get("percent") or "").strip() else 0.0
        if not 0.0 <= percent <= 100.0:
            raise HTTPException(422, "Type a number of percent from 0 to 100.")
        session.settings.set_option("good_enough", percent / 100.0, annotator=who)
        if not percent:
            return "Saved: by its own rule the session decides when it is good enough."
        return f"Saved: it is good enough with fewer than {percent:.3g} % in the wrong group."


def _add_invitations(router: APIRouter, context: AppContext, does: Does) -> None:
    """Who could come in, links for others, and links that end."""
    session = context.session

    def page(request: Request, link: str = "", whom: str = "") -> Response:
        found = [(one, _time(one.until), _time(one.used)) for one in session.people.invites()]
        return context.page(
            request, "invites.html", invites=found[::-1], link=link, whom=whom, roles=ROLES
        )

    @router.get("/invites")
    def invites(request: Request) -> Response:
        return page(request)

    @router.post("/invite")
    def invite(request: Request, form: SentForm) -> Response:
        """The link is in this reply only: not in an address, a cookie or the database."""
        context.check_mark(form)
        whom, role, days = form.text("name"), form.text("role"), form.number("days")
        who = annotator_of(request) or ME
        told, status = context.attempt(
            lambda: session.people.invite(whom, role=role, days=days, annotator=who)  # type: ignore[arg-type]  # it is checked
        )
        if status >= 400:
            return said_at("/invites", told, failed=True)
        return page(request, f"{request.base_url}?token={told}", whom)

    @does("/revoke", back="/invites")
    def revoked(form: Form, who: str) -> str:
        (ended,) = session.people.revoke(form.integer("number"), annotator=who)
        return f"{ended.name} cannot come in by this link any more."


def _time(at: float | None) -> str:
    """A time, to the minute."""
    return "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"
