"""Guidelines of the owner: Markdown as HTML that can do nothing."""

from markdown_it import MarkdownIt
from markupsafe import Markup

__all__ = ["as_html"]

_DEEPEST = 6
_markdown = MarkdownIt("commonmark", {"html": False}).disable("image")


def as_html(text: str) -> Markup:
    """Markdown as HTML: without tags of its own, without images, its headings below the page's."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_DEEPEST, int(token.tag[1]) + 2)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")
    return Markup(_markdown.renderer.render(tokens, _markdown.options, {}))
