"""The page's card as a document of its own: its templates, style and script, without a server.

The script's requests come to `reply`; pictures are in the document, as data.
"""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fastapi import HTTPException

from askmeans._util.message import Message
from askmeans.exceptions import AskmeansError
from askmeans.results import expected_wrong_text
from askmeans.sessions import Session
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.tables.pictures import thumbnail
from askmeans.web.answering import Assignments
from askmeans.web.drawing import Plane, scatter
from askmeans.web.errors import explain, status_of
from askmeans.web.forms import Form
from askmeans.web.group_views import result_colors
from askmeans.web.languages import language, speaking
from askmeans.web.rendering import STATIC, STYLES, templates
from askmeans.web.scale import scale_of

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import (\{.*\}) from "./(\w+\.js)";', re.MULTILINE)
_IMAGE = re.compile(r'"/image/(\d+)(?:\?small=true)?"')


class CardDocument:
    """The card of one annotator, and the replies to its script."""

    def __init__(self, session: Session, annotator: str, folder: str, code: str = "en") -> None:
        self.session = session
        self.language = code
        self.annotator = annotator
        self._folder = Path(folder)  # of thumbnails
        self._assignments = Assignments(session, settle_seconds=0.0)

    def html(self) -> str:
        """The whole document, with the next question."""
        return self._render(
            "answer.html",
            layout=templates.from_string((_HERE / "frame.html").read_text()),
            style="".join((STATIC / f"{name}.css").read_text() for name in STYLES)
            + (_HERE / "frame.css").read_text(),
            bridge=(_HERE / "frame.js").read_text(),
            script=_module("page.js"),
        )

    def reply(self, path: str, body: str = "") -> tuple[str, int]:
        """The server's reply to a request of the page's script: the next card, or a sentence."""
        form = Form(dict(parse_qsl(body, keep_blank_values=True)))
        status = 200
        try:
            message = self._act(path, form)
        except HTTPException as error:
            message, status = error.detail, error.status_code
        except AskmeansError as error:
            message, status = explain(error), status_of(error)
        return self._render("question.html", said=message, failed=status >= 400), status

    def explain(self, error: AskmeansError) -> str:
        """An error in a sentence."""
        return language(self.language).translate(explain(error))

    def _act(self, path: str, form: Form) -> str:
        """Handle a form; return a sentence about its effect."""
        if path not in ("/answer", "/undo", "/rename"):  # a look for something new
            return ""
        if form.text("session") != self._assignments.mark:
            raise HTTPException(
                409, Message("This card shows another session. Run the cell again.")
            )
        if path == "/rename":
            name = form.group_name()
            self.session.groups.rename(form.integer("cluster"), name, annotator=self.annotator)
            return Message("The group is called {name} now.", name=name)
        key = form.text("key")
        if path == "/undo":
            return self._assignments.undo(self.annotator, key, None, None)
        question = form.integer("question")
        if form.get("value") == "new":
            name = form.group_name()
            return self._assignments.into_new_group(question, self.annotator, key, name)
        return self._assignments.give(question, self.annotator, key, form.value())

    def _render(self, name: str, **values: Any) -> str:
        """A template of the page with the next question."""
        with self.session.reading_once(), speaking(self.language):
            html = templates.get_template(name).render(
                session=self.session, view=self._assignments.view(self.annotator),
                options=self.session.settings.options, mark=self._assignments.mark, token="",
                is_owner=True, result_view=None,
                **{"said": "", "failed": False, **scale_of(self.session), **values},
            )  # fmt: skip
        return _IMAGE.sub(lambda match: f'"{self._data_url(int(match[1]))}"', html)

    def _data_url(self, row: int) -> str:
        """The thumbnail of an item's picture, as a URL."""
        path = self.session.rows.image_file(row)
        if path is None:
            return "data:,"
        small = thumbnail(path, self._folder)
        kind = IMAGE_TYPES[small.suffix.lower()]
        return f"data:{kind};base64,{base64.b64encode(small.read_bytes()).decode()}"

    def result_so_far(self) -> str:
        """The page's scatter, the share of every group, how many items are wrong."""
        session, result = self.session, self.session.result()
        names, n_items = result.group_names, len(result.memberships)
        plane = Plane(session.rows.matrix[:n_items])
        items = [replace(session.item(row), image=None) for row in plane.rows]
        colors = result_colors(session, result)
        drawing = scatter(
            plane, result.memberships, items, names=names, centers=result.clustering.centers,
            hues=colors,
        )  # fmt: skip
        wrong: str | None = None if result.n_queries else Message("No answers yet.")
        if result.expected_wrong is not None:
            wrong = expected_wrong_text(result.expected_wrong, n_items, result.expected_wrong_band)
        shares = result.memberships.mean(axis=0).tolist()
        groups = list(zip(names, colors, shares, strict=True))
        with speaking(self.language):
            return templates.from_string(_RESULT).render(
                drawing=drawing, wrong=wrong, groups=groups
            )


_RESULT = """{% from "macros.html" import swatch %}
{{ drawing | safe }}
<ul>{% for name, color, share in groups %}
<li>{{ swatch(color) }} <bdi>{{ name }}</bdi> {{ share | percent }}</li>{% endfor %}</ul>
{% if wrong %}<p class="counts">{{ wrong }}</p>{% endif %}
"""


def _module(name: str) -> str:
    """A script of the page as one module: each import becomes a function."""

    def inlined(match: re.Match[str]) -> str:
        return f"const {match[1]} = (() => {{\n{_module(match[2])}\nreturn {match[1]};\n}})();"

    return _IMPORT.sub(inlined, (STATIC / name).read_text().replace("export ", ""))
