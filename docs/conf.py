"""The documentation's site, as Sphinx builds it: `make docs`."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE.parent / "src")]

import askmeans  # noqa: E402
import reference_pages  # noqa: E402 - tools are no package

project = "askmeans"
author = "The askmeans developers"
release = askmeans.__version__
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
exclude_patterns = ["_build"]
default_role = "py:obj"  # `name` in a docstring links where it can

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = False  # `tools/reference_pages.py` writes the pages
autodoc_typehints = "none"  # numpydoc's sections have them
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
maximum_signature_line_length = 80

html_theme = "pydata_sphinx_theme"
html_title = "askmeans"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"start": [], "glossary": []}  # there are no pages below them
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
copyright = "the askmeans developers, BSD-3-Clause"  # noqa: A001 - Sphinx wants this name

# The gallery runs its examples, so it is left out of the quick build that `make test` does.
WITH_GALLERY = os.environ.get("GALLERY", "0") != "0"
if WITH_GALLERY:
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": "../examples",
        "gallery_dirs": "gallery",
        "filename_pattern": r"/plot_",
        "within_subsection_order": "FileNameSortKey",
        "download_all_examples": False,
        "remove_config_comments": True,
        "show_memory": False,
        "abort_on_example_error": True,
    }
else:
    exclude_patterns += ["gallery", "sg_execution_times.rst"]  # those of another build

# Marks in a page where what the code tells comes in; `<!-- example NAME -->` is a picture of the
# gallery's.
GENERATED: dict[str, Callable[[], str]] = {
    "<!-- gallery -->\n": lambda: "gallery/index\n" if WITH_GALLERY else "",
    "<!-- commands -->": reference_pages.command_sections,
    "<!-- http -->": reference_pages.http_sections,
}


def write_api(_: Any) -> None:
    """Write the pages of public names, and leave those that have not changed."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    pages = reference_pages.api_pages()
    for old in {path.name for path in folder.iterdir()} - set(pages):
        (folder / old).unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def fill_marks(_: Any, __: str, source: list[str]) -> None:
    """Put generated sections where a page has a mark for them."""
    for mark, sections in GENERATED.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, sections())
    source[0] = re.sub(r"<!-- example (\w+) ?(\d*) -->", shown_example, source[0])


def shown_example(found: "re.Match[str]") -> str:
    """A picture of an example, the first or the one numbered; nothing without the gallery."""
    name, number = found[1], int(found[2] or 1)
    title = (HERE.parent / "examples" / f"{name}.py").read_text().splitlines()[1]
    lines = [
        f"```{{figure}} /gallery/images/sphx_glr_{name}_{number:03}.png",
        f":alt: {title}",
        ":width: 620px",
        "",
        f"From the gallery: [{title}](/gallery/{name}.rst)",
        "```",
    ]
    return "\n".join(lines) if WITH_GALLERY else ""


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("builder-inited", write_api)
    app.connect("source-read", fill_marks)
