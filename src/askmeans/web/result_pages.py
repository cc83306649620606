"""The results, files to take away, and pictures."""

import re

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from askmeans._util.message import Message
from askmeans.web.context import AppContext
from askmeans.web.files import EXPORTS, MEDIA_TYPES, export, picture, stream
from askmeans.web.forms import annotator_of

RESULT_TIMEOUT = 5.0  # seconds a page waits for the newest result before it shows the last


def add_results(router: APIRouter, context: AppContext) -> None:
    """The result, files and pictures."""
    session = context.session
    can_decide = session.config.ask == "group"

    @router.get("/results")
    async def results(request: Request, stopped: bool = False) -> Response:
        view = await context.newest_result(RESULT_TIMEOUT)
        annotator, is_owner = annotator_of(request), context.is_owner(request)

        def page() -> Response:
            n_answers = None
            if stopped and annotator is not None:
                answers = session.history.answers(annotator=annotator)
                n_answers = sum(reply.kind != "skip" for reply in answers)
            return context.page(
                request, "results.html", result_view=view, n_answers=n_answers,
                trouble=context.result_views.trouble, exports=EXPORTS,
                can_decide=can_decide and is_owner,
                can_change=session.groups.can_change and is_owner,
            )  # fmt: skip

        return await context.in_background(page)

    @router.get("/results/part")
    async def part(request: Request) -> Response:
        view = await context.in_background(lambda: context.result_views.latest(0.0))
        if view is None:
            return Response(status_code=204)
        headers = {"etag": view.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == view.tag:
            return Response(status_code=304, headers=headers)
        return await context.in_background(
            lambda: context.page(
                request, "result.html", headers=headers, result_view=view,
                can_decide=can_decide and context.is_owner(request),
            )
        )  # fmt: skip

    @router.get("/export/{file}")
    async def exports(file: str) -> Response:
        if file not in EXPORTS:
            raise HTTPException(
                404, Message("There is no such file. The results list those there are.")
            )
        view = None if file == "answers.csv" else await context.result_to_export()

        def body() -> bytes:
            tag, result = str(session.history.last_event), None
            if view is not None:
                tag, result = view.tag, view.result
            return context.responses.get(file, tag, lambda: export(session, file, result))

        kind = MEDIA_TYPES[file.rpartition(".")[2]]
        name = re.sub(r"[^A-Za-z0-9._-]", "_", f"{session.name}.{file}")
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return stream(await context.in_background(body), kind, headers)

    @router.get("/image/{row}")
    def image(request: Request, row: int, small: bool = False) -> Response:
        context.check_shown(request, row)
        context.check_row(row)
        path = session.rows.image_file(row)
        if path is None:  # the same words whatever the reason: they reveal nothing of other files
            raise HTTPException(
                404, Message("Item {row} has no image in the session's folder.", row=str(row))
            )
        response = picture(context.thumbnails.small(path) if small else path)
        if request.headers.get("if-none-match") == response.headers["etag"]:
            names = ("etag", "cache-control", "vary")
            headers = {name: response.headers[name] for name in names}
            return Response(status_code=304, headers=headers)
        return response
