"""The pages: every form is sent and answered by a redirect; a script may ask for the part alone."""

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from askmeans.checks import check_name, whole_number
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.sessions import Receipt, Session
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.sessions.store import thumbnails_of
from askmeans.tables.thumbnails import thumbnail
from askmeans.web.answering import QuestionView
from askmeans.web.context import AppContext
from askmeans.web.errors import status_of, tell
from askmeans.web.explaining import explain_item, worked_example
from askmeans.web.exporting import EXPORTS, export, pieces
from askmeans.web.forms import LONGEST_NAME, Form, SentForm, annotator_of, remember
from askmeans.web.scale import points_of, say_fully, slider_step

__all__ = ["make_router"]

# An SVG that is opened by itself is a document: it may do nothing, and is in no origin.
_IMAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"
}
_WAIT = 5.0  # seconds a page waits for the newest result before it shows the last
_HISTORY = 200  # answers on one page
_FOUND = 50  # items that a search lists
_TOO_QUICK = "That came just after the question appeared, so nothing was saved. Please look again."

Number = Annotated[int | None, Query(ge=1, le=2**53)]


def make_router(context: AppContext) -> APIRouter:
    """The routes of one session's pages."""
    router = APIRouter(include_in_schema=False)
    _add_answering(router, context)
    _add_person(router, context)
    _add_picture(router, context)
    _add_tools(router, context)
    return router


def _add_answering(router: APIRouter, context: AppContext) -> None:
    """The question, answers and undo."""
    assignments = context.assignments

    @router.get("/")
    def answer_page(request: Request, question: Number = None) -> Response:
        annotator = annotator_of(request)
        if annotator is None:
            return RedirectResponse("/name", 303)
        view = assignments.view(annotator, question, by_script=_is_script(request))
        return _question_page(context, request, view)

    @router.post("/answer")
    def answer(request: Request, form: SentForm) -> Response:
        annotator = _seated(context, form)
        value = _value(form)
        by_script = _is_script(request)
        shown = form.get("shown")
        if not by_script and shown is not None and assignments.is_too_quick(form.number("shown")):
            return _go_on(context, request, annotator, _TOO_QUICK)
        give = assignments.change if form.get("change") else assignments.give
        try:
            text = give(form.whole("question"), annotator, form.text("key"), value)
        except AskmeansError as error:
            return _go_on(
                context, request, annotator, tell(error, context.session), status_of(error)
            )
        return _go_on(context, request, annotator, text)

    @router.post("/undo")
    def undo(request: Request, form: SentForm) -> Response:
        annotator = _seated(context, form)
        question = form.whole("question") if form.get("question") else None
        event = form.whole("event") if form.get("event") else None
        try:
            text = assignments.undo(annotator, form.text("key"), question, event)
        except AskmeansError as error:
            return _go_on(
                context, request, annotator, tell(error, context.session), status_of(error)
            )
        return _go_on(context, request, annotator, text)

    @router.post("/stop")
    def stop(form: SentForm) -> Response:
        context.session.leave(annotator=_seated(context, form))
        return RedirectResponse("/results", 303)

    @router.post("/renew")
    def renew(form: SentForm) -> Response:
        """A page is still open."""
        assignments.renew(_seated(context, form))
        return Response(status_code=204)

    @router.post("/leave")
    def leave(form: SentForm) -> Response:
        """A page was left: a beacon, whose reply nobody reads."""
        assignments.leave(_seated(context, form), form.text("key"))
        return Response(status_code=204)


