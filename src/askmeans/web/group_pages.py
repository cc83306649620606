"""The list of groups, and how owners shape them: names, merges, splits, changes taken back."""

import secrets
from collections.abc import Callable

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from askmeans._util.message import Message, plural_message
from askmeans.exceptions import AskmeansError
from askmeans.queries import ME
from askmeans.sessions.proposals import parts_of_group, suggested_sub_groups
from askmeans.web.cards import GroupTile
from askmeans.web.context import AppContext
from askmeans.web.drawing import N_COLORS, colors_of
from askmeans.web.forms import Form, annotator_of
from askmeans.web.item_views import ItemView
from askmeans.web.looks import Look

_EXAMPLES = 6  # of a group
_PICKS = 8  # items of a part that can be split off
_CHANGES = 20  # that are listed

Work = Callable[[Form, str], str]  # what a form asks for; returns a sentence about it
AddForm = Callable[..., Callable[[Work], None]]


def add_groups(router: APIRouter, context: AppContext, form_at: AddForm) -> None:
    """The pages and the forms."""
    _add_pages(router, context)
    _add_forms(context, form_at)


def _add_pages(router: APIRouter, context: AppContext) -> None:
    """The list, a merge before it is made, and parts that may be split off."""
    session, groups, cards = context.session, context.session.groups, context.cards

    def counts() -> dict[int, int]:
        """How many items are in each group, as of the last result."""
        view = context.result_views.glance()
        if view is None or view.result.basis == "nothing":
            return {}
        return {each.group.number: each.count for each in view.groups}

    def tile_of(number: str | None) -> GroupTile:
        for tile in cards.tree():
            if str(tile.group.number) == number:
                return tile
        raise HTTPException(404, Message("There is no such group any more. Open Groups again."))

    @router.get("/groups")
    def group_page(request: Request, refine: int | None = None) -> Response:
        shown, proposed = [], list[str]()
        if refine is not None and groups.find(refine) == refine:
            proposed = suggested_sub_groups(session, refine)
        for tile in cards.tree():
            pinned = set(groups.pinned(tile.group.number))
            rows, is_guess = cards.examples(tile.group.number, max(_EXAMPLES, len(pinned)))
            examples = [(cards.item(row), row in pinned) for row in rows]
            shown.append((tile, examples, is_guess))
        return context.page(
            request, "groups.html", groups=shown, options=session.settings.options,
            counts=counts(), changes=session.history.changes()[-_CHANGES:][::-1],
            budget=session.status().budget, can_change=groups.can_change,
            can_merge=session.config.ask == "group", palette=colors_of(N_COLORS),
            refined=refine, proposed=", ".join(proposed),
        )  # fmt: skip

    @router.get("/groups/merge")
    def merge_page(request: Request, group: str, into: str | None = None) -> Response:
        return context.page(
            request, "merge.html", one=tile_of(group), tiles=cards.buttons(), counts=counts(),
            other=None if into is None else tile_of(into),
        )  # fmt: skip

    @router.get("/groups/split")
    async def split_page(request: Request, group: str) -> Response:
        await context.newest_result(0.0)

        def page() -> Response:
            tile, who = tile_of(group), annotator_of(request) or ME
            parts = parts_of_group(session, tile.group.number)
            placed, decided = _placed_in(context, tile.group.number, who)
            shown: list[tuple[int, list[ItemView]]] = []
            for rows in parts or [placed]:
                own = [row for row in rows if row in placed]
                picks = [*own, *(row for row in rows if row not in decided)][:_PICKS]
                shown.append((len(rows), [cards.item(row) for row in picks]))
            return context.page(request, "split.html", tile=tile, parts=shown)

        return await context.in_background(page)


def _placed_in(context: AppContext, group: int, annotator: str) -> tuple[list[int], set[int]]:
    """Rows that an annotator placed in a group, the newest first; rows that anyone placed."""
    session, placed, decided = context.session, [], set()
    for reply in reversed(session.history.answers()):
        shares = reply.value if isinstance(reply.value, tuple) else ()
        row, share = session.question(reply.question).items[0], max(shares, default=0.0)
        decided.add(row)
        is_own = reply.annotator == annotator and share > 0.5
        if is_own and session.groups.find(shares.index(share)) == group:
            placed.append(row)
    return list(dict.fromkeys(placed)), decided


