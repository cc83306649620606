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
from askmeans.sessions.store import file_of
from askmeans.tables.thumbnails import thumbnail
from askmeans.web.answering import Sheet
from askmeans.web.errors import status_of, tell
from askmeans.web.explaining import explain_item, worked_example
from askmeans.web.exporting import EXPORTS, export, pieces
from askmeans.web.forms import LONGEST_NAME, Form, SentForm, annotator_of, remember
from askmeans.web.house import House
from askmeans.web.scale import points_of, say_fully, slider_step

__all__ = ["make_router"]

# An SVG that is opened by itself is a document: it may do nothing, and is in no origin.
_IMAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"
}
_WAIT = 5.0  # seconds a page waits for the newest picture before it shows the last
_HISTORY = 200  # answers on one page
_FOUND = 50  # items that a search lists
_TOO_QUICK = "That came just after the question appeared, so nothing was saved. Please look again."

Number = Annotated[int | None, Query(ge=1, le=2**53)]


def make_router(house: House) -> APIRouter:
    """The routes of one session's pages."""
    router = APIRouter(include_in_schema=False)
    _add_answering(router, house)
    _add_person(router, house)
    _add_picture(router, house)
    _add_tools(router, house)
    return router


def _add_answering(router: APIRouter, house: House) -> None:
    """The question, answers and undo."""
    desk = house.desk

    @router.get("/")
    def answer_page(request: Request, question: Number = None) -> Response:
        annotator = annotator_of(request)
        if annotator is None:
            return RedirectResponse("/name", 303)
        sheet = desk.sheet(annotator, question, by_script=_is_script(request))
        return _sheet(house, request, sheet)

    @router.post("/answer")
    def answer(request: Request, form: SentForm) -> Response:
        annotator = _seated(house, form)
        value = _value(form)
        by_script = _is_script(request)
        shown = form.get("shown")
        if not by_script and shown is not None and desk.is_too_quick(form.number("shown")):
            return _go_on(house, request, annotator, _TOO_QUICK)
        give = desk.change if form.get("change") else desk.give
        try:
            text = give(form.whole("question"), annotator, form.text("key"), value)
        except AskmeansError as error:
            return _go_on(house, request, annotator, tell(error, house.session), status_of(error))
        return _go_on(house, request, annotator, text)

    @router.post("/undo")
    def undo(request: Request, form: SentForm) -> Response:
        annotator = _seated(house, form)
        question = form.whole("question") if form.get("question") else None
        event = form.whole("event") if form.get("event") else None
        try:
            text = desk.undo(annotator, form.text("key"), question, event)
        except AskmeansError as error:
            return _go_on(house, request, annotator, tell(error, house.session), status_of(error))
        return _go_on(house, request, annotator, text)

    @router.post("/stop")
    def stop(form: SentForm) -> Response:
        house.session.leave(annotator=_seated(house, form))
        return RedirectResponse("/results", 303)

    @router.post("/renew")
    def renew(form: SentForm) -> Response:
        """A page is still open."""
        desk.renew(_seated(house, form))
        return Response(status_code=204)

    @router.post("/leave")
    def leave(form: SentForm) -> Response:
        """A page was left: a beacon, whose reply nobody reads."""
        desk.leave(_seated(house, form), form.text("key"))
        return Response(status_code=204)


def _add_person(router: APIRouter, house: House) -> None:
    """Who answers, what they answered, and what answers mean."""
    desk = house.desk

    @router.get("/name")
    def name_page(request: Request) -> Response:
        people = list(house.session.status().annotators)
        return house.page(request, "name.html", people=people, longest=LONGEST_NAME)

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
        receipts = house.session.history(annotator=annotator)
        rows = [
            {
                "receipt": receipt,
                "label": desk.cards.label(house.session.question(receipt.question)),
                "said": _said(receipt, house.session),
            }
            for receipt in reversed(receipts[-_HISTORY:])
            if receipt.question is not None
        ]
        return house.page(request, "history.html", rows=rows, n=len(receipts), most=_HISTORY)

    @router.get("/help")
    def help_page(request: Request) -> Response:
        return house.page(request, "help.html", example=worked_example(desk), **_scale(house))


