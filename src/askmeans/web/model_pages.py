"""Language models for owners: an endpoint, a budget, the cost, a run, and how far to trust it.

Rules of this file:
- The key is the server's own, in the environment; no page takes or shows one. It is sent to one
  endpoint only, that of OPENAI_BASE_URL (by default OpenAI's).
- Other endpoints are called without a key, and only where the page is for this machine alone: who
  owns a session that others reach cannot make the server call addresses of their choice.
- A run needs a budget, and one model answers at a time. It ends with its owner's invitation.
"""

import logging
import os
import re
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from starlette.responses import Response

from askmeans._util.background import background_pool
from askmeans._util.message import Message, plural_message
from askmeans.exceptions import (
    AskmeansError,
    InvitationError,
    MissingExtraError,
)
from askmeans.llm import ModelOracle, model_client
from askmeans.llm.cost import ModelCost
from askmeans.queries import GroupQueries
from askmeans.sessions import Person, Session
from askmeans.sessions.model_answers import (
    answer_ahead,
    model_prompts,
    replies_file,
    rows_to_ask,
)
from askmeans.web.context import AppContext, redirect
from askmeans.web.errors import RefusalError, explain
from askmeans.web.forms import Form, SentForm

_log = logging.getLogger("askmeans.web")
_KEY = "OPENAI_API_KEY"
_OPENAI = "https://api.openai.com/v1"
_URL = re.compile(r"https?://[\w.:\[\]-]+(/[\w./~-]*)?", re.ASCII)
_LOCAL = "http://localhost:11434/v1"  # an example
_REVOKED = Message("It was stopped: the link of its owner ended. What it answered before is kept.")
_FIELDS = ("url", "model", "price_in", "price_out", "max_cost", "max_tokens", "items")


@dataclass(slots=True)
class Run:
    """The current run of a model, or the last one."""

    model: str
    n_items: int
    done: int = 0
    is_running: bool = True
    is_stopped: bool = False
    outcome: str = ""  # in a sentence, once it is over
    failed: bool = False
    cost: ModelCost | None = None


class _StopError(Exception):
    """An owner stopped the run."""


class ModelRuns:
    """Lets one model at a time answer in the background."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._pool = background_pool(1, "model")
        self.last: Run | None = None

    def start(self, oracle: ModelOracle, rows: list[int], owner: Person) -> None:
        """Start an owner's run, unless one is in progress."""
        with self._lock:
            if self.last is not None and self.last.is_running:
                raise RefusalError(
                    Message(
                        "{model} is answering. Wait for it, or stop it first.",
                        model=self.last.model,
                    )
                )
            self.last = Run(oracle.name, len(rows))
            self._pool.submit(self._do, self.last, oracle, rows, owner)

    def stop(self) -> None:
        """Stop after the open requests."""
        if self.last is not None:
            self.last.is_stopped = True

    def close(self) -> None:
        """Stop, and wait."""
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _do(self, run: Run, oracle: ModelOracle, rows: list[int], owner: Person) -> None:
        def advance(n: int) -> None:
            run.done += n
            run.cost = oracle.spent
            if run.is_stopped:
                raise _StopError

        try:
            with self._session.people.acting_as(owner):
                why = answer_ahead(self._session, oracle, rows, advance)
            run.outcome = (
                Message("It {reason}.", reason=why)
                if why
                else plural_message(
                    "It answered about all {n} item.",
                    "It answered about all {n} items.",
                    run.n_items,
                )
            )
        except _StopError:
            run.outcome = Message("It was stopped. What it answered is kept.")
        except InvitationError:
            run.outcome, run.failed = _REVOKED, True
        except AskmeansError as error:
            run.outcome, run.failed = error.user_message or str(error), True
        except Exception:
            _log.exception("A model's run ended.")
            run.outcome, run.failed = Message("Something went wrong here. The log says more."), True
        finally:
            run.cost, run.is_running = oracle.spent, False


