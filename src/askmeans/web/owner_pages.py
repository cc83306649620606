"""What owners do: shape groups, decide items, set options, invite people."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans.queries import ME
from askmeans.sessions.people import ROLES
from askmeans.sessions.served import recall
from askmeans.sessions.settings import OPTIONS
from askmeans.sessions.tables import suggested_sub_groups
from askmeans.web.context import AppContext, redirect
from askmeans.web.forms import INCOMPLETE, Form, SentForm, annotator_of, is_script
from askmeans.web.guard import LOOPBACK, hostname

# Where a form may lead back to: pages of ours.
_PLACES = re.compile(r"/|/(groups|results|review|invites|items(/\d+|\?[\w=&%+.,-]*)?)", re.ASCII)
_EXAMPLES = 6  # of a group
_PLACED = 60  # items of a group that can be split off
_CHANGES = 20  # that are listed

Work = Callable[[Form, str], str]  # handles a form; returns a sentence about it
AddForm = Callable[..., Callable[[Work], None]]


def add_owner(router: APIRouter, context: AppContext) -> None:
    """Everything that is not answering."""

    def form_at(path: str, back: str = "/results") -> Callable[[Work], None]:
        """Add a form that leads back with a sentence about its effect."""

        def add(work: Work) -> None:
            @router.post(path)
            def done(request: Request, form: SentForm) -> Response:
                context.check_form(form)
                annotator, place = annotator_of(request), form.get("back") or back
                if not _PLACES.fullmatch(place):
                    raise HTTPException(422, INCOMPLETE)
                text, status = context.attempt(lambda: work(form, annotator or ME))
                if is_script(request) and annotator is not None:
                    return context.go_on(request, annotator, text, status)
                return redirect(place, text, failed=status >= 400)

        return add

    _add_groups(router, context, form_at)
    _add_items(context, form_at)
    _add_settings(router, context, form_at)
    _add_invitations(router, context, form_at)


def _add_groups(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """Names, new groups, merges, splits, changes taken back."""
    session, groups, cards = context.session, context.session.groups, context.cards

    @router.get("/groups")
    def group_page(request: Request, refine: int | None = None) -> Response:
        placed = _placed_by(context, annotator_of(request) or ME)
        shown, proposed = [], []
        if refine is not None and groups.find(refine) == refine:
            proposed = suggested_sub_groups(session, refine)
        for tile in cards.tree():
            number = tile.group.number
            pinned = set(groups.pinned(number))
            rows, is_guess = cards.examples(number, max(_EXAMPLES, len(pinned)))
            shown.append({
                "group": tile.group,
                "color": tile.color,
                "examples": [(cards.item(row), row in pinned) for row in rows],
                "is_guess": is_guess,
                "placed": [cards.item(row) for row in placed.get(number, ())],
                "proposed": ", ".join(proposed) if number == refine else "",
            })  # fmt: skip
        return context.page(
            request, "groups.html", groups=shown, branches=_branches(shown),
            options=session.settings.options,
            changes=session.history.changes()[-_CHANGES:][::-1], budget=session.status().budget,
            can_change=groups.can_change, can_merge=session.config.ask == "group",
        )  # fmt: skip

    @form_at("/rename")
    def rename(form: Form, who: str) -> str:
        number, name, about = form.integer("cluster"), form.group_name(), form.get("about")
        before = next((group for group in groups if group.number == number), None)
        text = f"The group is called {name} now."
        if before is None or before.name != name or about is None:
            groups.rename(number, name, annotator=who)
        if before is not None and about is not None and about.strip() != before.description:
            groups.describe(number, about.strip(), annotator=who)
            text += " What belongs there is saved."
        return text

    @form_at("/names")
    def rename_several(form: Form, who: str) -> str:
        names = form.numbered("name-")
        for number, name in names.items():
            groups.rename(number, name, annotator=who)
        return f"{len(names)} groups have names now."

    @form_at("/groups")
    def add(form: Form, who: str) -> str:
        name = form.group_name()
        groups.add(name, annotator=who)
        return f"There is a group {name} now."

    @form_at("/merge")
    def merge(form: Form, who: str) -> str:
        groups.merge(form.integer("into"), form.integer("group"), annotator=who)
        return "The two groups are one now."

    @form_at("/refine")
    def refine(form: Form, who: str) -> str:
        number, names = form.integer("group"), form.group_names()
        groups.refine(number, names, annotator=who)
        return f"{groups.all_names[number]} has sub-groups now: {', '.join(names)}."

    @form_at("/flatten")
    def flatten(form: Form, who: str) -> str:
        number = form.integer("group")
        groups.flatten(number, annotator=who)
        return f"{groups.all_names[number]} has no sub-groups any more; nothing answered is lost."

    @form_at("/move-group")
    def move_group(form: Form, who: str) -> str:
        number, into = form.integer("group"), form.get("into")
        groups.move_group(number, form.integer("into") if into else None, annotator=who)
        return f"{groups.all_names[number]} is in another place now."

    @form_at("/remove")
    def remove(form: Form, who: str) -> str:
        number = form.integer("group")
        name = next((group.name for group in groups if group.number == number), "")
        groups.remove(number, annotator=who)
        return (
            f"The group {name} is removed: what was put there is in none of the groups now. "
            "“Take back” under Changes brings it back."
        )

    @form_at("/split")
    def split(form: Form, who: str) -> str:
        rows = list(form.numbered("row-"))
        for row in rows:
            context.check_row(row)
        name = form.group_name()
        groups.split(form.integer("group"), rows, name, annotator=who)
        moved = "1 item is" if len(rows) == 1 else f"{len(rows)} items are"
        return f"{moved} in the new group {name} now."

    @form_at("/take-back")
    def take_back(form: Form, who: str) -> str:
        if form.get("move"):
            n = groups.undo_move(form.text("move"), annotator=who)
            return f"Taken back: {n:,} item{' is' if n == 1 else 's are'} where they were before."
        session.history.take_back(form.integer("event"), annotator=who)
        return "Taken back."


def _branches(shown: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Groups with all that is within them, by name; "" for those without sub-groups."""
    branches: list[tuple[str, list[dict[str, Any]]]] = []
    for each in shown:
        group = each["group"]
        top = group.name if group.children and group.parent is None else ""
        if top or not branches or (group.parent is None and branches[-1][0]):
            branches.append((top, []))
        branches[-1][1].append(each)
    return branches


