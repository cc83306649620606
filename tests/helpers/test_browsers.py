"""A browser is found on the path, or where playwright keeps its own."""

from browsers import find_browser


def make(path):
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_browser_is_taken_from_the_path_or_from_playwrights_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_browser() is None
    own = make(tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_browser() == own
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "elsewhere"))
    assert find_browser() is None
    installed = make(tmp_path / "bin" / "google-chrome")
    assert find_browser() == installed
