"""What `import askmeans` gives, and how little it loads."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import askmeans


def modules_after(code):
    """Names of the modules a fresh interpreter holds after running the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_askmeans_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "sklearn", "numba", "matplotlib", "sqlalchemy", "fastapi", "dask"}
    assert not modules_after("import askmeans") & heavy


def test_the_estimator_loads_neither_numba_nor_matplotlib_before_it_fits():
    loaded = modules_after("from askmeans import FuzzyKMeans; FuzzyKMeans()")
    assert "sklearn" in loaded
    assert not loaded & {"numba", "matplotlib"}


def test_sessions_load_no_database_before_one_is_opened():
    loaded = modules_after("from askmeans import sessions")
    assert "askmeans.sessions.session" in loaded
    assert not loaded & {"sqlalchemy", "alembic", "sklearn", "pandas"}


def test_every_package_that_is_imported_is_declared():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    told = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.match(r"[\w-]+", line)[0].lower() for lines in told for line in lines}
    imported = {
        name.partition(".")[0]
        for file in (root / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in _imports(node)
    }
    ours = imported - sys.stdlib_module_names - {"askmeans"}
    assert {"numpy", "starlette", "pydantic"} <= ours
    packages = {
        "sklearn": "scikit-learn",
        "PIL": "pillow",
        "markdown_it": "markdown-it-py",
        "array_api_compat": "array-api-compat",
        "cupy": "cupy-cuda13x",
        "sentence_transformers": "sentence-transformers",
    }
    assert {packages.get(name, name) for name in ours} <= declared


def _imports(node):
    """Names of the modules that a statement loads."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []


def test_every_public_name_is_there_and_sorted():
    assert list(askmeans.__all__) == sorted(askmeans.__all__)
    for name in askmeans.__all__:
        assert getattr(askmeans, name) is not None
    assert set(askmeans.__all__) <= set(dir(askmeans))


def test_the_public_names_are_few():
    rooms = [getattr(askmeans, name) for name in askmeans.__all__]
    names = [name for room in rooms for name in getattr(room, "__all__", [room])]
    assert len(names) <= 130  # issue 36: what a user has to learn


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'FuzzyCMeans'"):
        askmeans.FuzzyCMeans  # noqa: B018 - the access is the test


def test_the_estimators_parameters_are_the_pinned_ones():
    parameters = inspect.signature(askmeans.FuzzyKMeans).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "n_clusters": 8,
        "fuzzifier": 2.0,
        "init": "k-means++",
        "n_init": 1,
        "max_iter": 300,
        "tol": 1e-4,
        "algorithm": "auto",
        "metric": "euclidean",
        "memory": None,
        "device": None,
        "random_state": None,
    }
    kinds = [parameter.kind for parameter in parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_plotting_without_matplotlib_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
try:
    from askmeans import plotting
except ImportError as error:
    assert 'pip install "askmeans[plot]"' in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


OTHERS = {"_exit", "_handle_custom_msg", "_is_owned", "_max_overflow", "_repr_html_", "_timeout"}


def private_names(path):
    """Private names of the package that a test touches: imported, reached by a dot, or patched."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name for node in ast.walk(tree) if isinstance(node, kinds)} | OTHERS
    own = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)
           and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")]  # fmt: skip
    defined |= {node.attr for node in own if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("askmeans"):
            names = [alias.name for alias in node.names if alias.name != "_util"]
        elif isinstance(node, ast.Attribute) and node not in own:
            names = [node.attr]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
            texts = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            names = [str(text).rpartition(".")[2] for text in texts]
        yield from (n for n in names if n[0] == "_" != n[1:2] and n not in defined)


def test_tests_touch_no_private_names_of_the_package():
    here = Path(__file__).parent
    touched = {str(p.relative_to(here)): [*private_names(p)] for p in sorted(here.rglob("*.py"))}
    assert {path: names for path, names in touched.items() if names} == {}
