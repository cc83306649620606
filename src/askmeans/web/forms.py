"""Forms and their senders: fields are checked, with a sentence about each fault."""

import re
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request

from askmeans._util.message import Message
from askmeans.web.errors import RefusalError
from askmeans.web.guard import check_token

_MOST_FIELDS = 250  # of a form: a share for each group among them
_LONGEST_NAME = 80
INCOMPLETE = Message(
    "This form came incomplete, so nothing was changed. Reload the page, and try again."
)
_TYPED = {  # fields that people fill in
    "name": Message("Type a name first."),
    "link": Message("Type your link, or its token first."),
    "days": Message("Type for how many days first."),
    "n": Message("Type how many questions first."),
}
_COMMAS = re.compile("[,\u060c\uff0c\u3001]")  # Latin, Arabic, Chinese


class Form:
    """The fields of a form, each once, and its sender."""

    def __init__(self, fields: dict[str, str], sender: str | None = None) -> None:
        self._fields = fields
        self.sender = sender

    def get(self, name: str) -> str | None:
        """A field; None if it was not sent."""
        return self._fields.get(name)

    @property
    def fields(self) -> dict[str, str]:
        """All of them."""
        return dict(self._fields)

    def text(self, name: str) -> str:
        """A field that must be there."""
        value = self._fields.get(name, "").strip()
        if not value:
            raise HTTPException(422, _TYPED.get(name, INCOMPLETE))
        return value

    def integer(self, name: str) -> int:
        """A whole number that must be there."""
        value = self.text(name)
        if not (value.isascii() and value.isdigit()) or len(value) > 15:
            raise HTTPException(
                422, Message("Type a whole number.") if name in _TYPED else INCOMPLETE
            )
        return int(value)

    def number(self, name: str) -> float:
        """A number that must be there; with a decimal comma, too, as half of Europe types it."""
        try:
            return float(self.text(name).replace(",", "."))
        except ValueError:
            raise HTTPException(422, Message("Type a number: 25, or 12.5.")) from None

    def shares(self) -> dict[int, float]:
        """Shares of groups, from percent: fields "share-2" that are filled in."""
        return {group: self.number(f"share-{group}") / 100.0 for group in self.numbered("share-")}

    def numbered(self, prefix: str) -> dict[int, str]:
        """Filled in fields of a prefix and a number, by that number."""
        return {
            Form({"number": name.removeprefix(prefix)}).integer("number"): value.strip()
            for name, value in self._fields.items()
            if name.startswith(prefix) and value.strip()
        }

    def group_name(self) -> str:
        """A group's name, not too long for its button."""
        return _checked_name(self.text("name"))

    def group_names(self) -> list[str]:
        """Names of groups, with commas of any script between them."""
        names = (name.strip() for name in _COMMAS.split(self.text("names")))
        return [_checked_name(name) for name in names if name]

    def value(self) -> Any:
        """The answer of the button: a point, the slider, a group, shares, cannot say or skip."""
        button = self.text("value")
        if button in ("unsure", "skip"):
            return button
        if button == "none":
            return ()
        if button.startswith("group-"):
            return Form({"group": button.removeprefix("group-")}).integer("group")
        if button == "shares":
            return self.shares()
        return self.number("fine") if button == "fine" else self.number("value")


def _checked_name(name: str) -> str:
    """A group's name; refused where it is too long."""
    if len(name) > _LONGEST_NAME:
        raise RefusalError(
            Message("A group's name has at most {most} letters. Shorten it.", most=_LONGEST_NAME)
        )
    return name


async def _read(request: Request) -> Form:
    """The form of a request, whose token is checked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A form must be sent as application/x-www-form-urlencoded.")
    body = await request.body()
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise HTTPException(
            422,
            Message(
                "The form must be UTF-8, with at most {most} fields. Choose fewer at once.",
                most=_MOST_FIELDS,
            ),
        ) from None
    form = Form({name: values[-1] for name, values in fields.items()}, annotator_of(request))
    check_token(request, form.get("token"))
    return form


SentForm = Annotated[Form, Depends(_read)]


def annotator_of(request: Request) -> str | None:
    """The name of the signed-in person; None without one."""
    person = getattr(request.state, "person", None)
    return None if person is None else str(person.name)


def is_script(request: Request) -> bool:
    """Whether the page's script sent it: it wants only the part of the page that changes."""
    return request.headers.get("x-askmeans") == "part"
