"""The commands to answer: answer, ask, tell, undo, status, panel."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from askmeans.cli.options import (
    Annotator,
    Database,
    Name,
    QuestionNumber,
    SessionOptions,
    Value,
    command,
)
from askmeans.cli.output import add_hint, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from askmeans.sessions import Session, Status

_MAX_CONFLICTS = 10  # that `status` lists


@command
def answer(database: Database, annotator: Annotator = "me", name: Name = None) -> bool:
    """Answer questions in the terminal until none is left, or you stop (exit code 3)."""
    from askmeans.cli.questions import Conversation
    from askmeans.oracles.console import Terminal
    from askmeans.sessions import SessionState

    with SessionOptions(database=database, name=name).open() as session:
        finished = Conversation(session, annotator, Terminal("suq")).run()
        report = session.status(annotator=annotator)
        say(f"{report.answered} questions answered; {report.state}.")
        if report.state is SessionState.WAITING:
            for holder in report.holders:
                say(f"  {holder}.")
        return finished


@command
def ask(
    options: SessionOptions,
    n: Annotated[int, Option("-n", "--questions", help="How many at most.")] = 1,
    annotator: Annotator = "me",
) -> bool:
    """Print open questions; they are reserved for the annotator for a while."""
    from askmeans.cli.questions import card_of, question_values
    from askmeans.sessions import SessionState

    with options.open() as session:
        questions = session.ask(n, annotator=annotator)
        report = session.status(annotator=annotator)
        lines = [
            f"question {q.id}\n{card_of(session, q, session.groups.choices(q.cluster)).text}"
            for q in questions
        ]
        if not questions:
            lines.append(f"No question for {annotator}: {report.state}.")
        if report.state is SessionState.WAITING:
            lines += [f"  {holder}" for holder in report.holders]
        listed = [question_values(session, question) for question in questions]
        holding = [dataclasses.asdict(each) for each in report.holding]
        values = {"state": report.state, "questions": listed, "holding": holding}
        options.show(session, values, *lines)
        return bool(questions)


@command
def tell(
    options: SessionOptions,
    question: QuestionNumber,
    value: Value,
    annotator: Annotator = "me",
    key: Annotated[
        str | None, Option(help="An answer that is sent twice with one key is stored once.")
    ] = None,
) -> None:
    """Answer a question by its number; the answer is on disk when the command returns."""
    from askmeans._util.checks import check_name
    from askmeans.cli.questions import answer_text, is_unsure, parse_value, typed_number
    from askmeans.sessions.events import as_dict

    check_name(annotator, "annotator", "askmeans tell")
    who: dict[str, Any] = {"annotator": annotator, "key": key}
    with options.open() as session:
        number, text = typed_number(question, "QUESTION"), value.strip()
        if text.lower() == "skip":
            receipt = session.skip(number, **who)
        else:
            other_answers = "'?' for cannot say, or 'skip'"
            parsed = parse_value(session, session.question(number), text, other_answers)
            if is_unsure(parsed):
                receipt = session.unsure(number, **who)
            else:
                receipt = session.tell(number, parsed, **who)
        saved = (
            "skip"
            if receipt.kind == "skip"
            else answer_text(receipt.value, session.groups.all_names)
        )
        late = " (late)" if receipt.late else ""
        repeated = ", as before" if receipt.repeated else ""
        line = f"Kept: {saved} to question {receipt.question}{late}{repeated}."
        options.show(session, as_dict(receipt), line)


@command
def undo(
    options: SessionOptions,
    question: Annotated[
        int | None, Option(help="The question whose answer is taken back; default: the last.")
    ] = None,
    annotator: Annotator = "me",
) -> None:
    """Take back the annotator's last answer."""
    from askmeans.cli.questions import undo_text

    with options.open() as session:
        undone = session.undo(question, annotator=annotator)
        values = {
            "question": None if undone.question is None else undone.question.id,
            "kind": undone.kind,
            "value": undone.value,
            "reopened": undone.reopened,
            "value_now": undone.value_now,
        }
        options.show(session, values, undo_text(undone, session.groups.all_names))


