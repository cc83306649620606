"""Several people at once, each in a browser of their own, on one session."""

import numpy as np
import pytest
from soaking import in_soak

from askmeans import sessions
from askmeans.sessions import SessionState


def handed_out(session):
    """How many questions were answered or are with somebody.

    An answer that comes while this is counted is neither: so it is counted three times.
    """
    found = [session.status() for _ in range(3)]
    return max(status.answered + status.leased for status in found)


@pytest.mark.parametrize("people", [3, in_soak(10)])
def test_nobody_waits_before_the_budget_is_handed_out(people, tmp_path, sit_down, tools):
    path, budget = tmp_path / "crowd.db", 5 * people
    rng = np.random.default_rng(0)
    X = 3.0 * np.eye(3)[rng.integers(3, size=120)] + rng.normal(size=(120, 3))
    sessions.create(path, X, n_clusters=3, budget=budget, random_state=0).close()
    with tools.serving(path, settle_seconds=0.0) as address, sessions.open(path) as session:
        pages = {name: sit_down(address, name, "annotator") for name in map(str, range(people))}
        for page in pages.values():  # everybody holds a card before anybody answers
            page.wait_for_selector("#question[data-ready]", state="attached")
        asked, answering = set(), dict(pages)
        while answering:
            for name, page in list(answering.items()):
                state = page.get_attribute("#question", "data-state")
                if state != "asking":
                    assert handed_out(session) == budget, (name, state)
                    del answering[name]
                elif page.locator("#question[data-ready]").count():
                    asked.add(tools.question_of(page))
                    page.keyboard.press("123"[int(name) % 3])  # and nobody waits for the reply
        told = session.history.answers()
        assert session.status().state is SessionState.SPENT
    assert len(told) == len({receipt.question for receipt in told}) == budget
    assert {str(receipt.question) for receipt in told} <= asked
    assert {receipt.annotator for receipt in told} == set(pages)
