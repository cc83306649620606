"""Owners invite people on the page, see who could come in, and end invitations."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from askmeans.exceptions import AskmeansError
from askmeans.sessions.invites import ROLES
from askmeans.web.context import AppContext
from askmeans.web.errors import tell
from askmeans.web.forms import SentForm, annotator_of
from askmeans.web.replies import check_mark, said_at

__all__ = ["add_inviting"]


def add_inviting(router: APIRouter, context: AppContext) -> None:
    """The page of invitations, for owners."""
    session = context.session

    def page(request: Request, link: str = "", whom: str = "") -> Response:
        found = [(one, _time(one.until), _time(one.used)) for one in session.invites()]
        return context.page(
            request, "invites.html", invites=found[::-1], link=link, whom=whom, roles=ROLES
        )

    @router.get("/invites")
    def invites(request: Request) -> Response:
        return page(request)

    @router.post("/invite")
    def invite(request: Request, form: SentForm) -> Response:
        """The link is in this reply only: not in an address, a cookie or the database."""
        check_mark(context, form)
        whom, role = form.text("name"), form.text("role")
        try:
            token = session.invite(
                whom, role=role, days=form.number("days"),  # type: ignore[arg-type]  # it is checked
                annotator=annotator_of(request) or "me",
            )  # fmt: skip
        except AskmeansError as error:
            return said_at("/invites", tell(error, session), failed=True)
        return page(request, f"{request.base_url}?token={token}", whom)

    @router.post("/revoke")
    def revoke(request: Request, form: SentForm) -> Response:
        check_mark(context, form)
        try:
            who = annotator_of(request) or "me"
            (ended,) = session.revoke(form.whole("number"), annotator=who)
        except AskmeansError as error:
            return said_at("/invites", tell(error, session), failed=True)
        return said_at("/invites", f"{ended.name} cannot come in by this link any more.")


def _time(at: float | None) -> str:
    """A time, to the minute."""
    return "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"
