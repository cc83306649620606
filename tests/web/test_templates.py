"""Templates: links that hold wherever a session is served."""

import re
from pathlib import Path

from askmeans.web.rendering import HOME_STYLES, STATIC, STYLES

TEMPLATES = sorted((Path(STATIC).parent / "templates").glob("*.html"))


def test_links_begin_with_the_path_under_which_the_session_is_served():
    bare = [
        (file.name, link)
        for file in TEMPLATES
        for link in re.findall(r'(?:href|src|action|formaction)="/[^"]*', file.read_text())
    ]
    assert not bare


def test_every_style_is_linked():
    assert {f"{name}.css" for name in (*STYLES, *HOME_STYLES)} == {
        file.name for file in STATIC.glob("*.css")
    }
