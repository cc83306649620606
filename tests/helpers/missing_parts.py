"""System parts that some tests need: a browser, say, and what is said where one is missing.

Where a part is missing, its tests are skipped with a line that says what is missing and how to get
it, and the end of the run counts them. With CI=true a missing part is a failure: nothing is skipped
unseen there.
"""

import os
from collections import Counter

import pytest

__all__ = ["need", "pytest_terminal_summary"]

MISSING = "missing: "


def need(found, part, remedy):
    """Return what was found; skip the test where that is nothing, or fail it in CI.

    Parameters
    ----------
    found : object
        The part, its path or whether it is there.
    part : str
        What is missing otherwise: "chromium, for the tests of the page".
    remedy : str
        How to get it, with and without root.
    """
    if found:
        return found
    line = f"{MISSING}{part}. {remedy}"
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{line} (A skip is a failure where CI=true.)", pytrace=False)
    pytest.skip(line)


def pytest_terminal_summary(terminalreporter):
    """Count the tests that were skipped for each missing part, at the end of the run."""
    reasons = [
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    ]
    counts = Counter(reason for reason in reasons if reason.startswith(MISSING))
    if counts:
        terminalreporter.section("missing system parts")
        for reason, count in counts.items():
            terminalreporter.line(f"{count} skipped: {reason}")
