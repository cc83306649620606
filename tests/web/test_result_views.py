"""The result aside: at most once for every event, never a refit by a request; what does not fit."""

import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from askmeans import sessions
from askmeans.contradictions import Contradiction
from askmeans.exceptions import RankError
from askmeans.sessions import conflicts
from askmeans.web import create_app
from askmeans.web.pages import worked_example
from askmeans.web.people_views import contradictions_of
from askmeans.web.result_views import ResultViews


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(
        tmp_path / "fruit.db", n_clusters=3, cluster_names=["a", "b", "c"], annotations=2
    ) as made:
        yield made


def counted(session, monkeypatch):
    """How often a result is computed."""
    runs = []
    result = session.result
    monkeypatch.setattr(session, "result", lambda: runs.append(1) or result())
    return runs


def test_a_picture_is_made_once_for_every_event(session, monkeypatch):
    runs = counted(session, monkeypatch)
    views = ResultViews(session)
    first = views.latest(60.0)
    made = len(runs)
    assert all(views.latest(60.0) is first for _ in range(5))
    assert len(runs) == made
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    second = views.latest(60.0)
    assert second.tag != first.tag
    assert second.result.n_queries == 1
    views.close()


def test_results_rest_while_many_people_answer(session, monkeypatch):
    runs = counted(session, monkeypatch)
    now = iter(range(10**9))  # every look at the clock is a second later
    clock = SimpleNamespace(monotonic=lambda: float(next(now)))
    monkeypatch.setattr("askmeans.web.result_views.time", clock)
    views = ResultViews(session)
    first, made = views.latest(60.0), len(runs)
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    monkeypatch.setattr(type(session), "is_busy", True)
    assert views.latest(60.0) is first
    assert len(runs) == made
    monkeypatch.setattr(type(session), "is_busy", False)
    second, made = views.latest(60.0), len(runs)
    assert second.result.n_queries == 1
    session.undo()
    monkeypatch.setattr(type(session), "is_busy", True)
    for _ in range(20):  # a rest ends: it is a few times what the last view took
        views.latest(60.0)
    assert len(runs) > made
    assert views.latest(60.0).result.n_queries == 0
    views.close()


def test_nobody_waits_for_a_picture_that_takes_long(session, monkeypatch):
    views = ResultViews(session)
    first = views.latest(60.0)
    hold = threading.Event()
    result = session.result
    monkeypatch.setattr(session, "result", lambda: hold.wait(60.0) and result())
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    assert views.latest(0.0) is first
    assert views.glance() is first
    hold.set()
    assert views.latest(60.0).event == session.history.last_event
    views.close()


def test_where_there_is_no_result_people_answer_on_and_are_told_why(session, monkeypatch):
    def fail():
        raise RankError("Got rank 2.", user_message="two of three clusters look alike.")

    views = ResultViews(session)
    monkeypatch.setattr(session, "result", fail)
    assert views.latest(60.0) is None
    assert views.glance() is None
    assert views.trouble == "two of three clusters look alike."
    monkeypatch.undo()
    assert views.latest(60.0) is not None
    assert views.trouble is None
    views.close()


def test_groups_have_typical_items_and_sizes(session):
    (question,) = session.ask()  # before an answer, groups that have names have no members
    session.tell(question.id, 1.0)
    views = ResultViews(session)
    view = views.latest(60.0)
    views.close()
    assert sum(group.count for group in view.groups) == 6
    assert [group.group.name for group in view.groups] == ["a", "b", "c"]
    for group in view.groups:
        values = [round(value, 1) for _, value in group.typical]  # of like ones the most central
        assert values == sorted(values, reverse=True)
        own = view.result.memberships.argmax(axis=1) == group.group.number
        strongest = view.result.memberships[own, group.group.number]
        assert values[:1] == [round(value, 1) for value in sorted(strongest)[-1:]]  # or none


def test_rows_above_one_are_told(session):
    first, second = (session.add_question("membership", (0,), j, annotator="ann") for j in (0, 1))
    session.tell(first.id, 1.0, annotator="ann")
    session.tell(second.id, 0.75, annotator="ann")
    doubts = contradictions_of(session, session.status(estimate=True))
    assert all([item.row for item in doubt.items] == [*first.items] for doubt in doubts)
    name = session.item(first.items[0]).label
    assert [doubt.text for doubt in doubts] == [f"{name}: 1 in a, ¾ in b is more than the whole."]
    session.undo(annotator="ann")
    session.undo(annotator="ann")
    assert contradictions_of(session, session.status(estimate=True)) == ()


def test_contradictions_are_those_of_the_one_rule(session, monkeypatch):
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 1.0, annotator="ann")
    found = Contradiction(kind="repeats", answers=(0,), excess=1.0)
    monkeypatch.setattr(conflicts, "find_contradictions", lambda *_, **__: [found])
    views = ResultViews(session)
    (doubt,) = views.latest(60.0).contradictions
    views.close()
    assert [item.row for item in doubt.items] == [*question.items]
    assert "ann “1”" in doubt.text


