"""A browser is found on the path, or where playwright keeps its own."""

import pytest
from browsers import find_browser, find_shell


def make(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def _bare(tmp_path, monkeypatch):
    """A machine without browsers."""
    for name in ("CHROMIUM", "PLAYWRIGHT_BROWSERS_PATH", "ASKMEANS_SOAK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def test_a_browser_is_taken_from_the_path_or_from_playwrights_cache(tmp_path, monkeypatch):
    assert find_browser() is None
    own = make(tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_browser() == own
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "elsewhere"))
    assert find_browser() is None
    installed = make(tmp_path / "bin" / "google-chrome")
    assert find_browser() == installed


def test_one_that_cannot_open_windows_comes_first_but_in_soak(tmp_path, monkeypatch):
    whole = make(tmp_path / "bin" / "chromium")
    assert find_shell() is None
    cache = tmp_path / ".cache/ms-playwright/chromium_headless_shell-1200"
    for path in (
        cache / "chrome-linux/headless_shell",
        cache / "chrome-headless-shell-linux64/chrome-headless-shell",
        tmp_path / "bin" / "chromium-headless-shell",
    ):
        shell = make(path)
        assert find_browser() == find_shell() == shell
        path.unlink()
    make(path)
    monkeypatch.setenv("ASKMEANS_SOAK", "1")
    assert find_browser() == whole
    monkeypatch.setenv("CHROMIUM", shell)
    assert find_browser() == find_shell() == shell
