"""The languages of the page: which there are, which one a request gets, numbers and dates in them.

Rules of this file:
- English is in the templates and in the program; other languages have a catalogue in `locale`,
  which is read when somebody first asks for the language. What is not translated stays English.
- A request gets the language that was chosen on the page (a cookie), else the owner's setting, else
  that of `askmeans serve --language`, else the browser's, else English.
- Programs (/api) and the command line are answered in English.
"""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from babel import Locale
from babel.dates import format_datetime
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from askmeans._util.checks import check_choice
from askmeans._util.message import Message, Number, Percent
from askmeans.results import rounded

LOCALE = Path(__file__).parent / "locale"
NAMES = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français",
         "zh-Hans": "简体中文", "ar": "العربية"}  # as their speakers call them  # fmt: skip
_COOKIE = "askmeans_language"
_YEAR = 365 * 24 * 3600
_RANGE = re.compile(r"([A-Za-z]{1,8})((?:-[A-Za-z0-9]{1,8})*)(?:\s*;\s*q=([01](?:\.\d{0,3})?))?")
_MOST_RANGES = 20  # of Accept-Language
_ENGLISH_PERCENT = "#,##0 %"
_FIRST_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the page."""

    code: str  # as in HTML
    locale: Locale
    catalogue: NullTranslations

    @property
    def direction(self) -> str:
        """Of writing, as in HTML: ltr or rtl."""
        return str(self.locale.text_direction)

    @property
    def percent_sign(self) -> str:
        """What follows a field for a number of percent."""
        return str(self.locale.number_symbols["latn"]["percentSign"])

    def translate(self, text: str) -> str:
        """A message in this language; other text as it is."""
        if not isinstance(text, Message):
            return text
        if text.plural is None:
            template = self.catalogue.gettext(text.template)
        else:
            template = self.catalogue.ngettext(text.template, text.plural, text.values["n"])
        if not text.values:
            return template
        return template.format(**{name: self._within(each) for name, each in text.values.items()})

    def precise_percent(self, share: float) -> str:
        """A share in percent, with up to three digits."""
        rounded_share = float(f"{share:.3g}")
        formats = self.locale.percent_formats
        pattern = _ENGLISH_PERCENT if self.code == "en" else str(formats[None].pattern)
        return str(format_percent(rounded_share, pattern.replace("0", "0.##"), self.locale))

    def _within(self, value: Any) -> str:
        """A value within a sentence; names of others are kept apart from text from the right."""
        if isinstance(value, Message):
            return self.translate(value)
        if isinstance(value, int):
            return _number(self.code, value)
        if isinstance(value, Number):
            return str(format_decimal(value.value, "#,##0.##", self.locale))
        if isinstance(value, Percent):
            return self.precise_percent(value.share)
        if self.direction == "ltr":
            return str(value)
        return f"{_FIRST_ISOLATE}{value}{_POP_ISOLATE}"


@functools.cache
def language(code: str) -> Language:
    """A language by its code; its catalogue is read once."""
    locale = Locale.parse(code, sep="-")
    if code == "en":
        return Language(code, locale, NullTranslations())
    path = LOCALE / str(locale) / "LC_MESSAGES" / "askmeans.po"
    compiled = BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=locale))
    compiled.seek(0)
    return Language(code, locale, GNUTranslations(compiled))


_current: ContextVar[Callable[[], str]] = ContextVar("language", default=lambda: "en")


def current() -> Language:
    """The language of the request that is being answered; English outside of one."""
    return language(_current.get()())


def speak(code: str) -> None:
    """Answer the rest of this request in a language."""
    _current.set(lambda: code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Write in a language."""
    before = _current.set(lambda: code)
    try:
        yield
    finally:
        _current.reset(before)


def prefer(setting: Callable[[], str]) -> None:
    """Let this request have the language of an owner's setting, unless the person chose one."""
    choose = _current.get()
    if isinstance(choose, _Choice):
        choose.setting = setting


def localize(text: Any) -> Any:
    """A message in the current language; anything else as it is."""
    return current().translate(text) if isinstance(text, Message) else text