@command
def status(
    options: SessionOptions,
    annotator: Annotated[
        str | None, Option(help="State for this annotator; default: for all.")
    ] = None,
) -> None:
    """Show the state of a session: questions answered and left, annotators, expected errors."""
    with options.open() as session:
        report = session.status(annotator=annotator, estimate=True)
        lines = [] if options.as_json else _status_lines(session, report, options.database)
        options.show(session, report, *lines)


def _status_lines(session: "Session", report: "Status", database: str) -> "Iterator[str]":
    """Format the status of a session."""
    from askmeans.cli.questions import kind_text
    from askmeans.sessions import SessionState, conflicts

    left, (low, high) = report.left, report.left.minutes
    budget = "" if report.budget is None else f" of a budget of {report.budget}"
    yield f"session: {report.name}, {report.state}"
    yield f"answered: {report.answered}{budget}; imported: {report.held}"
    yield f"open now: {report.open} (round {report.round}), {report.leased} with an annotator"
    yield from (f"  {holder}" for holder in report.holders)
    minutes = f"{low:.0f} to {high:.0f} minutes"
    yield f"left: {left.low} to {left.high} questions, {minutes} ({left.basis})"
    for name, counts in report.annotators.items():
        by_kind = ", ".join(f"{kind_text(kind)} {n}" for kind, n in counts.items() if n)
        yield f"  {name}: {by_kind}"
    if report.expected_wrong is None and report.estimated_error is not None:
        yield f"estimated error: {report.estimated_error:.3f} ({report.error_basis})"
    else:
        yield report.wrong_items
    if report.good_enough:
        yield "Good enough: you may stop now; more answers still help."
    elif report.settled and report.state is SessionState.ASKING:
        yield "As many items were asked about as planned; more answers still help."
    if report.contradictions:
        yield f"contradictions: {len(report.contradictions)}"
        names = session.groups.all_names
        for conflict in report.contradictions[:_MAX_CONFLICTS]:
            yield f"  {conflicts.describe(conflict, lambda row: session.item(row).label, names)}"
    yield f"clusters: {'; '.join(session.groups.names)}"
    if report.suggestion:
        yield add_hint(report.suggestion, database)
    yield from (f"note: {note}" for note in report.notes)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PanelOptions:
    """The options of `askmeans panel`."""

    url: Annotated[
        str | None, Option("--model", metavar="URL", help="An OpenAI-compatible endpoint to ask.")
    ] = None
    model_name: Annotated[str | None, Option(help="The model's name there.")] = None
    share: Annotated[
        float | None, Option(help="Share of questions about random items, to audit models.")
    ] = None
    items: Annotated[int | None, Option(help="Number of random items; default: all.", min=1)] = None
    votes: Annotated[int, Option(help="Requests per item; the answer is their mean.")] = 1
    max_cost: Annotated[
        float | None, Option(help="Most money, earlier runs included; needs --prices.")
    ] = None
    max_tokens: Annotated[int | None, Option(help="Most tokens, earlier runs included.")] = None
    prices: Annotated[str | None, Option(metavar="IN,OUT", help="Price of a million tokens.")] = (
        None
    )
    cache: Annotated[Path | None, Option(help="File of raw replies; default: beside DB.")] = None
    concurrency: Annotated[int, Option(help="Requests at a time.")] = 8
    key_variable: Annotated[str, Option(help="Environment variable with the key.")] = (
        "OPENAI_API_KEY"
    )
    logprobs: Annotated[bool, Option("--logprobs", help="Use probabilities as shares.")] = False
    extra: Annotated[
        str | None, Option(metavar="JSON", help="Sent with every request; null removes an option.")
    ] = None
    again: Annotated[bool, Option("--again", help="Ask about answered items again.")] = False
    forecast: Annotated[bool, Option("--forecast", help="Only print the cost.")] = False
    names: Annotated[bool, Option("--names", help="Propose names of groups only.")] = False
    session: SessionOptions


@command
def panel(options: PanelOptions) -> bool:
    """Let a language model answer as an adviser; show how far people agree with it."""
    from askmeans.cli.panel import run

    return run(options)
