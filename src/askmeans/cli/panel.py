"""`askmeans panel`: a language model as an adviser, its reliability, and names for groups."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from askmeans._util.files import parse_json
from askmeans._util.progress import answers_bar
from askmeans.cli.answering import PanelOptions
from askmeans.cli.output import complain, typed_database
from askmeans.cli.questions import numbered
from askmeans.exceptions import ParameterError
from askmeans.llm import ModelOracle, model_client
from askmeans.llm.client import ModelClient
from askmeans.llm.cost import CachedClient, Limits, ModelCost, ReplyCache
from askmeans.llm.names import NameProposer
from askmeans.queries import GroupQueries
from askmeans.results import rounded
from askmeans.sessions import AdviserScore, Session
from askmeans.sessions.model_answers import (
    answer_ahead,
    model_prompts,
    replies_file,
    rows_to_ask,
)
from askmeans.sessions.proposals import group_samples

_ON = "the same command goes on from here"
_ON_WITH_MORE = "with a larger budget the same command goes on from here."


def run(options: PanelOptions) -> bool:
    """Run the command; return False if it was stopped."""
    with options.session.open() as session:
        if options.share is not None:
            if not 0.0 <= options.share <= 1.0:
                raise ParameterError(
                    f"--share must be a number from 0 to 1. Got {options.share} instead."
                )
            session.settings.set_option("audit_share", float(options.share))
        if options.url is None:
            if options.names or options.forecast:
                raise ParameterError(
                    "--names and --forecast need a model. Got none; add --model URL "
                    "--model-name NAME."
                )
            _show_panel(options, session, ())
            return True
        client = _client(options)
        if options.names:
            _propose(options, session, client)
            return True
        oracle = _oracle(session, client, options)
        rows = rows_to_ask(session, client.name, options.items, again=options.again)
        if options.forecast or not options.session.as_json:
            queries = GroupQueries(np.array(rows, dtype=np.int64), len(session.groups))
            cost = oracle.forecast(queries)
            values = {"items": len(rows), "forecast": asdict(cost)}
            line = f"{len(rows)} items to ask {oracle.name} about: {_cost_text(cost)}"
            options.session.show(session, values, line)
        if options.forecast:
            return True
        with answers_bar(len(rows)) as advance:
            why = answer_ahead(session, oracle, rows, advance)
        if why:
            complain(f"{why}; {_ON if not oracle.is_spent else _ON_WITH_MORE}")
        _show_panel(options, session, (oracle.spent, oracle.spent_in_all))
        return not why or oracle.is_spent


def _client(options: PanelOptions) -> ModelClient:
    """The endpoint."""
    if not options.url or not options.model_name:
        raise ParameterError(
            "--model must be the URL of an endpoint and --model-name a model there. "
            f"Got no name; add --model-name NAME (and the key in {options.key_variable})."
        )
    return model_client(
        options.url, options.model_name, key_variable=options.key_variable,
        logprobs=options.logprobs, extra=_extra(options.extra),
    )  # fmt: skip


def _extra(text: str | None) -> dict[str, Any] | None:
    """Fields that are sent with every request, from JSON."""
    if text is None:
        return None
    try:
        fields = parse_json(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ParameterError(
            f"--extra must be a JSON object. Got {text!r:.60} instead; write for example "
            """'{"response_format": {"type": "json_object"}}'."""
        )
    return fields


def _oracle(session: Session, client: ModelClient, options: PanelOptions) -> ModelOracle:
    """The model as an oracle for this session."""
    prompts = model_prompts(session, session.groups)
    if not prompts.guidelines and not any(prompts.exemplars):
        complain("there are no guidelines and no pinned examples: the model knows names only")
    return ModelOracle(
        client, guidelines=prompts.guidelines, show=prompts.shown, names=prompts.names,
        exemplars=prompts.exemplars, votes=options.votes,
        cache=options.cache or replies_file(options.session.database), max_cost=options.max_cost,
        max_tokens=options.max_tokens, prices=_prices(options.prices),
        concurrency=options.concurrency,
    )  # fmt: skip


def _prices(text: str | None) -> tuple[float, float] | None:
    """The prices of a million tokens, from IN,OUT."""
    if text is None:
        return None
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            "--prices must be two numbers, of a million tokens read and written. "
            f"Got {text!r:.40} instead; write 0.15,0.6."
        ) from None
    return read, written


def _propose(options: PanelOptions, session: Session, client: ModelClient) -> None:
    """Print proposed names of groups, without renaming."""
    limits = Limits(max_cost=options.max_cost, max_tokens=options.max_tokens,
                    prices=_prices(options.prices))  # fmt: skip
    cache = ReplyCache(options.cache or replies_file(options.session.database))
    cached = CachedClient(client, cache, limits)
    groups = list(session.groups)
    guidelines = session.settings.options["guidelines"]
    proposer = NameProposer(cached, group_samples(session, groups), guidelines)
    if options.forecast:
        cost = proposer.forecast()
        line = f"names for {len(groups)} groups: {_cost_text(cost)}"
        options.session.show(session, {"forecast": asdict(cost)}, line)
        return
    proposals = [(groups[each.group], each) for each in proposer.propose()]
    now = {group.number: number for number, group in numbered(session)}  # some may have been merged
    listed, lines = [], [f"asked: {_cost_text(cached.spent)}"]
    for group, each in proposals:
        if group.number in now:
            number, name, about = now[group.number], each.name, each.description
            listed.append({"group": number, "now": group.name, "name": name, "description": about})
            lines.append(f"{number} {group.name} -> {name}: {about}")
    lines.append(
        "Nothing was changed. Accept or change them: "
        f"askmeans groups {typed_database(options.session.database)} "
        "--rename GROUP NAME --describe GROUP TEXT"
    )
    options.session.show(session, {"proposals": listed, "cost": asdict(cached.spent)}, *lines)


def _show_panel(options: PanelOptions, session: Session, costs: Sequence[ModelCost]) -> None:
    """Print the costs of this run and of all runs, and the reliability of advisers."""
    report, lines = session.advisers.report(), []
    for each, when in zip(costs, ("asked", "with earlier runs"), strict=False):
        if when == "asked" or each.calls > costs[0].calls:
            lines.append(f"{when}: {_cost_text(each)}")
    for name, score in report.advisers.items():
        lines += _score_lines(name, score)
    if not report.advisers:
        lines.append("No language model has answered; --model URL --model-name NAME lets one.")
    lines.append(
        f"People answered {report.people} of {report.items} items; "
        f"{report.decided_by_advisers:.0%} of the items are in their group because of models."
    )
    if report.would_change is not None:
        lines.append(f"People would still change about {rounded(report.would_change)} items.")
    if report.to_check:
        shown = ", ".join(session.item(row).id for row in report.to_check)
        lines.append(f"The least certain items: {shown}")
    cost, cost_in_all = [asdict(each) for each in costs] or (None, None)
    values = {**asdict(report), "cost": cost, "cost_in_all": cost_in_all}
    options.session.show(session, values, *lines, *report.notes)


def _score_lines(name: str, score: AdviserScore) -> Iterator[str]:
    """Format the reliability of a model."""
    agreed = "not compared with people yet"
    if score.agreement is not None:
        agreed = f"agrees with people in {score.agreement:.0%} of {score.together} items"
    yield f"{name}: {score.answers} answers, {score.unsure} times cannot say; {agreed}"
    yield f"  weight {score.weight:.2f}; {score.decides:.0%} of the items hang on it alone"
    if score.audit_error is not None and score.audit_band is not None:
        low, high = score.audit_band
        yield (
            f"  on {score.audited} random items it is {score.audit_error:.2f} off "
            f"({low:.2f} to {high:.2f} with 95 % confidence)"
        )
    if score.confusions:
        listed = ", ".join(
            f"{c.adviser_group} for {c.group} ({c.items})" for c in score.confusions[:3]
        )
        yield f"  answers {listed}"


def _cost_text(cost: ModelCost) -> str:
    """Format a cost."""
    money = "" if cost.money is None else f", {cost.money:.4f} by the prices given"
    failed = "" if not cost.failed else f" ({cost.failed} more failed)"
    estimated = "" if not cost.estimated else f", {cost.estimated} of them estimated"
    return (
        f"{cost.calls} requests{failed}, {cost.tokens_in} tokens read and {cost.tokens_out} "
        f"written{estimated}{money}; {cost.remembered} answers remembered"
    )
