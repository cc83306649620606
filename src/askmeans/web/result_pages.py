"""The results, why an item is where it is, one-click reviews, exports and images."""

import re

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from askmeans._util.checks import parse_digits
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.sessions.store import thumbnails_of
from askmeans.tables.pictures import thumbnail
from askmeans.web.context import AppContext
from askmeans.web.explaining import explain_item
from askmeans.web.exporting import EXPORTS, export, pieces
from askmeans.web.forms import annotator_of

__all__ = ["add_files", "add_results"]

# An SVG that is opened by itself is a document: it may do nothing, and is in no origin. A browser
# keeps a picture for a while, for whoever is signed in: the same examples are on every card.
_IMAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cache-control": "private, max-age=600",
    "vary": "cookie",
}
_WAIT = 5.0  # seconds a page waits for the newest result before it shows the last
_FOUND = 50  # items that a search lists


def add_results(router: APIRouter, context: AppContext) -> None:
    """The result, and why an item is where it is."""
    session = context.session
    can_decide = session.config.ask == "group"

    @router.get("/results")
    async def results(request: Request, stopped: bool = False) -> Response:
        result_view = await context.newest_result(_WAIT)
        annotator = annotator_of(request)

        def page() -> Response:
            thanks = None
            if stopped and annotator is not None:
                told = session.history.answers(annotator=annotator)
                thanks = sum(receipt.kind != "skip" for receipt in told)
            return context.page(
                request, "results.html", result_view=result_view, thanks=thanks,
                trouble=context.result_views.trouble, exports=EXPORTS,
                can_decide=can_decide and context.is_owner(request),
                can_group=session.groups.can_change and context.is_owner(request),
            )  # fmt: skip

        return await context.aside(page)

    @router.get("/results/part")
    async def part(request: Request) -> Response:
        result_view = await context.aside(lambda: context.result_views.latest(0.0))
        if result_view is None:
            return Response(status_code=204)
        headers = {"etag": result_view.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == result_view.tag:
            return Response(status_code=304, headers=headers)
        return await context.aside(
            lambda: context.page(
                request, "result.html", headers=headers, result_view=result_view,
                can_decide=can_decide and context.is_owner(request),
            )
        )  # fmt: skip

    @router.get("/items/{row}")
    async def item(request: Request, row: int) -> Response:
        context.check_row(row)
        result_view = await context.newest_result(_WAIT)

        def page() -> Response:
            whose = None if context.is_owner(request) else annotator_of(request)
            why = explain_item(context.session, row, result_view, whose=whose)
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
        number = parse_digits(wanted)
        if number is not None and number < len(ids):
            return RedirectResponse(f"/items/{number}", 303)
        found = rows.find(wanted) if wanted else []
        if not found:
            raise HTTPException(
                404, f"No item has “{wanted[:80]}” in its name or its text. Try a part of it."
            )
        if len(found) == 1:
            return RedirectResponse(f"/items/{found[0]}", 303)
        items = [context.session.item(row) for row in found[:_FOUND]]
        return context.page(request, "found.html", wanted=wanted, items=items, count=len(found))


def add_files(router: APIRouter, context: AppContext) -> None:
    """What is taken away, and the session's images."""

    @router.get("/export/{file}")
    async def exports(file: str) -> Response:
        if file not in EXPORTS:
            raise HTTPException(404, "There is no such file. The results list those there are.")

        result_view = None if file == "answers.csv" else await context.result_to_export()

        def body() -> bytes:
            tag = (
                str(context.session.history.last_event) if result_view is None else result_view.tag
            )
            result = None if result_view is None else result_view.result
            return context.bodies.get(file, tag, lambda: export(context.session, file, result))

        made = await context.aside(body)
        kind = "application/json" if file.endswith(".json") else "text/csv; charset=utf-8"
        name = re.sub(r"[^A-Za-z0-9._-]", "_", f"{context.session.name}.{file}")
        headers = {
            "content-disposition": f'attachment; filename="{name}"',
            "content-length": str(len(made)),
        }
        return StreamingResponse(pieces(made), media_type=kind, headers=headers)

    @router.get("/image/{row}")
    def image(request: Request, row: int, small: bool = False) -> Response:
        context.check_shown(request, row)
        context.check_row(row)
        path = context.session.rows.image_file(row)
        if path is None:  # the same words whatever the reason: they tell nothing of other files
            raise HTTPException(404, f"Item {row} has no image in the session's folder.")
        if small:
            path = thumbnail(path, thumbnails_of(context.session.url))
        found = FileResponse(
            path, media_type=IMAGE_TYPES[path.suffix.lower()], headers=_IMAGE_HEADERS,
            stat_result=path.stat(),
        )  # fmt: skip
        if request.headers.get("if-none-match") == found.headers["etag"]:
            kept = ("etag", "cache-control", "vary")
            return Response(status_code=304, headers={name: found.headers[name] for name in kept})
        return found