def add_models(router: APIRouter, context: AppContext) -> None:
    """The page, its forms, and what is shown while a model answers."""
    session = context.session
    runs = ModelRuns(session)
    context.at_end.append(runs.close)

    def page(request: Request, form: Form | None = None, **values: Any) -> Response:
        typed = {name: (form.get(name) if form else None) or "" for name in _FIELDS}
        defaults = {"url": _own_endpoint(), "max_tokens": "" if form else "1000000"}
        report = session.advisers.report()
        shown: dict[str, Any] = {
            "typed": {name: typed[name] or defaults.get(name, "") for name in _FIELDS},
            "forecast": None, "trouble": "", "report": report, "run": runs.last,
            "to_check": [context.cards.item(row) for row in report.to_check],
            "has_key": bool(os.environ.get(_KEY)), "own": _own_endpoint(),
            "can_answer": session.config.ask == "group", "n_items": len(session.rows),
            "is_here": not request.state.secure, "local": _LOCAL,
        }  # fmt: skip
        return context.page(request, "models.html", **shown | values)

    @router.get("/models")
    def show(request: Request) -> Response:
        return page(request)

    @router.post("/models")
    def ask(request: Request, form: SentForm) -> Response:
        """Show the cost of a run, or start it."""
        context.check_form(form)
        try:
            oracle = _oracle(session, form, is_here=not request.state.secure)
            rows = rows_to_ask(session, oracle.name, form.integer("items") or None
                               if form.get("items") else None)  # fmt: skip
            if form.get("run"):
                if not rows:
                    raise RefusalError(
                        Message(
                            "{model} has answered about these items already.", model=oracle.name
                        )
                    )
                runs.start(oracle, rows, request.state.person)
                return redirect("/models", Message("{model} is answering.", model=oracle.name))
            queries = GroupQueries(np.array(rows, dtype=np.int64), len(session.groups))
            return page(request, form, forecast=oracle.forecast(queries), n_asked=len(rows))
        except AskmeansError as error:
            text = str(error) if isinstance(error, MissingExtraError) else explain(error)
            return page(request, form, trouble=text)

    @router.post("/models/stop")
    def stop(form: SentForm) -> Response:
        context.check_form(form)
        runs.stop()
        return redirect("/models", Message("It stops after the requests that are under way."))


def _own_endpoint() -> str:
    """The endpoint that gets the server's key."""
    return (os.environ.get("OPENAI_BASE_URL") or _OPENAI).rstrip("/")


def _oracle(session: Session, form: Form, *, is_here: bool) -> ModelOracle:
    """The model of a form, with its budget."""
    url, own = form.text("url").rstrip("/"), _own_endpoint()
    if not _URL.fullmatch(url):
        raise RefusalError(
            Message(
                "An endpoint's address is http:// or https://, a host and a path, without a key."
            )
        )
    if url != own and not is_here:
        raise RefusalError(
            Message(
                "On a page that others reach, models are asked at {server} only. Use that address.",
                server=own,
            )
        )
    max_cost, max_tokens = _optional(form, "max_cost"), _optional(form, "max_tokens")
    if max_cost is None and max_tokens is None:
        raise RefusalError(
            Message("A run needs a budget: type the most money, with prices, or the most tokens.")
        )
    price_in, price_out = _optional(form, "price_in"), _optional(form, "price_out")
    if max_cost is not None and (price_in is None or price_out is None):
        raise RefusalError(
            Message("A budget of money needs both prices. Type them, or the most tokens instead.")
        )
    client = model_client(url, form.text("model"), key_variable=_KEY if url == own else "")
    prompts = model_prompts(session, session.groups)
    return ModelOracle(
        client, guidelines=prompts.guidelines, show=prompts.shown, names=prompts.names,
        exemplars=prompts.exemplars, cache=replies_file(session.url), max_cost=max_cost,
        max_tokens=None if max_tokens is None else int(max_tokens),
        prices=None if price_in is None or price_out is None else (price_in, price_out),
    )  # fmt: skip


def _optional(form: Form, name: str) -> float | None:
    """A number from 0 up; None where the field is empty."""
    if not (form.get(name) or "").strip():
        return None
    number = form.number(name)
    if not 0.0 <= number < 1e15:
        raise RefusalError(Message("Prices and budgets are numbers from 0 up. Correct them."))
    return number
