"""Where a chromium is that tests can use: installed for all, or by playwright for this user alone.

As a program it fails where there is none (tools/install-browser.sh asks it).
"""

import os
import shutil
import sys
from pathlib import Path

__all__ = ["FLAGS", "REMEDY", "find_browser"]

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
REMEDY = (
    "tools/install-browser.sh .venv/axe gets what these tests need, from Debian for root, else for "
    "you alone."
)


def find_browser():
    """Path of a chromium, or None; $CHROMIUM names one."""
    names = [os.environ.get("CHROMIUM", "chromium"), "chromium-browser", "google-chrome"]
    for path in filter(None, map(shutil.which, names)):
        return path
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    own = sorted(Path(cache).glob("chromium-*/chrome-linux*/chrome"))
    return str(own[-1]) if own else None


if __name__ == "__main__":
    sys.exit(0 if find_browser() else 1)
