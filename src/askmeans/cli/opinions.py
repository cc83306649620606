"""`askmeans agreement`, `adjudicate` and `gold`: several opinions of one question."""

import dataclasses
import math
from pathlib import Path

from askmeans.cli.options import Which
from askmeans.cli.printing import say
from askmeans.cli.sessions import answers_in, is_unsure, opened, parse_value, show_json, whole
from askmeans.exceptions import AnswerError
from askmeans.queries.shares import row_text
from askmeans.sessions import Disagreement, Session

__all__ = ["adjudicate", "agreement", "gold"]


def agreement(which: Which, n: int) -> None:
    """Print how far people agree, and where they do not."""
    with opened(which) as session:
        report, listed = session.agreement(), session.disagreements(n)
        if which.as_json:
            questions = [dataclasses.asdict(each) for each in listed]
            show_json(session, {**dataclasses.asdict(report), "disagreements": questions})
            return
        if math.isnan(report.alpha):
            say(f"Nothing to compare yet: {report.questions} questions have several answers.")
            return
        say(f"Krippendorff's alpha: {report.alpha:.3f}, of {report.questions} questions")
        for title, alphas in (("person", report.by_person), ("group", report.by_group)):
            for who, alpha in alphas.items():
                if not math.isnan(alpha):
                    say(f"  {title} {who}: {alpha:.3f}")
        for pair in report.pairs:
            one, other = pair.people
            say(f"  {one} and {other}: {pair.difference:.2f} apart, {pair.questions} questions")
        for each in listed:
            say(_line(session, each))


def _line(session: Session, found: Disagreement) -> str:
    """A question that people answered differently."""
    names = session.cluster_names
    items = ", ".join(session.item(row).label for row in found.items)

    def shown(value: object) -> str:
        return row_text(value, names) if isinstance(value, tuple) else f"{value:g}"

    said = "; ".join(f"{who}: {shown(value)}" for who, value in found.answers.items())
    decided = "" if found.decided is None else f"; decided: {shown(found.decided)}"
    return f"question {found.question} ({items}): {said}{decided}"


def adjudicate(which: Which, question: str, reply: str, annotator: str) -> None:
    """Take a decision in."""
    with opened(which) as session:
        number, text = whole(question, "QUESTION"), reply.strip()
        value = None
        if text.lower() != "back":
            value = parse_value(session, session.question(number), text)
            if value is None or is_unsure(value):
                raise AnswerError(
                    "VALUE must be an answer to the question, as in `askmeans tell`, or 'back'. "
                    f"Got {text!r:.60} instead."
                )
        receipt = session.adjudicate(number, value, annotator=annotator)
        if which.as_json:
            show_json(session, dataclasses.asdict(receipt))
        else:
            say("Decided; it counts instead of the answers." if value is not None
                else "Taken back; the answers count again.")  # fmt: skip


def gold(which: Which, file: Path | None, feedback: bool | None) -> None:
    """Take known answers in, and print how people answered such questions."""
    with opened(which) as session:
        held = None if file is None else session.add_gold(answers_in(session, file))
        if feedback is not None:
            session.set_option("gold_feedback", feedback)
        scores = session.gold_report()
        if which.as_json:
            told = {who: dataclasses.asdict(score) for who, score in scores.items()}
            added = {} if held is None else dataclasses.asdict(held)
            show_json(session, {**added, "people": told})
            return
        if held is not None:
            say(f"{held.new} gold questions added, {held.there} were there already.")
            if held.otherwise:
                say(f"{held.otherwise} were there with another answer, which stays.")
        for who, score in scores.items():
            say(f"  {who}: {score.questions} gold questions, {score.difference:.2f} off on average")
        if not scores:
            say("Nobody has answered a gold question yet.")
