"""Forms as browsers send them, and who sent them."""

from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request

from askmeans.exceptions import ParameterError
from askmeans.web.guard import check_token

__all__ = ["INCOMPLETE", "Form", "SentForm", "annotator_of", "is_script"]

_FIELDS = 250  # of a form: a share for each group among them
_LONGEST_NAME = 80
INCOMPLETE = "This form came incomplete, so nothing was changed. Reload the page, and try again."
_TYPED = {  # fields that people fill in
    "name": "a name",
    "link": "your link, or its token",
    "days": "for how many days",
    "n": "how many questions",
}


class Form:
    """The fields of a form, each once, and who is signed in where it was sent."""

    def __init__(self, fields: dict[str, str], sender: str | None = None) -> None:
        self._fields = fields
        self.sender = sender

    def get(self, name: str) -> str | None:
        """A field, None where it was not sent."""
        return self._fields.get(name)

    def text(self, name: str) -> str:
        """A field that must be there."""
        value = self._fields.get(name, "").strip()
        if not value:
            typed = _TYPED.get(name)
            raise HTTPException(422, f"Type {typed} first." if typed else INCOMPLETE)
        return value

    def whole(self, name: str) -> int:
        """A whole number that must be there."""
        value = self.text(name)
        if not (value.isascii() and value.isdigit()) or len(value) > 15:
            raise HTTPException(422, "Type a whole number." if name in _TYPED else INCOMPLETE)
        return int(value)

    def number(self, name: str) -> float:
        """A number that must be there."""
        try:
            return float(self.text(name))
        except ValueError:
            raise HTTPException(422, "Type a number: 25, or 12.5.") from None

    def shares(self) -> dict[int, float]:
        """Shares of groups, in percent: fields "share-2" that are filled in."""
        told = self.numbered("share-")
        return {number: self.number(f"share-{number}") / 100.0 for number in told}

    def numbered(self, prefix: str) -> dict[int, str]:
        """Fields that begin so and end in a number, by that, as far as they are filled in."""
        named = [name for name in self._fields if name.startswith(prefix)]
        filled = [name for name in named if self._fields[name].strip()]
        return {Form({"n": n.removeprefix(prefix)}).whole("n"): self.text(n) for n in filled}

    def group_name(self) -> str:
        """A group's name, not too long for its button."""
        name = self.text("name")
        if len(name) > _LONGEST_NAME:
            text = f"A group's name has at most {_LONGEST_NAME} letters. Shorten it."
            raise ParameterError(text, user_message=text)
        return name

    def value(self) -> Any:
        """What was pressed: a point, the slider's button, a group, cannot say or skip."""
        told = self.text("value")
        if told in ("unsure", "skip"):
            return told
        if told == "none":
            return ()
        if told.startswith("group-"):
            return Form({"group": told.removeprefix("group-")}).whole("group")
        if told == "shares":
            return self.shares()
        return self.number("fine") if told == "fine" else self.number("value")


async def _read(request: Request) -> Form:
    """The form, once its token was checked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A form must be sent as application/x-www-form-urlencoded.")
    body = await request.body()
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise HTTPException(
            422, f"The form must be UTF-8, with at most {_FIELDS} fields. Choose fewer at once."
        ) from None
    form = Form({name: values[-1] for name, values in fields.items()}, annotator_of(request))
    check_token(request, form.get("token"))
    return form


SentForm = Annotated[Form, Depends(_read)]


def annotator_of(request: Request) -> str | None:
    """Who answers here: the person whom the token was made for; None where nobody signed in."""
    person = getattr(request.state, "person", None)
    return None if person is None else str(person.name)


def is_script(request: Request) -> bool:
    """Whether our script sent it, and wants the part that changes."""
    return request.headers.get("x-askmeans") == "part"
