"""Forms as browsers send them, and the cookie that knows who answers."""

from contextlib import suppress
from typing import Annotated
from urllib.parse import parse_qs, quote, unquote

from fastapi import Depends, HTTPException, Request
from starlette.responses import Response

from askmeans.checks import check_name
from askmeans.exceptions import ParameterError
from askmeans.web.guard import check_token

__all__ = ["Form", "SentForm", "annotator_of", "remember"]

_NAME_COOKIE = "askmeans_name"
_FIELDS = 250  # of a form: a share for each group among them
_YEAR = 365 * 24 * 3600
LONGEST_NAME = 80


class Form:
    """The fields of a form, each once."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def get(self, name: str) -> str | None:
        """A field, None where it was not sent."""
        return self._fields.get(name)

    def text(self, name: str) -> str:
        """A field that must be there."""
        value = self._fields.get(name, "").strip()
        if not value:
            raise HTTPException(422, f"The form must have a field {name!r}.")
        return value

    def whole(self, name: str) -> int:
        """A whole number that must be there."""
        value = self.text(name)
        if not (value.isascii() and value.isdigit()) or len(value) > 15:
            raise HTTPException(422, f"The field {name!r} must be a whole number.")
        return int(value)

    def number(self, name: str) -> float:
        """A number that must be there."""
        try:
            return float(self.text(name))
        except ValueError:
            raise HTTPException(422, f"The field {name!r} must be a number.") from None

    def shares(self) -> dict[int, float]:
        """Shares of groups, in percent: fields "share-2" that are filled in."""
        told = self.numbered("share-")
        return {number: self.number(f"share-{number}") / 100.0 for number in told}

    def numbered(self, prefix: str) -> dict[int, str]:
        """Fields that begin so and end in a number, by that, as far as they are filled in."""
        named = [name for name in self._fields if name.startswith(prefix)]
        filled = [name for name in named if self._fields[name].strip()]
        return {Form({"n": n.removeprefix(prefix)}).whole("n"): self.text(n) for n in filled}


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
            422, f"The form must be UTF-8, with at most {_FIELDS} fields."
        ) from None
    form = Form({name: values[-1] for name, values in fields.items()})
    check_token(request, form.get("token"))
    return form


SentForm = Annotated[Form, Depends(_read)]


def annotator_of(request: Request) -> str | None:
    """Who answers here, if they said so."""
    with suppress(ParameterError):
        name = check_name(unquote(request.cookies.get(_NAME_COOKIE, "")), "name")
        return name if len(name) <= LONGEST_NAME else None
    return None


def remember(response: Response, name: str) -> None:
    """Keep a name in the browser."""
    response.set_cookie(
        _NAME_COOKIE, quote(name), max_age=_YEAR, httponly=True, samesite="lax", path="/"
    )
