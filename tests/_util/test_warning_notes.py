"""Warnings as notes: ours, of this thread, and nobody else's."""

import threading
import warnings

import pytest

from askmeans._util.warning_notes import collect_warnings
from askmeans.exceptions import AskmeansWarning, CollapseWarning


def collected(work):
    """What the work returns, and the messages of its warnings."""
    value, notes = collect_warnings(work)
    return value, list(map(str, notes))


def warn(*messages, kind=CollapseWarning):
    for message in messages:
        warnings.warn(message, kind, stacklevel=2)
    return len(messages)


def test_our_warnings_become_notes_each_once_even_where_they_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert collected(lambda: warn("a", "b", "a")) == (3, ["a", "b"])


def test_other_warnings_are_shown_as_ever():
    with pytest.warns(UserWarning, match="theirs"):
        assert collected(lambda: warn("theirs", kind=UserWarning)) == (1, [])


def test_afterwards_everything_is_as_before():
    filters, show = list(warnings.filters), warnings.showwarning
    collect_warnings(lambda: collect_warnings(lambda: warn("inner")))
    with pytest.raises(ZeroDivisionError):
        collect_warnings(lambda: 1 / 0)
    assert (list(warnings.filters), warnings.showwarning) == (filters, show)


def test_notes_within_notes_belong_to_the_inner_ones():
    def outer():
        warn("outer")
        return collected(lambda: warn("inner"))[1]

    assert collected(outer) == (["inner"], ["outer"])


def test_threads_that_overlap_keep_their_own():
    before = list(warnings.filters)
    inside, found = threading.Barrier(2), {}

    def work(name):
        def body():
            inside.wait()  # both collect at once
            warn(name)
            if name == "long":
                ended.wait()

        found[name] = collected(body)[1]
        if name == "short":
            ended.set()

    ended = threading.Event()
    threads = [threading.Thread(target=work, args=(name,)) for name in ("long", "short")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"long": ["long"], "short": ["short"]}
    assert list(warnings.filters) == before
    with pytest.warns(AskmeansWarning, match="later"):
        warn("later")
