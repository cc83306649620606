"""Where a chromium is that tests can use: installed for all, or by playwright for this user alone.

As a program it fails where there is none, or with `shell` none that cannot open windows
(tools/install-browser.sh asks it).
"""

import os
import shutil
import sys
from pathlib import Path

__all__ = ["FLAGS", "REMEDY", "find_browser", "find_shell"]

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
REMEDY = (
    "tools/install-browser.sh .venv/axe gets what these tests need, from Debian for root, else for "
    "you alone."
)


def find_browser():
    """Path of a chromium, or None; $CHROMIUM names one.

    One that cannot open windows comes first, as it takes half the processor time; in `make soak`
    a whole one does.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    whole = _find(names, "chromium-*/chrome-linux*/chrome")
    return whole if whole and os.environ.get("ASKMEANS_SOAK") else find_shell() or whole


def find_shell():
    """Path of a chromium that cannot open windows, or of that in $CHROMIUM; or None."""
    names = ("chromium-headless-shell", "chrome-headless-shell")
    return _find(names, "chromium_headless_shell-*/chrome-*/*headless*shell")


def _find(names, own):
    """The one that $CHROMIUM names, the first of these on the path, else playwright's newest."""
    for path in filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *names))):
        return path
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    return max(map(str, Path(cache).glob(own)), default=None)


if __name__ == "__main__":
    sys.exit(0 if (find_shell if "shell" in sys.argv[1:] else find_browser)() else 1)
