"""What the pages have in common: who sent a form, what it says, and the page that comes next."""

from typing import Any
from urllib.parse import quote

from fastapi import HTTPException, Request
from starlette.responses import RedirectResponse, Response

from askmeans.exceptions import ParameterError
from askmeans.web.answering import QuestionView
from askmeans.web.context import AppContext
from askmeans.web.forms import LONGEST_NAME, Form
from askmeans.web.scale import points_of, slider_step

__all__ = ["annotator_in", "check_mark", "check_row", "go_on", "group_name", "is_script",
           "question_page", "said_at", "scale_of", "value_of"]  # fmt: skip


def check_mark(context: AppContext, form: Form) -> None:
    """Refuse a form of another session, which may have had this address before."""
    if form.text("session") != context.assignments.mark:
        raise HTTPException(409, "This form is of another session. Reload the page.")


def check_row(context: AppContext, row: int) -> None:
    """Refuse what is no item."""
    if not 0 <= row < len(context.session.rows):
        raise HTTPException(404, f"There is no item {row}.")


def annotator_in(context: AppContext, form: Form) -> str:
    """Who sent a form, which must be of this session, and drawn up for the same person."""
    check_mark(context, form)
    if form.sender is None or form.get("annotator") not in (None, form.sender):
        raise HTTPException(409, "This form is of somebody else's page. Reload the page.")
    return form.sender


def group_name(form: Form) -> str:
    """A group's name, not too long for its button."""
    name = form.text("name")
    if len(name) > LONGEST_NAME:
        raise ParameterError(f"A name must have at most {LONGEST_NAME} letters.")
    return name


def value_of(form: Form) -> Any:
    """What was pressed: a point, the slider's button, a group, cannot say or skip."""
    told = form.text("value")
    if told in ("unsure", "skip"):
        return told
    if told == "none":
        return ()
    if told.startswith("group-"):
        return Form({"group": told.removeprefix("group-")}).whole("group")
    if told == "shares":
        return form.shares()
    return form.number("fine") if told == "fine" else form.number("value")


def is_script(request: Request) -> bool:
    """Whether our script sent it, and wants the part that changes."""
    return request.headers.get("x-askmeans") == "part"


def go_on(
    context: AppContext, request: Request, annotator: str, text: str, status: int = 200
) -> Response:
    """After a move: the next question, as a page or as the part that changes."""
    if is_script(request):
        view = context.assignments.view(annotator, by_script=True)
        return question_page(context, request, view, said=text, failed=status >= 400, status=status)
    return said_at("/", text, failed=status >= 400)


def question_page(
    context: AppContext, request: Request, view: QuestionView, *, said: str = "",
    failed: bool = False, status: int = 200,
) -> Response:  # fmt: skip
    """The answering page, or its changing part."""
    context.ahead.look(view.annotator)
    template = "question.html" if is_script(request) else "answer.html"
    shown = context.result_views.glance()
    told: dict[str, Any] = {"said": said, "failed": failed} if said else {}  # else the cookie's
    return context.page(
        request,
        template,
        status_code=status,
        view=view,
        result_view=shown,
        options=context.session.options,
        **told,
        **scale_of(context),
    )


def scale_of(context: AppContext) -> dict[str, Any]:
    """The answers' scale."""
    config = context.session.config
    return {
        "points": [] if config.ask == "group" else points_of(config.ask, config.levels),
        "step": slider_step(config.levels),
        "ask": config.ask,
    }


def said_at(path: str, text: str, *, failed: bool = False) -> Response:
    """Lead to a page that says a sentence."""
    response = RedirectResponse(path, 303)
    mark = "!" if failed else ""
    response.set_cookie(
        "askmeans_said", quote(mark + text[:500]), max_age=30, httponly=True, samesite="lax"
    )
    return response
