"""The sentences of the page's scripts: `static/words.js` reads them from the page.

A script asks for one by its name here: `word("sending", { file: "birds.csv" })`.
"""

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from askmeans._util.message import Message, plural_message
from askmeans.web.languages import Language, percent, speaking

_MANY = (*range(201), 1_000_000)  # among which every plural form of a language is
WORDS = {
    "early": Message("Too early for this card: press it again."),
    "checking": Message("Check {number} of {all}"),
    "unreachable": Message(
        "Not saved yet: the server does not answer. Your answer is kept here and sent when it is "
        "back; whoever started askmeans may have to start it again."
    ),
    "busy": Message("Not saved yet: the server is busy. Trying again …"),
    "no_answer": Message("Not saved: the server gave no answer to this. Reload the page."),
    "second_group": Message("{group}, and which other group?"),
    "share": Message("{share} {group}"),
    "renewed": Message("The results were renewed."),
    "move_items": plural_message("Move {n} item to", "Move {n} items to", 1),
    "move": Message("Move to …"),
    "copied": Message("Copied"),
    "sending": Message("Sending {file} …"),
    "not_arrived": Message("The file did not arrive: the server cannot be reached."),
}


def words_of(language: Language) -> Markup:
    """All words in a language, as JSON within HTML; plurals by the names that browsers use."""
    words: dict[str, str | dict[str, str]] = {}
    for name, message in WORDS.items():
        if message.plural is None:
            words[name] = language.translate(message)
            continue
        samples = {language.locale.plural_form(n): n for n in reversed(_MANY)}
        words[name] = {
            form: language.catalogue.ngettext(message.template, message.plural, n)
            for form, n in samples.items()
        }
    with speaking(language.code):
        words["percent"] = percent(0.0).replace("0", "{n}")
    return htmlsafe_json_dumps(words)