def number(value: int) -> str:
    """A whole number, with separators of thousands."""
    return _number(current().code, value)


def decimal(value: float, places: int) -> str:
    """A number with so many decimal places."""
    return str(format_decimal(value, f"#,##0.{'0' * places}", current().locale))


def percent(share: float) -> str:
    """A share in percent; what is not quite nothing or all is not written as such."""
    code = current().code
    if 0.995 <= share < 1.0:
        return f"> {_percent(code, 99)}"
    if 0.0 < share < 0.005:
        return f"< {_percent(code, 1)}"
    return _percent(code, round(100 * share))


def precise_percent(share: float) -> str:
    """A share in percent, with up to three digits."""
    return current().precise_percent(share)


def about(count: float) -> str:
    """An estimated number of items, to two significant digits."""
    return number(rounded(count))


def date(at: datetime) -> str:
    """A date and a time."""
    return str(format_datetime(at, "medium", locale=current().locale))


@functools.lru_cache(4096)  # patterns are slow
def _number(code: str, value: int) -> str:
    return str(format_decimal(value, locale=language(code).locale))


@functools.lru_cache(1024)
def _percent(code: str, value: int) -> str:
    pattern = _ENGLISH_PERCENT if code == "en" else None
    return str(format_percent(value / 100, pattern, language(code).locale))


def check_language(code: str | None, where: str) -> str:
    """A language's code; "" for none."""
    if code:
        check_choice(code, NAMES, "language", where)
    return code or ""


def negotiate(accepted: str) -> str:
    """The language that a browser likes best, by its header Accept-Language; "" for none of ours.

    >>> negotiate("fr-CH, fr;q=0.9, en;q=0.8"), negotiate("zh-CN"), negotiate("zh-TW, en;q=0.5")
    ('fr', 'zh-Hans', 'en')
    """
    wishes = []
    for part in accepted.split(",")[:_MOST_RANGES]:
        match = _RANGE.fullmatch(part.strip())
        if match is not None:
            wishes.append((-float(match[3] or 1), _ours(match[1].lower(), match[2].lower())))
    best = [code for weight, code in sorted(wishes, key=lambda wish: wish[0]) if code and weight]
    return best[0] if best else ""


def _ours(tongue: str, rest: str) -> str:
    """The code of our language for one of a browser."""
    if tongue == "zh":  # Traditional is another script
        return "" if {"hant", "tw", "hk", "mo"} & set(rest.split("-")) else "zh-Hans"
    return tongue if tongue in NAMES else ""


class _Choice:
    """The language of a request, worked out when it is first needed."""

    def __init__(self, headers: Headers, default: str) -> None:
        self._headers = headers
        self._default = default
        self._code = ""
        self.setting: Callable[[], str] = str

    def __call__(self) -> str:
        if not self._code:
            chosen = cookie_parser(self._headers.get("cookie", "")).get(_COOKIE, "")
            self._code = (
                (chosen if chosen in NAMES else "")
                or self.setting()
                or self._default
                or negotiate(self._headers.get("accept-language", ""))
                or "en"
            )
        return self._code


class Languages:
    """The middleware that finds out the language of each request.

    An address with `?language=de` chooses one: it is kept in a cookie, and the response leads to
    the address without it.
    """

    def __init__(self, app: ASGIApp, default: str) -> None:
        self._app = app
        self._default = default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, with its language."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        query = scope.get("query_string", b"")
        if b"language=" in query and scope["method"] in ("GET", "HEAD"):
            pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
            code = dict(pairs).get("language")
            if code in NAMES:
                rest = urlencode([pair for pair in pairs if pair[0] != "language"])
                path = "/" + quote(scope["path"]).lstrip("/")  # never to //another.example
                response = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
                response.set_cookie(_COOKIE, code, max_age=_YEAR, httponly=True, samesite="lax")
                await response(scope, receive, send)
                return
        _current.set(_Choice(Headers(scope=scope), self._default))
        await self._app(scope, receive, send)