def _add_forms(context: AppContext, form_at: AddForm) -> None:
    """What is sent from these pages."""
    session, groups = context.session, context.session.groups

    @form_at("/rename")
    def rename(form: Form, who: str) -> str:
        number, name, about = form.integer("cluster"), form.group_name(), form.get("about")
        before = next((group for group in groups if group.number == number), None)
        text = Message("The group is called {name} now.", name=name)
        if before is None or before.name != name or about is None:
            groups.rename(number, name, annotator=who)
        if before is not None and about is not None and about.strip() != before.description:
            groups.describe(number, about.strip(), annotator=who)
            return Message(
                "The group is called {name} now. What belongs there is saved.", name=name
            )
        return text

    @form_at("/names")
    def rename_several(form: Form, who: str) -> str:
        names = form.numbered("name-")
        for number, name in names.items():
            groups.rename(number, name, annotator=who)
        n = len(names)
        if not n:
            return ""
        return plural_message("{n} group has a name now.", "{n} groups have names now.", n)

    @form_at("/groups")
    def add(form: Form, who: str) -> str:
        name = form.group_name()
        groups.add(name, annotator=who)
        return Message("There is a group {name} now.", name=name)

    @form_at("/look", back="/groups")
    def set_look(form: Form, who: str) -> str:
        """A group's place or its colour."""
        look, number = Look.of(session), groups.number(form.integer("group"))
        tops = look.arranged(session, groups.choices(), lambda group: group.number)
        numbers = [group.number for group in tops]
        if form.get("color"):
            look = look.with_color(numbers, number, form.integer("color"))
        else:
            by = -1 if form.text("move") == "up" else 1
            look = look.with_move(numbers, number, by) if number in numbers else look
        session.settings.set_option("group_look", str(look), annotator=who)
        if form.get("move"):
            return Message("The groups have another order now.")
        return Message("The colour is saved.")

    @form_at("/merge", back="/groups")
    def merge(form: Form, who: str) -> str:
        groups.merge(form.integer("into"), form.integer("group"), annotator=who)
        return Message("The two groups are one now.")

    @form_at("/refine")
    def refine(form: Form, who: str) -> str:
        number, names = form.integer("group"), form.group_names()
        groups.refine(number, names, annotator=who)
        return Message(
            "{group} has sub-groups now: {names}.",
            group=groups.all_names[number], names=", ".join(names),
        )  # fmt: skip

    @form_at("/flatten")
    def flatten(form: Form, who: str) -> str:
        number = form.integer("group")
        groups.flatten(number, annotator=who)
        return Message(
            "{group} has no sub-groups any more; nothing answered is lost.",
            group=groups.all_names[number],
        )

    @form_at("/move-group")
    def move_group(form: Form, who: str) -> str:
        number, into = form.integer("group"), form.get("into")
        groups.move_group(number, form.integer("into") if into else None, annotator=who)
        return Message("{group} is in another place now.", group=groups.all_names[number])

    @form_at("/remove", back="/groups")
    def remove(form: Form, who: str) -> str:
        number = form.integer("group")
        name = next((group.name for group in groups if group.number == number), "")
        groups.remove(number, annotator=who)
        return Message(
            "The group {name} is removed: what was put there is in none of the groups now.",
            name=name,
        )

    @form_at("/split", back="/groups")
    def split(form: Form, who: str) -> str:
        """Items that nobody decided are put into the group first; all of it is done, or nothing."""
        rows, number, name = list(form.numbered("row-")), form.integer("group"), form.group_name()
        for row in rows:
            context.check_row(row)
        _, decided = _placed_in(context, number, who)
        others, key = [row for row in rows if row not in decided], secrets.token_urlsafe(16)
        groups.move(others, number, annotator=who, key=key)
        try:
            groups.split(number, rows, name, annotator=who)
        except AskmeansError:  # such as a name that is taken
            groups.undo_move(key, annotator=who)
            raise
        return plural_message(
            "{n} item is in the new group {group} now.",
            "{n} items are in the new group {group} now.",
            len(rows),
            group=name,
        )

    @form_at("/take-back")
    def take_back(form: Form, who: str) -> str:
        if form.get("move"):
            n = groups.undo_move(form.text("move"), annotator=who)
            return plural_message(
                "Taken back: {n} item is where it was before.",
                "Taken back: {n} items are where they were before.",
                n,
            )
        session.history.take_back(form.integer("event"), annotator=who)
        return Message("Taken back.")
