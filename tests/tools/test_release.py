"""What a release has in it, and that the papers beside it are in step."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from hatchling import build

import askmeans

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The wheel and the source archive, as names of files."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        wheel, source = build.build_wheel(str(folder)), build.build_sdist(str(folder))
    with tarfile.open(folder / source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    return set(zipfile.ZipFile(folder / wheel).namelist()), inside


def test_every_file_of_the_package_is_in_the_wheel(archives):
    wheel, _ = archives
    files = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "askmeans").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= wheel
    for name in ("py.typed", "fuzzy/engines/passes.cu", "web/templates/base.html",
                 "web/static/page.js",
                 "notebook/widget.js", "notebook/frame.css"):  # fmt: skip
        assert f"askmeans/{name}" in wheel


def test_nothing_else_is_in_the_wheel(archives):
    wheel, _ = archives
    tops = {name.partition("/")[0] for name in wheel}
    assert tops == {"askmeans", f"askmeans-{askmeans.__version__}.dist-info"}


def test_the_source_archive_has_all_that_tests_and_documentation_need(archives):
    _, source = archives
    for name in ("src/askmeans/__init__.py", "tests/conftest.py", "docs/conf.py", "Makefile",
                 "tools/check_release.sh", "README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff",
                 "SECURITY.md", "CODE_OF_CONDUCT.md"):  # fmt: skip
        assert name in source


def test_the_citation_is_of_this_version_and_of_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == askmeans.__version__
    assert cited["license"] == PROJECT["license"]
    (paper,) = cited["references"]
    assert paper["title"] == "Fuzzy Clustering with Similarity Queries"
    assert len(paper["authors"]) == 3


def test_the_changelog_tells_of_this_version():
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert askmeans.__version__ in titles


def test_the_lowest_versions_that_are_tried_are_those_declared():
    tried = re.search(r"lowest=\((.*)\)", (ROOT / "tools" / "check_release.sh").read_text())[1]
    lowest = dict(re.findall(r'"([\w-]+)==([\d.]+)\.\*"', tried))
    declared = dict(line.split(">=") for line in PROJECT["dependencies"])
    assert {"numpy", "scipy", "scikit-learn"} <= set(lowest)
    assert lowest.items() <= declared.items()


def test_issues_have_templates_with_a_name_and_a_purpose():
    templates = list((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))
    assert len(templates) == 2
    for path in templates:
        head = yaml.safe_load(path.read_text().split("---")[1])
        assert {"name", "about", "labels"} <= set(head)
