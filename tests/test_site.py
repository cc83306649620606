"""The documentation's site: it builds without a warning, and its links lead somewhere."""

import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from reference_pages import command_sections, commands, http_sections, openapi, public_modules

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found.get("id"), found.get("name") if tag == "a" else None}
        for name in ("href", "src"):
            target = found.get(name)
            if target and not target.startswith(("http:", "https:", "mailto:", "data:")):
                self.links.add(target)


@cache  # every page has the links of the sidebar
def linked_file(folder, link):
    """The file that a link leads to from a folder, None where there is none."""
    path = (folder / unquote(link.partition("?")[0])).resolve()
    return path if path.exists() else None


def build(out):
    """The site without its gallery, in a process of its own."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    return subprocess.run(
        [*command, str(ROOT / "docs"), str(out)],
        env=os.environ | {"GALLERY": "0"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.soak  # half a minute
def test_the_site_builds_without_warnings_and_its_links_lead_somewhere(tmp_path):
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = (path for path in tmp_path.rglob("*.html") if "_static" not in path.parts)
    pages = {path: Page(path) for path in found}
    for path, page in pages.items():
        for link in page.links:
            file, _, place = link.partition("#")
            target = linked_file(path.parent, file) if file else path
            assert target, f"{path.name}: {link}"
            if place and target in pages:
                assert unquote(place) in pages[target].places, f"{path.name}: {link}"
    for module, names in public_modules().items():
        for name in names:
            page = pages[tmp_path / "api" / f"{module}.{name}.html"]
            assert f"{module}.{name}" in page.places


def test_every_name_that_a_page_imports_is_in_the_reference():
    modules = public_modules()
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/tutorials").iterdir(),
    ]
    text = "".join(page.read_text() for page in pages)
    imports = re.findall(r"^(?:>>>|\.\.\.) +from (askmeans[\w.]*) import ([\w, ]+)", text, re.M)
    found = {(module, name.strip()) for module, names in imports for name in names.split(",")}
    assert ("askmeans", "ActiveFuzzyKMeans") in found
    for module, name in found:
        assert f"{module}.{name}" in modules or name in modules[module], f"{module}.{name}"


def test_every_command_and_option_is_in_the_reference_with_its_meaning():
    page = command_sections()
    assert {"demo", "fit", "init", "serve"} <= set(commands())
    for name, command in commands().items():
        section = page.partition(f"## `askmeans {name}")[2].partition("\n## ")[0]
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name} has no help"
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}" in section, f"{name} {option}"
    assert "`--version`" in page.partition("## `askmeans demo")[0]
    assert "<!-- commands -->" in (ROOT / "docs" / "command-line.md").read_text()


def test_every_path_of_the_http_interface_is_in_the_reference():
    page = http_sections()
    paths = openapi()["paths"]
    assert "/api/answers" in paths
    for path, methods in paths.items():
        for method in methods:
            assert f"## `{method.upper()} {path}`" in page
    assert "<!-- http -->" in (ROOT / "docs" / "http.md").read_text()
