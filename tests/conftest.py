"""Settings that must be in force before scipy is imported, and what many tests use."""

import gc
import os
import shutil
import signal

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips some of its checks
os.environ.setdefault("MPLBACKEND", "Agg")
# The tests run on every core already; threads that fight over them make small matrices slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # scikit-learn's wait by spinning
# Thousands of small databases wait for the disk at every write. Memory does not, where it has room.
if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

import pytest
from browsers import FLAGS, REMEDY, find_browser
from hypothesis import settings
from missing_parts import need, pytest_terminal_summary  # noqa: F401 - a hook: pytest finds it here

LONGEST = ("tests/fuzzy/engines/test_dask.py", "tests/sessions/test_storm.py")

# No test depends on the clock (compiling may fall into an example), and every run tries the same.
settings.register_profile("askmeans", deadline=None, derandomize=True)
settings.load_profile("askmeans")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than cores for `-n auto`: some tests wait, for a server or a browser."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    has_affinity = hasattr(os, "sched_getaffinity")
    return 1 + (len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def pytest_collection_modifyitems(config, items):
    """Leave what is marked `soak` to `make soak`; what takes longest goes first.

    Or one process would end with it while others wait.
    """
    if not os.environ.get("ASKMEANS_SOAK"):
        config.hook.pytest_deselected(items=[i for i in items if i.get_closest_marker("soak")])
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(autouse=True, scope="session")
def state_home(tmp_path_factory):
    """What `askmeans serve` remembers on a machine is of these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def ctrl_c():
    """Ctrl-C as Python has it, here and in processes started, also where the parent ignores it.

    Nothing is collected meanwhile: what is raised in hooks of a collection is lost.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this process's own."""
    import postgres

    remedy = "tools/install-postgres.sh installs it as root (Debian: apt-get install postgresql)."
    need(postgres.binaries(), "PostgreSQL, for the tests of that store", remedy)
    with postgres.running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty database in it."""
    url = postgres.create()
    yield url
    postgres.drop(url)


@pytest.fixture(scope="session")
def browser():
    """A chromium, one for all tests of a process: a second playwright does not start beside it."""
    from playwright.sync_api import Error, sync_playwright

    part = "chromium, for the tests of the page and of notebooks"
    path = need(find_browser(), part, REMEDY)
    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:  # playwright's own may lack libraries of the system
            need(None, part, f"{path} does not start: {error.message.splitlines()[0]} {REMEDY}")
        yield made
        made.close()


@pytest.fixture(scope="session")
def fuzzy_target():
    """Items, and fuzzy k-means memberships to centres drawn among them: no order by distance."""
    import numpy as np

    from askmeans.fuzzy import closed_form_memberships

    def target(n, k, *, seed=0, fuzzifier=2.0, spread=1.5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 2))
        centers = spread * rng.normal(size=(k, 2))
        return X, closed_form_memberships(X, centers, fuzzifier)

    return target
