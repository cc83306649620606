"""`askmeans answer`: a session's questions in the terminal, one after the other."""

import sys
from contextlib import suppress

from askmeans.cli.options import Which
from askmeans.cli.printing import complain, write
from askmeans.cli.sessions import after_undo, describe, is_unsure, opened, parse_value
from askmeans.exceptions import AnswerError, AskmeansError, SessionError, StoreError
from askmeans.sessions import Question, Session, SessionState

__all__ = ["run"]

_HELP = (
    "Type a number from 0 to 1 or a percentage (25%), ? if you cannot say, s to skip, "
    "u to undo the last answer, q to stop. Every answer is saved at once."
)
_GROUP_HELP = (
    "Type a group's number or name, shares like 1:.7,2:.3, 0 or none for none of these, ? if you "
    "cannot say, s to skip, u to undo the last answer, q to stop. Every answer is saved at once."
)
_RELATIVE_HELP = (
    "Type a or b, both if it is as much like one as like the other, ? if you cannot say, s to "
    "skip, u to undo the last answer, q to stop. Every answer is saved at once."
)
_HELPS = {"group": _GROUP_HELP, "relative": _RELATIVE_HELP}
_REPLIES = {"group": "group, shares, none", "relative": "a, b, both"}


def run(which: Which, annotator: str) -> bool:
    """Ask until there is nothing to ask; False when the person stops before."""
    interrupted = False
    with opened(which) as session:
        if not sys.stdin.isatty():
            complain("reading answers from standard input.")
        write(_HELPS.get(session.config.ask, _HELP) + "\n")
        try:
            while True:
                try:
                    questions = session.ask(annotator=annotator)
                except AskmeansError as error:
                    if session.status().state is not SessionState.STUCK:
                        raise
                    _stuck(session, error, annotator)
                    continue
                if not questions:
                    break
                _one(session, questions[0], annotator)
        except (EOFError, KeyboardInterrupt):
            interrupted = True
            write("Stopped; your answers are kept.\n")
            with suppress(StoreError):  # leases end by themselves, too
                session.leave(annotator=annotator)
        report = session.status(annotator=annotator)
        state = report.state
        write(f"{report.answered} questions answered; {state}.\n")
        if state is SessionState.WAITING:
            write("".join(f"  {holder}.\n" for holder in report.holders))
        return not interrupted


def _one(session: Session, question: Question, annotator: str) -> None:
    """Put one question and do what is replied; it comes again where that was no answer."""
    left = session.status(annotator=annotator).left
    about = f"{left.low}" if left.low == left.high else f"{left.low} to {left.high}"
    write(f"\nQuestion {question.id}, about {about} left\n")
    replies = _REPLIES.get(question.kind, "0..1")
    write(f"{describe(session, question)} [{replies}, ?, s, u, q] ")
    line = sys.stdin.readline()
    reply = line.strip().lower()
    if not line or reply == "q":
        raise EOFError
    if reply == "s":
        session.skip(question.id, annotator=annotator)
        return
    if reply == "u":
        _undo(session, annotator)
        return
    value = parse_value(session, question, line.strip())
    if value is None:
        write(f"{reply!r} is no answer. {_HELPS.get(question.kind, _HELP)}\n")
    elif is_unsure(value):
        session.unsure(question.id, annotator=annotator)
    else:
        try:
            session.tell(question.id, value, annotator=annotator)
        except AnswerError as error:  # no point of the scale
            write(f"{error}\n")


def _stuck(session: Session, error: AskmeansError, annotator: str) -> None:
    """Say why there is no question, and offer the way out."""
    write(f"\nStuck: {error}\nu to undo the last answer, q to stop. [u, q] ")
    line = sys.stdin.readline()
    if not line or line.strip().lower() == "q":
        raise EOFError
    if line.strip().lower() == "u":
        _undo(session, annotator)


def _undo(session: Session, annotator: str) -> None:
    """Take back the last answer, and say what follows."""
    try:
        undone = session.undo(annotator=annotator)
    except SessionError as error:
        write(f"{error}\n")
        return
    if not undone.reopened:
        write(f"{after_undo(undone, session.group_names)}\n")
    if undone.void:
        write(f"{len(undone.void)} later questions followed from it and may not come again.\n")
