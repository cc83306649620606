"""The table of items: filters, order, pages, the area of the map."""

import numpy as np
import pytest
from fastapi import HTTPException

from askmeans import sessions
from askmeans.sessions.tables import NO_GROUP, spreadsheet_table
from askmeans.web.items import NOBODY, ItemFilter, ItemTable
from askmeans.web.result_views import ResultViews


@pytest.fixture
def table(tmp_path):
    """Sixty items in three groups along a line, some answered, one in none of the groups."""
    X = np.random.default_rng(0).normal(scale=0.2, size=(60, 2))
    X[:, 0] += np.repeat([0.0, 4.0, 8.0], 20)
    with sessions.create(
        tmp_path / "line.db", X, n_clusters=3, cluster_names=["a", "b", "c"], random_state=0,
        items=[f"text {row} is about {'xyz'[row // 20]}" for row in range(60)],
    ) as session:  # fmt: skip
        for row in (0, 5, 20, 25, 40, 45):
            session.groups.move([row], "abc"[row // 20], annotator="ann")
        session.groups.move([59], None, annotator="bob")
        views = ResultViews(session)
        view = views.latest(None)
        session.groups.move([1], "c", annotator="ann")  # after the result
        yield ItemTable(session, view)
        views.close()


def listed(table, **fields):
    return table.rows(ItemFilter.from_fields(fields)).tolist()


def test_items_are_filtered_by_group_words_confidence_and_who_decided(table):
    assert listed(table) == list(range(60))
    in_a = listed(table, group="0")
    assert set(in_a) <= set(range(20))
    assert {0, 5} <= set(in_a)
    assert listed(table, group="none") == [59]
    assert listed(table, by="ann") == [0, 1, 5, 20, 25, 40, 45]
    assert listed(table, by=NOBODY) == [
        row for row in range(60) if row not in (0, 1, 5, 20, 25, 40, 45, 59)
    ]
    assert listed(table, q="ABOUT Y") == list(range(20, 40))
    assert listed(table, q="about y", by="ann") == [20, 25]
    assert 0 not in listed(table, below="99")  # a person decided


def test_an_answer_after_the_result_is_in_the_table(table):
    line = table.line(1)
    assert (line.group, line.share, line.confidence, line.decided_by) == ("c", 1.0, 1.0, "ann")
    assert table.line(59).group == "none of these"
    assert 1 in listed(table, group="2")


def test_who_answered_otherwise_or_only_the_group_above_decided_nothing(tmp_path):
    X = np.repeat([[0.0], [4.0]], 8, axis=0) + np.linspace(0.0, 0.7, 16)[:, None]
    with sessions.create(
        tmp_path / "nested.db", X, n_clusters=2, cluster_names=["low", "high"], random_state=0
    ) as session:
        for row, group in ((0, "low"), (1, "low"), (9, "high")):
            session.groups.move([row], group, annotator="ann")
        session.groups.move([1], "high", annotator="bob")
        session.groups.move([1], "low", annotator="eve")
        session.groups.refine("high", ["near", "far"])
        session.groups.move([10], "near", annotator="eve")
        views = ResultViews(session)
        view = views.latest(None)
        table, exported = ItemTable(session, view), spreadsheet_table(session, view.result)
        views.close()
        names = [table.line(row).decided_by for row in (0, 1, 9, 10)]
        column = exported.columns.index("decided_by")
        assert names == ["ann", "ann, eve", "", "eve"]
        assert [exported.rows[row][column] for row in (0, 1, 9, 10)] == [
            "ann", "ann, eve", "guess", "eve",
        ]  # fmt: skip
        assert table.rows(ItemFilter(by="bob")).tolist() == []


def test_the_least_sure_come_first_where_that_is_the_order(table):
    rows = listed(table, sort="confidence")
    values = table.confidence[rows]
    assert (np.diff(values[~np.isnan(values)]) >= 0).all()
    groups = table.group[listed(table, sort="group")].tolist()
    assert groups == [*sorted(number for number in groups if number >= 0), NO_GROUP]


def test_an_area_of_the_map_lists_the_items_inside_it(table):
    points = table.view.plane.points(table.view.result.clustering.centers, of_all=True)
    low, high = points[20:40].min(axis=0) - 2, points[20:40].max(axis=0) + 2
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    area = " ".join(f"{x:.0f},{y:.0f}" for x, y in corners)
    assert listed(table, area=area) == list(range(20, 40))
    triangle = f"{low[0]:.0f},{low[1]:.0f} {high[0]:.0f},{low[1]:.0f} {low[0]:.0f},{high[1]:.0f}"
    half = listed(table, area=triangle)
    assert set(half) < set(range(20, 40))
    assert half


@pytest.mark.parametrize(
    "fields",
    [{"group": "x"}, {"below": "101"}, {"sort": "size"}, {"area": "1,2 x"}, {"area": "1,2 " * 201}],
)
def test_a_damaged_address_is_refused(fields):
    with pytest.raises(HTTPException, match="damaged"):
        ItemFilter.from_fields(fields)


def test_a_filter_survives_its_own_address():
    fields = {"q": "a b&c", "group": "none", "below": "70", "by": "-", "area": "1,2 3,4 5,-6",
              "sort": "group"}  # fmt: skip
    assert ItemFilter.from_fields(fields).fields == fields
    assert ItemFilter.from_fields({}).address() == "/items"
    assert ItemFilter.from_fields({"q": "a&b"}).address(page="2") == "/items?q=a%26b&page=2"
