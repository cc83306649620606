"""Extract the page's sentences, and update the catalogues of its languages: `make catalogues`.

`src/askmeans/web/locale/askmeans.pot` gets all sentences in their order in the files; each
`LANG/LC_MESSAGES/askmeans.po` the same ones with its translations. What is new or was changed is
empty there (the page shows English), and what is gone is left out. Nothing changes where no
sentence did.
"""

import io
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from catalogue_notes import NOTES

SOURCE = Path(__file__).parents[1] / "src" / "askmeans"
LOCALE = SOURCE / "web" / "locale"
LANGUAGES = ("ar", "de", "es", "fr", "zh_Hans")
METHODS = [("web/templates/**.html", "jinja2"), ("notebook/**.html", "jinja2"), ("**.py", "python")]
OPTIONS = {"web/templates/**.html": {"trimmed": "true", "newstyle_gettext": "true"}}
TERMS = ("Item", "Group", "Sub-groups<span class=\"heard\"> of %(name)s</span>", "Your answer",
         "None of these", "Cannot say", "Skip", "Undo", "Take back", "Confidence",
         "our guess", "Guidelines", "Gold questions", "Contradictions", "annotator", "owner",
         "Invitations", "Your link, or its token", "Pin", "Results", "Map", "Language models",
         "Projects", "Practice")  # fmt: skip
KEYWORDS = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "Message": None,
    "plural_message": (1, 2),
}
GLOSSARY = LOCALE / "glossary.md"
_TAGS = re.compile("<.*>")
_CHANGING = re.compile(
    rb'^"(POT-Creation|PO-Revision|Generated|Last-Tr|Language-Team|Project-Id|Report-M).*\n', re.M
)


def template() -> Catalog:
    """All sentences of the program."""
    catalog = Catalog(
        header_comment="# Sentences of askmeans.", project="askmeans", charset="utf-8", fuzzy=False
    )
    found = extract_from_dir(
        SOURCE, METHODS, {**OPTIONS, "notebook/**.html": OPTIONS["web/templates/**.html"]},
        keywords=KEYWORDS,
        directory_filter=lambda path: Path(path).name not in ("locale", "__pycache__"),
    )  # fmt: skip
    for file, line, message, _, context in sorted(found, key=lambda each: each[:2]):
        english = message if isinstance(message, str) else message[0]
        notes = [NOTES[english]] if english in NOTES else []
        catalog.add(message, None, [(file, line)], auto_comments=notes, context=context)
    return catalog


def as_text(catalog: Catalog) -> bytes:
    """A catalogue as a file, without what changes at each run."""
    text = io.BytesIO()
    write_po(text, catalog, include_lineno=False, ignore_obsolete=True, width=100)
    return _CHANGING.sub(b"", text.getvalue())


def updated(language: str, messages: Catalog) -> Catalog:
    """The catalogue of a language with these messages."""
    file = path_of(language)
    if not file.exists():
        catalog = Catalog(Locale.parse(language), project="askmeans", charset="utf-8", fuzzy=False)
    else:
        with file.open("rb") as stream:
            catalog = read_po(stream, locale=language)
    catalog.header_comment = f"# Translations of askmeans: {Locale.parse(language).english_name}."
    catalog.update(messages, no_fuzzy_matching=True, update_creation_date=False)
    return catalog


def glossary(catalogs: Mapping[str, Catalog]) -> str:
    """The glossary, with the words that the catalogues have for its terms."""
    head, mark, _ = GLOSSARY.read_text().partition("<!-- words -->\n")
    rows = [("English", *catalogs), ("---",) * (1 + len(catalogs))]
    rows += [(term, *(str(each[term].string) for each in catalogs.values())) for term in TERMS]
    lines = [f"| {' | '.join(_TAGS.sub('', cell) for cell in row)} |\n" for row in rows]
    return head + mark + "".join(lines)


def path_of(language: str) -> Path:
    """The file of a language."""
    return LOCALE / language / "LC_MESSAGES" / "askmeans.po"


def main() -> int:
    """Write all files."""
    messages = template()
    LOCALE.joinpath("askmeans.pot").write_bytes(as_text(messages))
    print(f"{len(messages)} sentences")
    catalogs = {language: updated(language, messages) for language in LANGUAGES}
    GLOSSARY.write_text(glossary(catalogs))
    for language, catalog in catalogs.items():
        path_of(language).parent.mkdir(parents=True, exist_ok=True)
        path_of(language).write_bytes(as_text(catalog))
        done = sum(bool(each.id) and not each.fuzzy and all(_strings(each)) for each in catalog)
        print(f"{language}: {done} translated")
    return 0


def _strings(message: object) -> list[str]:
    """The translations of a message: one, or one for each plural form."""
    string = message.string  # type: ignore[attr-defined]
    return list(string) if isinstance(string, (list, tuple)) else [string]


if __name__ == "__main__":
    sys.exit(main())