def _add_picture(router: APIRouter, house: House) -> None:
    """The result, and why an item is where it is."""

    @router.get("/results")
    async def results(request: Request) -> Response:
        picture = await house.newest_picture(_WAIT)
        trouble = house.pictures.trouble
        return await house.aside(
            lambda: house.page(
                request,
                "results.html",
                picture=picture,
                trouble=trouble,
                exports=EXPORTS,
                can_group=house.session.can_regroup,
            )
        )

    @router.get("/results/part")
    async def part(request: Request) -> Response:
        picture = await house.aside(lambda: house.pictures.latest(0.0))
        if picture is None:
            return Response(status_code=204)
        headers = {"etag": picture.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == picture.tag:
            return Response(status_code=304, headers=headers)
        return await house.aside(
            lambda: house.page(request, "picture.html", headers=headers, picture=picture)
        )

    @router.get("/items/{row}")
    async def item(request: Request, row: int) -> Response:
        _check_row(house, row)
        picture = await house.newest_picture(_WAIT)

        def page() -> Response:
            why = explain_item(house.session, row, picture)
            return house.page(request, "item.html", item=house.desk.cards.item(row), why=why)

        return await house.aside(page)

    @router.get("/find")
    def find(request: Request, q: str = "") -> Response:
        """The item of a name, or else of a row number, or else those with a part of it."""
        rows = house.session.rows
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
        items = [house.session.item(row) for row in found[:_FOUND]]
        return house.page(request, "found.html", wanted=wanted, items=items, count=len(found))


def _add_tools(router: APIRouter, house: House) -> None:
    """What is done with a session: names, a pause, exports; and its images."""

    @router.post("/rename")
    def rename(request: Request, form: SentForm) -> Response:
        _check_mark(house, form)
        who = annotator_of(request) or "me"
        name = form.text("name")
        if len(name) > LONGEST_NAME:
            raise ParameterError(f"A name must have at most {LONGEST_NAME} letters.")
        house.session.rename(form.whole("cluster"), name, annotator=who)
        return RedirectResponse("/results", 303)

    @router.post("/groups")
    def add_group(request: Request, form: SentForm) -> Response:
        _check_mark(house, form)
        name = form.text("name")
        if len(name) > LONGEST_NAME:
            raise ParameterError(f"A name must have at most {LONGEST_NAME} letters.")
        house.session.add_group(name, annotator=annotator_of(request) or "me")
        return RedirectResponse("/results", 303)

    @router.post("/pause")
    def pause(request: Request, form: SentForm) -> Response:
        _check_mark(house, form)
        who = annotator_of(request) or "me"
        if form.get("off"):
            house.session.resume(annotator=who)
        else:
            house.session.pause(annotator=who)
        return RedirectResponse("/" if form.get("off") else "/results", 303)

    @router.post("/budget")
    def budget(request: Request, form: SentForm) -> Response:
        annotator = _seated(house, form)
        number = form.whole("n")
        house.session.set_budget(number, annotator=annotator)
        return _go_on(house, request, annotator, f"The budget is {number} questions now.")

    @router.get("/export/{file}")
    async def exports(file: str) -> Response:
        if file not in EXPORTS:
            raise HTTPException(404, f"There are {', '.join(EXPORTS)}. Got {file[:80]!r}.")

        def body() -> bytes:
            tag = str(house.session.last_event)
            return house.bodies.get(file, tag, lambda: export(house.session, file))

        made = await house.aside(body)
        kind = "application/json" if file.endswith(".json") else "text/csv; charset=utf-8"
        name = re.sub(r"[^A-Za-z0-9._-]", "_", f"{house.session.name}.{file}")
        headers = {
            "content-disposition": f'attachment; filename="{name}"',
            "content-length": str(len(made)),
        }
        return StreamingResponse(pieces(made), media_type=kind, headers=headers)

    @router.get("/image/{row}")
    def image(row: int, small: bool = False) -> Response:
        path = _image_of(house, row)
        if small:
            path = thumbnail(path, Path(f"{file_of(house.session.url)}.thumbnails"))
        return FileResponse(
            path, media_type=IMAGE_TYPES[path.suffix.lower()], headers=_IMAGE_HEADERS
        )


def _image_of(house: House, row: int) -> Path:
    """The file of an item's image, which lies in the session's folder."""
    _check_row(house, row)
    path = house.session.rows.image_file(row)
    if path is None:  # the same words whatever the reason: they tell nothing about other files
        raise HTTPException(404, f"Item {row} has no image in the session's folder.")
    return path


def _check_row(house: House, row: int) -> None:
    """Refuse what is no item."""
    if not 0 <= row < len(house.session.rows):
        raise HTTPException(404, f"There is no item {row}.")


def _check_mark(house: House, form: Form) -> None:
    """Refuse a form of another session, which may have had this address before."""
    if form.text("session") != house.desk.mark:
        raise HTTPException(409, "This form is of another session. Reload the page.")


def _seated(house: House, form: Form) -> str:
    """Who sent a form, which must be of this session."""
    _check_mark(house, form)
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
    house: House, request: Request, annotator: str, text: str, status: int = 200
) -> Response:
    """After a move: the next question, as a page or as the part that changes."""
    if _is_script(request):
        sheet = house.desk.sheet(annotator, by_script=True)
        return _sheet(house, request, sheet, said=text, failed=status >= 400, status=status)
    response = RedirectResponse("/", 303)
    mark = "!" if status >= 400 else ""
    response.set_cookie(
        "askmeans_said", quote(mark + text[:500]), max_age=30, httponly=True, samesite="lax"
    )
    return response


def _sheet(
    house: House, request: Request, sheet: Sheet, *, said: str = "", failed: bool = False,
    status: int = 200,
) -> Response:  # fmt: skip
    """The answering page, or its changing part."""
    template = "desk.html" if _is_script(request) else "answer.html"
    shown = house.pictures.glance()
    told: dict[str, Any] = {"said": said, "failed": failed} if said else {}  # else the cookie's
    return house.page(
        request, template, status_code=status, sheet=sheet, picture=shown, **told, **_scale(house)
    )


def _scale(house: House) -> dict[str, Any]:
    """The answers' scale."""
    config = house.session.config
    return {
        "points": [] if config.ask == "group" else points_of(config.ask, config.levels),
        "step": slider_step(config.levels),
        "ask": config.ask,
    }
