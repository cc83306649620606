"""`askmeans invite`: a link for one person, the list of links, and an end to some."""

import dataclasses
from datetime import UTC, datetime
from urllib.parse import urlsplit

from askmeans.cli.options import PORT, Which
from askmeans.cli.printing import say
from askmeans.cli.sessions import opened, show_json
from askmeans.sessions import Invite, Session
from askmeans.sessions.invites import Role
from askmeans.sessions.served import recall

__all__ = ["invite", "invites", "revoke"]

_HERE = ("127.0.0.1", "::1", "localhost")


def invite(which: Which, person: str, role: Role, days: float, *, address: str | None) -> None:
    """Print a link for somebody, to where the page is, or was served last from this machine."""
    with opened(which) as session:
        served = recall(session)
        address = address or (served.address if served else f"http://127.0.0.1:{PORT}")
        token = session.invite(person, role=role, days=days)
        until = session.invites()[-1].until
        say(f"{address.rstrip('/')}/?token={token}")
        say(f"For {person}, {role}, until {_time(until)}; whoever has it comes in as {person}. "
            "It is not shown again.")  # fmt: skip
        if urlsplit(address).hostname in _HERE:
            say("It works on this machine only. For others: serve with --public-host, or add "
                "--address https://NAME here.")  # fmt: skip


def invites(which: Which) -> None:
    """List all invitations."""
    with opened(which) as session:
        found = session.invites()
        if which.as_json:
            show_json(session, {"invites": [dataclasses.asdict(one) for one in found]})
            return
        for one in found:
            say(_line(one))
        if not found:
            say("Nobody is invited yet: askmeans invite DB NAME")


def revoke(which: Which, who: str) -> None:
    """End the invitation of a number, or all of a person's."""
    with opened(which) as session:
        for one in session.revoke(_meant(session, who)):
            say(_line(one))


def _meant(session: Session, who: str) -> int | str:
    """A name, where somebody has it; else a number."""
    named = {one.name for one in session.invites()}
    return int(who) if who not in named and who.isascii() and who.isdigit() else who


def _line(one: Invite) -> str:
    """An invitation in a line."""
    used = "never used" if one.used is None else f"last used {_time(one.used)}"
    return (
        f"{one.number}  {one.name}  {one.role}  {one.state}  until {_time(one.until)}  {used}  "
        f"(by {one.made_by})"
    )


def _time(at: float) -> str:
    """A time, to the minute."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"