def test_the_worked_example_shows_a_near_and_a_far_item_of_the_data(session, tools):
    example = worked_example(session)
    assert [example.one, example.near, example.far] == ["plum", "cherry", "papaya"]
    assert set(tools.FRUIT) > {example.one, example.near, example.far}


def errors_shown(client):
    """What the bar of the card and the page of results say of the error; None where nothing."""
    found = []
    card, results = r'class="error">(.*?)</span>\s*(?:<span|</p>)', r'class="lead">(.*?)</p>'
    for path, place in (("/", card), ("/results", results)):
        part = re.search(place, client.get(path).text, re.DOTALL)
        found.append(part and re.search(r"[\d.]+", re.sub("<[^>]+>", "", part[1]))[0])
    return found


def test_a_restart_shows_the_error_of_the_results_on_the_card_and_no_forecast(tmp_path, tools):
    path = tmp_path / "fruit.db"
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=60)
    X = rng.normal(size=(60, 2)) + 3.0 * np.eye(3)[kinds][:, :2]
    with sessions.create(path, X, n_clusters=3, random_state=0) as session:
        for _ in range(8):
            (question,) = session.ask()
            session.tell(question.id, int(kinds[question.items[0]]))
    seen = []
    for _ in range(2):  # the second server is the first one, started anew
        with tools.using(create_app(path, settle_seconds=0.0)) as client:
            first, results = errors_shown(client)
            assert first in (None, results)  # nothing before there is a result
            assert errors_shown(client) == [results, results]
            seen.append(results)
    assert seen[0] == seen[1] is not None


@pytest.fixture
def on_a_line(tmp_path):
    """A session on two groups on a line and some items far from both."""
    X = np.r_[np.linspace(0, 3, 20), np.linspace(3.2, 6, 20), np.linspace(40, 41, 8)][:, None]
    texts = [f"text {row}" for row in range(48)]
    path = tmp_path / "line.db"
    with sessions.create(
        path, X, n_clusters=2, cluster_names=["left", "right"], items=texts, random_state=0
    ) as session:
        yield session, path


def plain(page):
    """The text of a page."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def test_before_answers_the_page_forecasts_nothing(on_a_line, tools):
    _, path = on_a_line
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        for address in ("/results", "/"):
            page = plain(client.get(address).text)
            assert "No answers yet" in page
            assert "more cards" not in page
            assert "robably wrong" not in page


def test_the_page_counts_wrong_items_and_those_that_more_cards_would_fix(on_a_line, tools):
    session, path = on_a_line
    for _ in range(8):
        (question,) = session.ask()
        row = question.items[0]
        session.tell(question.id, "left" if row < 20 else "right")
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        results = plain(client.get("/results").text)
        card = plain(client.get("/").text)
    counted = r"About (\d+) of 48 are probably in the wrong group \((\d+) to (\d+)\)\."
    about, low, high = map(int, re.search(counted, results).groups())
    assert low <= about <= high
    assert re.search(r"20 more cards would (fix about \d+|hardly change that)\.", results)
    assert re.search(counted, card)[0] in results
    assert f"about {about} of 48 probably wrong" in card
    assert "It is good enough with fewer than 1 % in the wrong group." in results
    assert "membership to expect" not in results + card


def test_items_of_no_group_have_a_place_of_their_own_and_are_typical_of_none(on_a_line, tools):
    session, path = on_a_line
    answers = {"left": (3, 10), "right": (30, 38), "": (0, 40, 42, 47)}
    for group, rows in answers.items():
        for row in rows:
            session.tell(session.add_question("group", (row,), None).id, group or ())
    session.unsure(session.add_question("group", (5,), None).id)
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        page = client.get("/results").text
    (outside,) = re.findall(r'<section class="outside".*?</section>', page, re.DOTALL)
    for row in (0, *range(40, 48)):
        assert f'href="/items/{row}"' in outside
    typical = re.findall(r'<article class="item group".*?</article>', page, re.DOTALL)
    assert len(typical) == 2
    shown = {int(row) for part in typical for row in re.findall(r"/items/(\d+)", part)}
    assert shown
    assert not shown & {0, 5, *range(40, 48)}


def test_without_items_of_no_group_there_is_no_place_for_them(on_a_line, tools):
    session, path = on_a_line
    for row in (3, 30):
        session.tell(session.add_question("group", (row,), None).id, int(row > 20))
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        assert "In none of the groups" not in client.get("/results").text


def test_the_page_says_good_enough_by_the_share_that_the_owner_set(tmp_path, tools):
    path, X = tmp_path / "easy.db", np.r_[np.linspace(0, 1, 30), np.linspace(9, 10, 30)][:, None]
    with sessions.create(path, X, n_clusters=2, target=0.05, random_state=0) as session:
        for _ in range(30):
            (question,) = session.ask()
            session.tell(question.id, question.items[0] // 30)
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        page = plain(client.get("/results").text)
    assert "Good enough: you may stop now. Probably none of 60 is in the wrong group" in page
    assert "The aim is fewer than 5 % in the wrong group; more answers still help." in page
