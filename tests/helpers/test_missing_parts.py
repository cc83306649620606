"""A missing system part skips its tests and says so; in CI it fails them."""

import pytest
from missing_parts import need

pytest_plugins = "pytester"

PART, REMEDY = "a telescope", "Buy one (apt-get has none)."


def test_what_was_found_is_returned(monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert need("/usr/bin/telescope", PART, REMEDY) == "/usr/bin/telescope"


def test_a_missing_part_skips_with_what_is_missing_and_how_to_get_it(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"missing: a telescope\. Buy one"):
        need(None, PART, REMEDY)


@pytest.mark.parametrize("said", ["true", "1"])
def test_in_ci_a_missing_part_is_a_failure(monkeypatch, said):
    monkeypatch.setenv("CI", said)
    with pytest.raises(pytest.fail.Exception, match=r"missing: a telescope\. Buy one"):
        need(None, PART, REMEDY)


def test_the_end_of_the_run_counts_what_was_skipped_for_each_part(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(
        """
        import pytest
        from missing_parts import need, pytest_terminal_summary

        @pytest.fixture(scope="session")
        def telescope():
            need(None, "a telescope", "Buy one.")
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from missing_parts import need

        def test_stars(telescope): pass
        def test_moon(telescope): pass
        def test_comet(): need(False, "a comet", "Wait.")
        def test_other(): pytest.skip("for another reason")
        """
    )
    done = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider")
    done.assert_outcomes(skipped=4)
    done.stdout.fnmatch_lines(
        ["*missing system parts*", "2 skipped: missing: a telescope. Buy one.",
         "1 skipped: missing: a comet. Wait."]
    )  # fmt: skip
    done.stdout.no_fnmatch_line("*skipped: for another reason")
