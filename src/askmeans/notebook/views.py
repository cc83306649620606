"""What the widget shows, as plain values: widget.js draws it, and takes no text for HTML."""

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

from askmeans.results import expected_wrong_text
from askmeans.sessions import Session
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.tables.thumbnails import thumbnail
from askmeans.web.answering import QuestionView
from askmeans.web.cards import Card, Cell, Choice, ItemView
from askmeans.web.drawing import Plane, colors_of, scatter
from askmeans.web.scale import points_of, slider_step

__all__ = ["image_url", "picture_of", "view_of"]

# An image has no style of the notebook's: the page's rules for dots, which are larger here.
_DOTS = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400" class="scatter" ',
    "<style>.dot{r:11px;stroke:#fff}.doubtful{stroke:#1c2230;stroke-width:1.5}</style>",
)
_RESTING = {
    "all done": ("All done", "Every question has its answer. Thank you."),
    "waiting for others": (
        "Waiting for others",
        "Other people have the questions that are open now. Run the cell again later.",
    ),
    "paused": ("Paused", "Somebody paused this session. What was answered is kept."),
    "budget spent": ("The budget is spent", "All questions that were allowed are answered."),
}
_LIKELY = "If each had to go into one group, how likely would all land in the same one?"


def view_of(view: QuestionView, session: Session) -> dict[str, Any]:
    """The card and what belongs to it."""
    status, config = view.status, session.config
    shown: dict[str, Any] = {
        "question": None,
        "key": view.key,
        "undo_key": view.undo_key,
        "undoable": view.can_undo,
        "answered": status.answered,
        "budget": status.budget,
        "left": status.left.high,
        "guidelines": session.options["guidelines"],
    }
    if view.card is None:
        heading, meaning = _RESTING.get(status.state, ("One moment", "Run the cell again."))
        if view.trouble:
            heading, meaning = "The answers so far lead no further", view.trouble
        return shown | {"heading": [heading], "meaning": meaning}
    card = view.card
    points = [] if card.choices else points_of(config.ask, config.levels)
    slider = not card.choices and config.ask != "relative"
    return shown | {
        "question": card.question.id,
        "heading": _heading(card),
        "meaning": _meaning(card),
        "items": [_item(item) for item in _in_order(card)],
        "asked": 1 if card.question.kind == "relative" else None,
        "typical": [_item(item) for item in card.typical],
        "guessed": card.guessed,
        "group": card.cluster_name,
        "choices": [_choice(choice) for choice in card.choices],
        "regroup": bool(card.choices) and session.can_regroup,
        "points": [[point.key, point.value, point.word or point.shown] for point in points],
        "step": slider_step(config.levels) if slider else None,
    }


def picture_of(session: Session) -> dict[str, Any]:
    """The result so far: the page's scatter, the size of every group, how many items are wrong."""
    result = session.result()
    plane = Plane(session.rows.matrix[: len(result.memberships)])
    items = [replace(session.item(row), image=None) for row in plane.rows]
    centers = result.clustering.centers
    drawn = scatter(plane, result.memberships, items, names=result.cluster_names, centers=centers)
    head, style = _DOTS
    drawn = drawn.replace('<svg class="scatter" ', head, 1).replace(">", f">{style}", 1)
    wrong = None
    if result.expected_wrong is not None:
        wrong = expected_wrong_text(
            result.expected_wrong, len(result.memberships), result.expected_wrong_band
        )
    elif not result.n_queries:
        wrong = "No answers yet."
    sizes = result.memberships.mean(axis=0).tolist()
    names = result.cluster_names
    return {
        "svg": drawn,
        "groups": [list(each) for each in zip(names, colors_of(len(names)), sizes, strict=True)],
        "wrong": wrong,
    }


def image_url(session: Session, row: int, folder: str) -> str | None:
    """A small copy of an item's image as a data URL; None where there is none."""
    path = session.rows.image_file(row)
    if path is None:
        return None
    small = thumbnail(path, Path(folder))
    kind = IMAGE_TYPES[small.suffix.lower()]
    return f"data:{kind};base64,{base64.b64encode(small.read_bytes()).decode()}"


def _heading(card: Card) -> list[str]:
    """The question; every second part is bold."""
    first = card.items[0]
    name = "this" if first.text else first.name
    if card.choices:
        return ["To which group does ", name, " belong?"]
    if card.cluster_name is not None:
        return ["How much does ", name, " belong to ", card.cluster_name, "?"]
    if card.question.kind == "relative":
        middle = "the one in the middle" if first.text else first.name
        return ["Is ", middle, " more like the left or the right one?"]
    if first.text:
        return [f"How similar are these {'two' if len(card.items) == 2 else 'three'}?"]
    parts = ["How similar are ", card.items[0].name]
    for place, item in enumerate(card.items[1:], start=2):
        parts += [" and " if place == len(card.items) else ", ", item.name]
    return [*parts, "?"]


def _meaning(card: Card) -> str:
    """What the question means."""
    if card.choices:
        return ""
    if card.cluster_name is not None:
        return "If it had to go into one group, how likely would it be this one?"
    if card.question.kind == "relative":
        return "Go by what decides about groups, not by looks."
    return _LIKELY


def _in_order(card: Card) -> tuple[ItemView, ...]:
    """The items from left to right."""
    if card.question.kind == "relative":
        one, left, right = card.items
        return (left, one, right)
    return card.items


def _item(item: ItemView) -> dict[str, Any]:
    """An item."""
    return {
        "row": item.row,
        "name": item.name,
        "text": item.text,
        "line": item.line,
        "image": item.image is not None,
        "cells": [_cell(cell) for cell in item.first_cells],
        "more": [_cell(cell) for cell in item.more_cells],
    }


def _cell(cell: Cell) -> list[Any]:
    """A field."""
    return [cell.name, cell.value, cell.differs]


def _choice(choice: Choice) -> dict[str, Any]:
    """A group."""
    return {
        "group": choice.group,
        "name": choice.name,
        "color": choice.color,
        "key": choice.key,
        "typical": [_item(item) for item in choice.typical],
        "guessed": choice.guessed,
    }
