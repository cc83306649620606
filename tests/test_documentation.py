"""Documentation that is tested: code blocks run, commands and pages exist."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def ids(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_python_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a picture
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=flags)
    names: dict[str, object] = {}  # one page, one session
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, names, f"{page.name}[{number}]", str(page), 0)
        assert test.examples, f"{page.name}: a python block without a prompt is never run"
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.failures == 0


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_within_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_command_and_option_is_documented():
    import typer

    from askmeans.cli import app

    page = (ROOT / "docs" / "command-line.md").read_text()
    commands = typer.main.get_command(app).commands
    assert {"demo", "fit", "plan"} <= set(commands)
    for name, command in commands.items():
        section = page.partition(f"## `askmeans {name}")[2].partition("\n## ")[0]
        assert section, name
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}" in section, f"{name} {option}"


def test_every_make_target_is_in_the_contributing_guide():
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert {"demo", "test", "bench"} <= set(targets)
    for target in targets:
        assert f"make {target}" in guide


def test_every_public_name_is_in_the_reference():
    import askmeans

    reference = (ROOT / "docs" / "reference.md").read_text()
    for name in askmeans.__all__:
        value = getattr(askmeans, name)
        for member in getattr(value, "__all__", [name]):
            assert f"`{member}" in reference, member
