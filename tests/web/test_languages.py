"""The page in people's own language: catalogues that fit, and no sentence outside of them."""

import ast
import re
from html.parser import HTMLParser

import pytest
from babel.messages.pofile import read_po

import catalogues
from askmeans._util.message import Message, Number, Percent, plural_message
from askmeans.web import create_app, languages
from askmeans.web.languages import LOCALE, NAMES, language, negotiate, speaking
from askmeans.web.rendering import STATIC, templates
from askmeans.web.words import WORDS
from catalogue_notes import NOTES

COMPLETE = ("ar", "de", "es", "fr", "zh_Hans")  # catalogues in which every sentence is translated
SOURCE = STATIC.parents[1]
TEMPLATES = sorted((STATIC.parent / "templates").glob("*.html"))
# What programs read, or people before there is a page.
FOR_PROGRAMS = {"api.py", "guard.py", "limits.py", "runner.py", "logs.py"}
SENT_BY_PROGRAMS = {
    "A form must be sent as application/x-www-form-urlencoded.",
    "A file must be sent as multipart/form-data.",
    "Sign in first: with the cookie of the page, or with the header Authorization: Bearer.",
}
PLACEHOLDER = re.compile(r"%\((\w+)\)s|\{(\w+)\}")
TAG = re.compile(r"<[^>]*>")
JINJA = re.compile(
    r"\{#.*?#\}|\{%-?\s*trans\b.*?\bendtrans\s*-?%\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
WORD = re.compile(r"[^\W\d_]{2}")
SHOWN = ("title", "alt", "aria-label", "placeholder", "data-title", "aria-description")
SENTENCE = re.compile(r"[A-Z][^\s]*\s.*[.!?…]", re.DOTALL)


def catalogue_of(code):
    path = catalogues.path_of(code)
    with path.open("rb") as file:
        return read_po(file, locale=code)


def strings_of(message):
    """Pairs of English and its translation; one pair for each plural form."""
    if isinstance(message.id, str):
        return [(message.id, message.string)]
    return [(message.id[-1], string) for string in message.string]


# Catalogues.


def test_the_template_has_all_sentences_of_the_program():
    found = catalogues.as_text(catalogues.template())
    assert found.decode() == (LOCALE / "askmeans.pot").read_text(), "run `make catalogues`"


def test_the_glossary_has_the_words_of_the_catalogues():
    catalogs = {code: catalogue_of(code) for code in catalogues.LANGUAGES}
    assert catalogues.glossary(catalogs) == catalogues.GLOSSARY.read_text(), "make catalogues"


def test_every_note_for_translators_is_about_a_sentence_of_the_program():
    template = catalogues.template()
    ids = {each.id if isinstance(each.id, str) else each.id[0] for each in template if each.id}
    assert not NOTES.keys() - ids


def test_there_is_a_catalogue_for_every_language():
    folders = {path.parents[1].name for path in LOCALE.rglob("*.po")}
    assert folders == set(catalogues.LANGUAGES)
    assert folders == {str(language(code).locale) for code in NAMES if code != "en"}


@pytest.mark.parametrize("code", catalogues.LANGUAGES)
def test_a_catalogue_has_the_sentences_of_the_template_and_no_others(code):
    with (LOCALE / "askmeans.pot").open("rb") as file:
        wanted = {(each.context, each.id) for each in read_po(file) if each.id}
    catalogue = catalogue_of(code)
    assert {(each.context, each.id) for each in catalogue if each.id} == wanted
    assert not catalogue.obsolete


@pytest.mark.parametrize("code", COMPLETE)
def test_every_sentence_is_translated(code):
    missing = [
        english
        for message in catalogue_of(code)
        for english, string in strings_of(message)
        if message.id and (not string or message.fuzzy)
    ]
    assert not missing


@pytest.mark.parametrize("code", catalogues.LANGUAGES)
def test_translations_keep_placeholders_tags_and_plural_forms(code):
    catalogue = catalogue_of(code)
    faults = []
    for message in catalogue:
        if not message.id or not any(string for _, string in strings_of(message)):
            continue
        pairs = strings_of(message)
        is_plural = not isinstance(message.id, str)
        if is_plural and len(pairs) != catalogue.num_plurals:
            faults.append((message.id, "plural forms"))
        for english, string in pairs:
            wanted, found = (
                {"".join(match) for match in PLACEHOLDER.findall(text)}
                for text in (english, string)
            )
            # A form for one or two may say the number in words.
            if found != wanted and not (is_plural and found | {"n"} == wanted):
                faults.append((english, f"placeholders {found ^ wanted}"))
            if sorted(TAG.findall(english)) != sorted(TAG.findall(string)):
                faults.append((english, "tags"))
            if '"' in TAG.sub("", string) or "<" in TAG.sub("", string):
                faults.append((english, "a straight quote or a bracket, which ends an attribute"))
            if english.count("%%") != string.count("%%"):
                faults.append((english, "percent signs are doubled"))
            if english[:1].isspace() != string[:1].isspace():
                faults.append((english, "white space"))
    assert not faults


@pytest.mark.parametrize("code", NAMES)
def test_every_template_and_word_of_the_scripts_can_be_written_in_every_language(code):
    with speaking(code):
        assert templates.globals["words"]().startswith("{")
        for message in WORDS.values():
            languages.localize(message)


# No sentence outside of the catalogues.


class _Bare(HTMLParser):
    """Text and attributes that people read, without what is within keys and code."""

    def __init__(self):
        super().__init__()
        self.found, self._within = [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("kbd", "code", "script"):
            self._within.append(tag)
        self.found += [value for name, value in attrs if name in SHOWN and WORD.search(value or "")]

    def handle_endtag(self, tag):
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data):
        text = data.replace("askmeans", "").strip()
        if not self._within and WORD.search(text):
            self.found.append(text)


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.stem)
def test_a_template_has_no_bare_text(file):
    source = re.sub(r"\{% block kind %\}.*?\{% endblock %\}", "", file.read_text())  # a class
    source = source.replace(" selected{%", "{%").replace(" checked{%", "{%")  # bare attributes
    parser = _Bare()
    parser.feed(JINJA.sub("", source))
    assert not parser.found


