"""How templates become HTML: the environment, its filters, and translations of its sentences."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from askmeans.results import rounded
from askmeans.web import languages
from askmeans.web.languages import current, localize
from askmeans.web.scale import describe, describe_fully
from askmeans.web.words import words_of

_DEEPEST = 6  # of HTML's headings
STATIC = Path(__file__).parent / "static"
STYLES = ("theme", "base", "frame", "forms", "progress", "item", "answer", "choices", "groups",
          "results", "items", "lists")  # of a page, in the order of the cascade  # fmt: skip
HOME_STYLES = (*STYLES[:4], "projects")  # of the pages about projects
_markdown = MarkdownIt("commonmark", {"html": False}).disable("image")


def as_html(text: str) -> Markup:
    """Markdown as safe HTML: no tags of its own, no images, headings below ours."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_DEEPEST, int(token.tag[1]) + 2)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return Markup(f'<div dir="auto">\n{html}</div>')


def _gettext(text: str, /, **values: Any) -> Markup:
    """A sentence of a template in the current language."""
    if not values:
        return _constant(current().code, text)
    return _filled(current().catalogue.gettext(text), values)


@functools.cache  # most sentences have no values
def _constant(code: str, text: str) -> Markup:
    """A sentence without values."""
    return _filled(languages.language(code).catalogue.gettext(text), {})


def _ngettext(one: str, several: str, n: int, /, **values: Any) -> Markup:
    """A sentence of a template whose words depend on a number."""
    return _filled(current().catalogue.ngettext(one, several, n), values)


def _pgettext(context: str, text: str, /, **values: Any) -> Markup:
    """A sentence or word that needs a context to be translated."""
    return _filled(current().catalogue.pgettext(context, text), values)


@functools.cache
def _words(code: str) -> Markup:
    """The sentences of the scripts."""
    return words_of(languages.language(code))


def _filled(template: str, values: Mapping[str, Any]) -> Markup:
    """A sentence with its values: escaped, and whole numbers with separators of thousands."""
    shown = {
        name: escape(languages.number(value) if type(value) is int else localize(value))
        for name, value in values.items()
    }
    return Markup(template % shown)  # the catalogues are ours


templates = Environment(  # compiled once, however many sessions and languages are served
    loader=PackageLoader("askmeans.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=localize,
    extensions=["jinja2.ext.i18n"],
)
templates.newstyle_gettext = True  # type: ignore[attr-defined]  # of the extension
templates.policies["ext.i18n.trimmed"] = True
# Unless a page overrides them.
templates.globals |= {"is_owner": False, "sees_results": False, "layout": "base.html",
                      "root": "", "home": "", "styles": STYLES, "here": "",
                      "_": _gettext, "gettext": _gettext, "ngettext": _ngettext,
                      "pgettext": _pgettext, "self_link": "/", "language": current,
                      "words": lambda: _words(current().code),
                      "languages": languages.NAMES}  # fmt: skip
templates.filters |= {"describe": describe, "describe_fully": describe_fully,
                      "markdown": as_html, "about": languages.about, "date": languages.date,
                      "decimal": languages.decimal, "number": languages.number,
                      "percent": languages.percent, "rounded": rounded,
                      "precise_percent": languages.precise_percent}  # fmt: skip