def _placed_by(context: AppContext, annotator: str) -> dict[int | None, list[int]]:
    """Rows that an annotator placed in each group, the newest first."""
    session = context.session
    placed: dict[int | None, list[int]] = {}
    for reply in reversed(session.history.answers(annotator=annotator)):
        if isinstance(reply.value, tuple):
            most = max(range(len(reply.value)), key=reply.value.__getitem__)
            if reply.value[most] > 0.5:
                row = session.question(reply.question).items[0]
                placed.setdefault(session.groups.find(most), []).append(row)
    return {group: list(dict.fromkeys(rows[:_PLACED])) for group, rows in placed.items()}


def _add_items(context: AppContext, form_at: AddForm) -> None:
    """Examples, answers about chosen items, and decisions about disagreements."""
    session = context.session

    @form_at("/pin")
    def pin(form: Form, who: str) -> str:
        row, is_on = form.integer("row"), not form.get("off")
        context.check_row(row)
        change = session.groups.pin if is_on else session.groups.unpin
        change(form.integer("group"), row, annotator=who)
        return f"{session.item(row).label} is {'an' if is_on else 'no longer a pinned'} example."

    @form_at("/review")
    def review(form: Form, who: str) -> str:
        row, value = form.integer("row"), form.value()
        context.check_row(row)
        return context.assignments.decide(row, who, value)

    @form_at("/adjudicate")
    def adjudicate(form: Form, who: str) -> str:
        is_back = form.get("value") == "back"
        value = None if is_back else form.value()
        session.people.adjudicate(form.integer("question"), value, annotator=who)
        return "Taken back." if is_back else "Decided."


def _add_settings(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """The owner's options, pause, budget and target."""
    settings = context.session.settings

    @form_at("/options")
    def set_options(form: Form, who: str) -> str:
        before = settings.options
        for name, kind in OPTIONS.items():
            if kind in (str, bool):  # others are not on this page
                text = (form.get(name) or "").strip().replace("\r\n", "\n")
                value = bool(text) if kind is bool else text
                if value != before[name]:
                    settings.set_option(name, value, annotator=who)
        return "Saved."

    @router.post("/pause")
    def pause(request: Request, form: SentForm) -> Response:
        context.check_form(form)
        is_off = bool(form.get("off"))
        change = settings.resume if is_off else settings.pause
        change(annotator=annotator_of(request) or ME)
        return RedirectResponse("/" if is_off else "/results", 303)

    @form_at("/budget", back="/")
    def set_budget(form: Form, who: str) -> str:
        number = form.integer("n")
        settings.set_budget(number, annotator=who)
        return f"The budget is {number} questions now."

    @form_at("/good-enough", back="/groups")
    def set_target(form: Form, who: str) -> str:
        """The share of wrong items to stop at; none where the field is empty."""
        percent = form.number("percent") if (form.get("percent") or "").strip() else 0.0
        if not 0.0 <= percent <= 100.0:
            raise HTTPException(422, "Type a number of percent from 0 to 100.")
        settings.set_option("good_enough", percent / 100.0, annotator=who)
        if not percent:
            return "Saved: by its own rule the session decides when it is good enough."
        return f"Saved: it is good enough with fewer than {percent:.3g} % in the wrong group."


def _add_invitations(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """The list of invitations, new ones, and revocation."""
    people = context.session.people

    def page(request: Request, link: str = "", name: str = "") -> Response:
        listed = [(each, *map(_at, (each.until, each.used))) for each in people.invites()[::-1]]
        return context.page(
            request, "invites.html", invites=listed, link=link, name=name, roles=ROLES,
            is_here=hostname(urlsplit(address_for(request)).netloc) in LOOPBACK,
        )  # fmt: skip

    def address_for(request: Request) -> str:
        """The address by which others reach the page: where it is served, not as one sees it."""
        served = recall(context.session)
        here = f"{str(request.base_url).rstrip('/')}{context.root}/"
        is_local = hostname(request.url.netloc) in LOOPBACK
        return served.address if served and is_local and request.state.secure else here

    @router.get("/invites")
    def invites(request: Request) -> Response:
        return page(request)

    @router.post("/invite")
    def invite(request: Request, form: SentForm) -> Response:
        """The link is in this response only: not in an address, a cookie or the database."""
        context.check_form(form)
        name, role, days = form.text("name"), form.text("role"), form.number("days")
        who = annotator_of(request) or ME
        text, status = context.attempt(
            lambda: people.invite(name, role=role, days=days, annotator=who)  # type: ignore[arg-type]  # it is checked
        )
        if status >= 400:
            return redirect("/invites", text, failed=True)
        return page(request, f"{address_for(request)}?token={text}", name)

    @form_at("/revoke", back="/invites")
    def revoke(form: Form, who: str) -> str:
        (ended,) = people.revoke(form.integer("number"), annotator=who)
        return f"{ended.name} cannot come in by this link any more."


def _at(seconds: float | None) -> datetime | None:
    """A time; None for never."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