def _add_person(router: APIRouter, context: AppContext) -> None:
    """Who answers, what they answered, and what answers mean."""
    assignments = context.assignments

    @router.get("/name")
    def name_page(request: Request) -> Response:
        people = list(context.session.status().annotators)
        return context.page(request, "name.html", people=people, longest=LONGEST_NAME)

    @router.post("/name")
    def name(form: SentForm) -> Response:
        told = check_name(form.text("name"), "name")
        if len(told) > LONGEST_NAME:
            raise HTTPException(422, f"A name must have at most {LONGEST_NAME} letters.")
        response = RedirectResponse("/", 303)
        remember(response, told)
        return response

    @router.get("/history")
    def history(request: Request) -> Response:
        annotator = annotator_of(request)
        if annotator is None:
            return RedirectResponse("/name", 303)
        receipts = context.session.history(annotator=annotator)
        rows = [
            {
                "receipt": receipt,
                "label": assignments.cards.label(context.session.question(receipt.question)),
                "said": _said(receipt, context.session),
            }
            for receipt in reversed(receipts[-_HISTORY:])
            if receipt.question is not None
        ]
        return context.page(request, "history.html", rows=rows, n=len(receipts), most=_HISTORY)

    @router.get("/help")
    def help_page(request: Request) -> Response:
        return context.page(
            request, "help.html", example=worked_example(assignments), **_scale(context)
        )