def test_the_finder_of_bare_text_finds_it():
    parser = _Bare()
    parser.feed(JINJA.sub("", '<p title="Two words">Text <kbd>Enter</kbd> {{ _("fine") }}</p>'))
    assert parser.found == ["Two words", "Text"]


@pytest.mark.parametrize("file", sorted(STATIC.glob("*.js")), ids=lambda file: file.name)
def test_a_script_has_no_bare_sentence(file):
    code = re.sub(r"^\s*//.*$|\s//\s.*$", "", file.read_text(), flags=re.MULTILINE)
    strings = re.findall(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`', code)
    assert not [text for pair in strings for text in pair if re.match(r"[A-Z][a-z]* [a-z$]", text)]


def test_the_scripts_use_all_their_words_and_no_others():
    used = {
        name
        for file in STATIC.glob("*.js")
        for name in re.findall(r'\bword\("(\w+)"', file.read_text())
    }
    assert used == {*WORDS, "percent"}


def _bare_sentences(tree):
    """Sentences in strings that are no message, docstring, log line or error for programs."""
    quiet = {"Message", "plural_message", "error", "warning", "exception", "FastAPI", "Option"}
    found = []

    def walk(node):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            is_error = name.endswith("Error") and name != "RefusalError"
            if name in quiet or is_error:
                for keyword in node.keywords:
                    if keyword.arg == "user_message":
                        walk(keyword.value)
                return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if SENTENCE.fullmatch(node.value):
                found.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else "X" for part in node.values
            )
            if SENTENCE.fullmatch(text):
                found.append(text)
            return
        for child in ast.iter_child_nodes(node):
            walk(child)

    walk(tree)
    return found


@pytest.mark.parametrize("file", sorted(STATIC.parent.glob("*.py")), ids=lambda file: file.name)
def test_the_code_of_the_page_has_no_bare_sentence(file):
    if file.name not in FOR_PROGRAMS:
        assert not {*_bare_sentences(ast.parse(file.read_text()))} - SENT_BY_PROGRAMS


def test_every_message_of_an_error_for_people_can_be_translated():
    bare = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "user_message":
                values = [node.value]
                if isinstance(node.value, ast.IfExp):
                    values = [node.value.body, node.value.orelse]
                bare += [
                    f"{file.name}:{node.value.lineno}"
                    for value in values
                    if isinstance(value, ast.Constant | ast.JoinedStr) and value.value is not None
                ]
    assert not bare


def test_placeholders_of_messages_have_values():
    """A template of the catalogue is a literal, and its values are given."""
    faults = []
    for file in SOURCE.rglob("*.py"):
        if file.name in ("words.py", "message.py"):  # the scripts fill these in
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            name = getattr(getattr(node, "func", None), "id", "")
            if name not in ("Message", "plural_message"):
                continue
            texts = node.args[: 1 if name == "Message" else 2]
            given = {keyword.arg for keyword in node.keywords}
            given |= {"n"} if name == "plural_message" else set()
            for text in texts:
                if not isinstance(text, ast.Constant):
                    faults.append(f"{file.name}:{node.lineno} is no literal")
                elif {match[1] for match in PLACEHOLDER.findall(text.value)} - given:
                    faults.append(f"{file.name}:{node.lineno} {text.value}")
    assert not faults


# The language of a request.


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("de", "de"), ("de-AT,en;q=0.5", "de"), ("it, fr;q=0.5, de;q=0.9", "de"), ("", ""),
        ("zh-CN,zh;q=0.9", "zh-Hans"), ("zh-TW", ""), ("en-GB, de;q=0.9", "en"), ("it", ""),
        ("ar-EG", "ar"), ("de;q=0, fr", "fr"), ("de;q=x, *", ""), ("a" * 10_000, ""),
        (",".join(["xx"] * 1000), ""),
    ],
)  # fmt: skip
def test_the_browser_says_which_language_it_likes(accepted, code):
    assert negotiate(accepted) == code


def lang_of(response):
    return re.search(r'<html lang="([\w-]+)" dir="(\w+)"', response.text).groups()


@pytest.fixture
def place(tmp_path, tools):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path).close()
    return path


def test_a_chosen_language_comes_before_the_owners_the_servers_and_the_browsers(place, tools):
    app = create_app(place, settle_seconds=0.0, language="fr")
    with tools.using(app) as client:
        arabic = {"accept-language": "ar"}
        assert lang_of(client.get("/help", headers=arabic)) == ("fr", "ltr")
        session = app.state.context.session
        session.settings.set_option("language", "es")
        assert lang_of(client.get("/help", headers=arabic)) == ("es", "ltr")
        reply = client.get("/items?group=none&language=de", follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, "/items?group=none")
        assert lang_of(client.get("/help", headers=arabic)) == ("de", "ltr")


def test_the_page_follows_the_browser(place, tools):
    with tools.using(create_app(place, settle_seconds=0.0)) as client:
        assert lang_of(client.get("/help", headers={"accept-language": "ar,en"})) == ("ar", "rtl")
        assert lang_of(client.get("/help", headers={"accept-language": "zh-CN"})) == (
            "zh-Hans", "ltr",
        )  # fmt: skip
        assert lang_of(client.get("/help", headers={"accept-language": "it"})) == ("en", "ltr")


def test_the_sign_in_page_follows_the_browser_and_offers_the_languages(place, tools):
    with tools.knocking(create_app(place, settle_seconds=0.0)) as client:
        reply = client.get("/signin", headers={"accept-language": "de"})
        assert lang_of(reply) == ("de", "ltr")
        offered = re.findall(r'href="/signin\?language=([\w-]+)"', reply.text)
        assert offered == list(NAMES)


@pytest.mark.parametrize("code", ["xx", "", "../../etc", "de%00"])
def test_a_language_that_there_is_not_is_ignored(place, tools, code):
    with tools.using(create_app(place, settle_seconds=0.0)) as client:
        reply = client.get(f"/help?language={code}")
        assert (reply.status_code, lang_of(reply)) == (200, ("en", "ltr"))
        client.cookies.set("askmeans_language", "nothing")
        assert lang_of(client.get("/help")) == ("en", "ltr")


def test_programs_are_answered_in_english(place, tools):
    with tools.using(create_app(place, settle_seconds=0.0, language="ar")) as client:
        assert lang_of(client.get("/help")) == ("ar", "rtl")
        assert client.get("/api/items/99").json()["detail"].isascii()


def test_a_language_has_to_be_one_of_ours(place):
    with pytest.raises(ValueError, match=r"'language' parameter of web\.create_app"):
        create_app(place, language="xx")


# Messages in a language, and numbers.


class _Catalogue(languages.NullTranslations):
    """Turns sentences around, and has two words for several."""

    def gettext(self, message):
        return message[::-1] if "{" not in message else f"[{message}]"

    def ngettext(self, one, several, n):
        return f"<{one if n == 1 else several}>"


@pytest.fixture
def arabic():
    return languages.Language("ar", language("ar").locale, _Catalogue())


def test_values_of_a_message_are_written_in_its_language_and_names_kept_apart(arabic):
    inner = Message("none")
    message = Message("{a} {b} {n}", a="plums", b=inner, n=1200)
    assert arabic.translate(message) == "[\u2068plums\u2069 enon 1,200]"
    assert arabic.translate(plural_message("{n} a", "{n} b", 2)) == "<2 b>"
    assert arabic.translate("plain") == "plain"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("en", ("1,234", "35 %", "> 99 %", "< 1 %", "2.50", "12.5 %")),
        ("de", ("1.234", "35\xa0%", "> 99\xa0%", "< 1\xa0%", "2,50", "12,5\xa0%")),
        ("zh-Hans", ("1,234", "35%", "> 99%", "< 1%", "2.50", "12.5%")),
    ],
)
def test_numbers_are_written_as_in_the_language(code, written):
    with speaking(code):
        assert (
            languages.number(1234), languages.percent(0.35), languages.percent(0.999),
            languages.percent(0.001), languages.decimal(2.5, 2), languages.precise_percent(0.125),
        ) == written  # fmt: skip
        half = languages.localize(Message("{value}", value=Number(0.5)))
        assert half == ("0,5" if code == "de" else "0.5")
        assert languages.localize(Message("{value}", value=Percent(0.125))) == written[-1]


def test_words_of_the_scripts_have_the_plural_forms_of_browsers():
    with speaking("ar"):
        words = str(templates.globals["words"]())
    assert {"zero", "one", "two", "few", "many", "other"} <= set(re.findall(r'"(\w+)":', words))


def test_a_page_in_every_language_is_whole(place, tools):
    for code in NAMES:
        with tools.using(create_app(place, settle_seconds=0.0, language=code)) as client:
            for path in ("/", "/help", "/groups", "/items", "/results", "/history", "/invites"):
                reply = client.get(path)
                assert reply.status_code == 200, (code, path)
                assert lang_of(reply)[0] == code
