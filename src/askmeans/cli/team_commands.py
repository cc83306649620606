"""The commands for what several opinions, models and time make of a session, and their options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from askmeans.cli.options import STOPPED, Json, Name, Which, command, database_and, named_words

__all__ = ["PanelOptions"]


@command
def agreement(
    n: Annotated[int, typer.Option("-n", "--questions", help="How many to list at most.")] = 10,
    *,
    which: Which,
) -> None:
    """Tell how far people agree, who differs from whom, and on which questions."""
    from askmeans.cli import opinions

    opinions.agreement(which, n)


@command
def adjudicate(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] QUESTION VALUE",
            help="As for tell; VALUE 'back' takes a decision back.",
        ),
    ],
    annotator: Annotated[str, typer.Option(help="Who decides.")] = "me",
    name: Name = None,
    json: Json = False,
) -> None:
    """Decide a question that people answered differently: the decision counts instead."""
    from askmeans.cli import opinions

    database, question, value = named_words(words, "DB", "QUESTION", "VALUE")
    which = Which(database=database, name=name, as_json=json)
    opinions.adjudicate(which, question, value, annotator)


@command
def gold(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DB] [FILE]",
            help="The database, and a CSV of known answers: item (an id) and value (a group).",
        ),
    ] = None,
    feedback: Annotated[
        bool | None,
        typer.Option(
            "--feedback/--no-feedback", help="Whether people are told the known answer after it."
        ),
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Mix questions whose answers are known with the others, unmarked; tell how people did.

    It needs the default strategy: a plan of the paper asks its own questions only.
    """
    from askmeans.cli import opinions

    database, file = database_and(words, "FILE")
    which = Which(database=database, name=name, as_json=json)
    opinions.gold(which, None if file is None else Path(file), feedback)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOptions:
    """What `askmeans panel` is told."""

    url: Annotated[
        str | None,
        typer.Option("--model", metavar="URL", help="An OpenAI-compatible endpoint to ask."),
    ] = None
    model_name: Annotated[str | None, typer.Option(help="Which model there.")] = None
    share: Annotated[
        float | None,
        typer.Option(help="Part of people's questions about random items, to audit models."),
    ] = None
    items: Annotated[
        int | None, typer.Option(help="How many items, at random; default: all.", min=1)
    ] = None
    votes: Annotated[int, typer.Option(help="How often each item is asked about.")] = 1
    max_cost: Annotated[
        float | None,
        typer.Option(help="Money to spend at most, earlier runs included; needs --prices."),
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens to use at most, earlier runs included.")
    ] = None
    prices: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="What a million tokens cost.")
    ] = None
    cache: Annotated[Path | None, typer.Option(help="File of raw answers; default: beside DB.")] = (
        None
    )
    concurrency: Annotated[int, typer.Option(help="Requests at a time.")] = 8
    key_variable: Annotated[str, typer.Option(help="Environment variable that has the key.")] = (
        "OPENAI_API_KEY"
    )
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Take probabilities of answers as shares.")
    ] = False
    extra: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Sent with every request; null for what is not."),
    ] = None
    again: Annotated[
        bool, typer.Option("--again", help="Ask about items that the model answered, too.")
    ] = False
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Say what it would cost, and ask nothing.")
    ] = False
    names: Annotated[
        bool, typer.Option("--names", help="Propose names and descriptions; changes nothing.")
    ] = False
    which: Which


@command
def panel(options: PanelOptions) -> None:
    """Let a language model answer ahead, and tell how much rests on whom."""
    from askmeans.cli.panel import run

    if not run(options):
        raise typer.Exit(STOPPED)


@command
def audit(which: Which) -> None:
    """List all that happened in a session: when, who, from which client, and what."""
    from askmeans.cli import auditing

    auditing.audit(which)


@command
def pseudonym(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] PERSON", help="Whose name is replaced.")
    ],
    pseudonym: Annotated[
        str | None, typer.Option("--as", help="What takes its place; default: person 1 and so on.")
    ] = None,
    annotator: Annotated[str, typer.Option(help="Who replaces it.")] = "me",
    name: Name = None,
) -> None:
    """Replace a person's name in a session's log and exports, and log that it was done."""
    from askmeans.cli import auditing

    database, person = named_words(words, "DB", "PERSON")
    auditing.pseudonymize(Which(database=database, name=name), person, pseudonym, annotator)
