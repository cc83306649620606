"""Documentation that is tested: examples and commands run, links and targets exist."""

import re
from pathlib import Path

import pytest

from try_pages import blocks, run_here, try_page

ROOT = Path(__file__).parent.parent
GENERATED = ("_build", "api", "gallery")
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not set(GENERATED) & set(path.relative_to(ROOT).parts)
)
# Pages whose commands need files that a test of their own makes.
TRIED_ELSEWHERE = {"docs/items.md": "tests/cli/test_recipes.py"}
# Pages without an example, and why.
WITHOUT_EXAMPLE = {
    "docs/index.md": "the way in",
    "docs/how-to.md": "a list of pages",
    "docs/tutorials/index.md": "a list of pages",
    "docs/explanation.md": "a list of pages",
    "docs/researchers.md": "a list of pages",
    "docs/reproduction/report.md": "written by `make reproduce`",
    "docs/reference.md": "a list of pages, whose examples are docstrings'",
}


def ids(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_examples_and_commands_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a picture
    wrong = try_page(page, None if ids(page) in TRIED_ELSEWHERE else run_here)
    assert not wrong, "\n".join(wrong)


def test_no_page_is_without_an_example_that_runs():
    without = {ids(page) for page in PAGES if not list(blocks(page))}
    assert without <= set(WITHOUT_EXAMPLE)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_within_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        if Path(target).parts[0] not in GENERATED:
            assert (page.parent / target).exists(), target


def test_every_make_target_is_in_the_contributing_guide():
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert {"demo", "test", "bench"} <= set(targets)
    for target in targets:
        assert f"make {target}" in guide


def test_the_readme_has_the_two_commands_that_set_everything_up():
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines()]
    assert "make demo" in lines
    assert "make test" in lines


def test_the_map_and_its_walks_are_short_and_name_files_that_are_there():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    rows = guide.partition("## The map")[2].partition("Imports point down")[0].strip().splitlines()
    assert len(rows) <= 25
    for name, most in (("A fit", 12), ("A click", 16)):
        walk = re.search(rf"\*\*{name}, in (\d+) stops\.\*\*(.*?)\n\n", guide, flags=re.DOTALL)
        stops = re.findall(r"`([\w/]+\.(?:py|js))`", walk[2])
        assert len(stops) == int(walk[1]) <= most
        for stop in stops:
            folder = ROOT / "src" / "askmeans"
            assert (folder / stop).exists() or (folder / "web" / stop).exists(), stop
