"""What owners do: decide items, set options, invite people; groups are in `group_pages`."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans._util.message import Message, Percent, plural_message
from askmeans.queries import ME
from askmeans.sessions.people import ROLES
from askmeans.sessions.served import recall
from askmeans.sessions.settings import OPTIONS
from askmeans.web.context import AppContext, redirect
from askmeans.web.forms import INCOMPLETE, Form, SentForm, annotator_of, is_script
from askmeans.web.group_pages import AddForm, Work, add_groups
from askmeans.web.guard import LOOPBACK, hostname
from askmeans.web.languages import NAMES

# Where a form may lead back to: pages of ours.
_PLACES = re.compile(r"/|/(groups|results|review|invites|items(/\d+|\?[\w=&%+.,-]*)?)", re.ASCII)


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
                history = context.session.history
                before = history.last_event
                text, status = context.attempt(lambda: work(form, annotator or ME))
                if is_script(request) and annotator is not None:
                    return context.go_on(request, annotator, text, status)
                last = history.changes()[-1:]
                can_undo = path != "/take-back" and last and last[0].event > before
                undo = ("event", str(last[0].event)) if can_undo else None
                return redirect(place, text, failed=status >= 400, undo=undo)

        return add

    add_groups(router, context, form_at)
    _add_items(router, context, form_at)
    _add_settings(router, context, form_at)
    _add_invitations(router, context, form_at)


def _add_items(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """Examples, answers about chosen items, and decisions about disagreements."""
    session = context.session

    @form_at("/pin")
    def pin(form: Form, who: str) -> str:
        row, is_on = form.integer("row"), not form.get("off")
        context.check_row(row)
        change = session.groups.pin if is_on else session.groups.unpin
        change(form.integer("group"), row, annotator=who)
        label = session.item(row).label
        if is_on:
            return Message("{item} is an example.", item=label)
        return Message("{item} is no longer a pinned example.", item=label)

    @router.post("/check")
    def check(request: Request, form: SentForm) -> Response:
        """The items to check become the owner's next cards."""
        context.check_form(form)
        view, who = context.result_views.glance(), annotator_of(request) or ME
        rows = view.to_check if view else ()

        def hand_out() -> str:
            session.leave(annotator=who)  # these come first
            for row in rows:
                session.add_question("group", (row,), annotator=who)
            return ""

        text, status = context.attempt(hand_out)
        if status >= 400 or not rows:
            return redirect(
                "/results", text or Message("There is nothing to check."), failed=status >= 400
            )
        return RedirectResponse(f"/?check={len(rows)}", 303)

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
        return Message("Taken back.") if is_back else Message("Decided.")


def _add_settings(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """The owner's options, pause, budget and target."""
    settings = context.session.settings

    @form_at("/options")
    def set_options(form: Form, who: str) -> str:
        before = settings.options
        for name, kind in OPTIONS.items():
            if kind in (str, bool) and name != "group_look":  # others are not in this form
                text = (form.get(name) or "").strip().replace("\r\n", "\n")
                value = bool(text) if kind is bool else text
                if name == "language" and value not in NAMES:
                    value = ""  # that of each browser
                if value != before[name]:
                    settings.set_option(name, value, annotator=who)
        return Message("Saved.")

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
        return plural_message(
            "The budget is {n} question now.", "The budget is {n} questions now.", number
        )

    @form_at("/good-enough", back="/groups")
    def set_target(form: Form, who: str) -> str:
        """The share of wrong items to stop at; none where the field is empty."""
        percent = form.number("percent") if (form.get("percent") or "").strip() else 0.0
        if not 0.0 <= percent <= 100.0:
            raise HTTPException(422, Message("Type a number of percent from 0 to 100."))
        settings.set_option("good_enough", percent / 100.0, annotator=who)
        if not percent:
            return Message("Saved: by its own rule the session decides when it is good enough.")
        return Message(
            "Saved: it is good enough with fewer than {share} in the wrong group.",
            share=Percent(percent / 100.0),
        )


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
        return Message("{name} cannot come in by this link any more.", name=ended.name)


def _at(seconds: float | None) -> datetime | None:
    """A time; None for never."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
