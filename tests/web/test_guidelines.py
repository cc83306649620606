"""Guidelines are Markdown, and can do nothing but be read."""

import pytest

from askmeans.web.rendering import as_html


def test_markdown_becomes_html_with_headings_below_the_pages():
    html = as_html("# Cats\n\n- *soft*\n- **furry**")
    assert "<h3>Cats</h3>" in html
    assert "<li><em>soft</em></li>" in html
    assert "<h1" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](https://example.org/a.png)",
        "[x](data:text/html;base64,AAAA)",
        "<a href='javascript:alert(1)'>x</a>",
        "`<b onclick=x>`",
    ],
)
def test_nothing_in_it_runs_or_loads(text):
    html = str(as_html(text))
    for wrong in ("<script", "<img", "<b ", 'href="javascript', 'href="data', "<a href='"):
        assert wrong not in html


def test_links_lead_out_without_telling_where_from():
    html = as_html("[more](https://example.org)")
    assert 'href="https://example.org"' in html
    assert 'rel="noopener noreferrer"' in html