def _add_picture(router: APIRouter, context: AppContext) -> None:
    """The result, and why an item is where it is."""

    @router.get("/results")
    async def results(request: Request) -> Response:
        result_view = await context.newest_result(_WAIT)
        trouble = context.result_views.trouble
        return await context.aside(
            lambda: context.page(
                request,
                "results.html",
                result_view=result_view,
                trouble=trouble,
                exports=EXPORTS,
                can_group=context.session.can_regroup,
            )
        )

    @router.get("/results/part")
    async def part(request: Request) -> Response:
        result_view = await context.aside(lambda: context.result_views.latest(0.0))
        if result_view is None:
            return Response(status_code=204)
        headers = {"etag": result_view.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == result_view.tag:
            return Response(status_code=304, headers=headers)
        return await context.aside(
            lambda: context.page(request, "result.html", headers=headers, result_view=result_view)
        )

    @router.get("/items/{row}")
    async def item(request: Request, row: int) -> Response:
        _check_row(context, row)
        result_view = await context.newest_result(_WAIT)

        def page() -> Response:
            why = explain_item(context.session, row, result_view)
            return context.page(
                request, "item.html", item=context.assignments.cards.item(row), why=why
            )

        return await context.aside(page)

    @router.get("/find")
    def find(request: Request, q: str = "") -> Response:
        """The item of a name, or else of a row number, or else those with a part of it."""
        rows = context.session.rows
        ids = rows.ids()
        wanted = q.strip()
        if q in ids or wanted in ids:
            return RedirectResponse(f"/items/{ids.index(q if q in ids else wanted)}", 303)
        number = whole_number(wanted)
        if number is not None and number < len(ids):
            return RedirectResponse(f"/items/{number}", 303)
        found = rows.find(wanted) if wanted else []
        if not found:
            raise HTTPException(
                404, f"There is no item with {wanted[:80]!r} in its name or its text."
            )
        if len(found) == 1:
            return RedirectResponse(f"/items/{found[0]}", 303)
        items = [context.session.item(row) for row in found[:_FOUND]]
        return context.page(request, "found.html", wanted=wanted, items=items, count=len(found))


def _add_tools(router: APIRouter, context: AppContext) -> None:
    """What is done with a session: names, a pause, exports; and its images."""

    @router.post("/rename")
    def rename(request: Request, form: SentForm) -> Response:
        _check_mark(context, form)
        who = annotator_of(request) or "me"
        name = form.text("name")
        if len(name) > LONGEST_NAME:
            raise ParameterError(f"A name must have at most {LONGEST_NAME} letters.")
        context.session.rename(form.whole("cluster"), name, annotator=who)
        return RedirectResponse("/results", 303)

    @router.post("/groups")
    def add_group(request: Request, form: SentForm) -> Response:
        _check_mark(context, form)
        name = form.text("name")
        if len(name) > LONGEST_NAME:
            raise ParameterError(f"A name must have at most {LONGEST_NAME} letters.")
        context.session.add_group(name, annotator=annotator_of(request) or "me")
        return RedirectResponse("/results", 303)

    @router.post("/pause")
    def pause(request: Request, form: SentForm) -> Response:
        _check_mark(context, form)
        who = annotator_of(request) or "me"
        if form.get("off"):
            context.session.resume(annotator=who)
        else:
            context.session.pause(annotator=who)
        return RedirectResponse("/" if form.get("off") else "/results", 303)

    @router.post("/budget")
    def budget(request: Request, form: SentForm) -> Response:
        annotator = _seated(context, form)
        number = form.whole("n")
        context.session.set_budget(number, annotator=annotator)
        return _go_on(context, request, annotator, f"The budget is {number} questions now.")

    @router.get("/export/{file}")
    async def exports(file: str) -> Response:
        if file not in EXPORTS:
            raise HTTPException(404, f"There are {', '.join(EXPORTS)}. Got {file[:80]!r}.")

        def body() -> bytes:
            tag = str(context.session.last_event)
            return context.bodies.get(file, tag, lambda: export(context.session, file))

        made = await context.aside(body)
        kind = "application/json" if file.endswith(".json") else "text/csv; charset=utf-8"
        name = re.sub(r"[^A-Za-z0-9._-]", "_", f"{context.session.name}.{file}")
        headers = {
            "content-disposition": f'attachment; filename="{name}"',
            "content-length": str(len(made)),
        }
        return StreamingResponse(pieces(made), media_type=kind, headers=headers)

    @router.get("/image/{row}")
    def image(row: int, small: bool = False) -> Response:
        path = _image_of(context, row)
        if small:
            path = thumbnail(path, thumbnails_of(context.session.url))
        return FileResponse(
            path, media_type=IMAGE_TYPES[path.suffix.lower()], headers=_IMAGE_HEADERS
        )


def _image_of(context: AppContext, row: int) -> Path:
    """The file of an item's image, which lies in the session's folder."""
    _check_row(context, row)
    path = context.session.rows.image_file(row)
    if path is None:  # the same words whatever the reason: they tell nothing about other files
        raise HTTPException(404, f"Item {row} has no image in the session's folder.")
    return path


def _check_row(context: AppContext, row: int) -> None:
    """Refuse what is no item."""
    if not 0 <= row < len(context.session.rows):
        raise HTTPException(404, f"There is no item {row}.")


def _check_mark(context: AppContext, form: Form) -> None:
    """Refuse a form of another session, which may have had this address before."""
    if form.text("session") != context.assignments.mark:
        raise HTTPException(409, "This form is of another session. Reload the page.")


def _seated(context: AppContext, form: Form) -> str:
    """Who sent a form, which must be of this session."""
    _check_mark(context, form)
    return form.text("annotator")


def _value(form: Form) -> Any:
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


def _said(receipt: Receipt, session: Session) -> str:
    """What somebody answered, as the history tells it."""
    if receipt.kind == "skip":
        return "skipped"
    return say_fully(receipt.value, session.config.ask, session.group_names)


def _is_script(request: Request) -> bool:
    """Whether our script sent it, and wants the part that changes."""
    return request.headers.get("x-askmeans") == "part"


def _go_on(
    context: AppContext, request: Request, annotator: str, text: str, status: int = 200
) -> Response:
    """After a move: the next question, as a page or as the part that changes."""
    if _is_script(request):
        view = context.assignments.view(annotator, by_script=True)
        return _question_page(
            context, request, view, said=text, failed=status >= 400, status=status
        )
    response = RedirectResponse("/", 303)
    mark = "!" if status >= 400 else ""
    response.set_cookie(
        "askmeans_said", quote(mark + text[:500]), max_age=30, httponly=True, samesite="lax"
    )
    return response


def _question_page(
    context: AppContext, request: Request, view: QuestionView, *, said: str = "",
    failed: bool = False, status: int = 200,
) -> Response:  # fmt: skip
    """The answering page, or its changing part."""
    template = "question.html" if _is_script(request) else "answer.html"
    shown = context.result_views.glance()
    told: dict[str, Any] = {"said": said, "failed": failed} if said else {}  # else the cookie's
    return context.page(
        request,
        template,
        status_code=status,
        view=view,
        result_view=shown,
        **told,
        **_scale(context),
    )


def _scale(context: AppContext) -> dict[str, Any]:
    """The answers' scale."""
    config = context.session.config
    return {
        "points": [] if config.ask == "group" else points_of(config.ask, config.levels),
        "step": slider_step(config.levels),
        "ask": config.ask,
    }
