"""What `askmeans panel` prints: what it cost, and how much rests on whom."""

import dataclasses
from collections.abc import Iterator, Sequence

from askmeans.cli.printing import say
from askmeans.cli.sessions import show_json
from askmeans.oracles import ModelCost
from askmeans.sessions import ModelScore, PanelReport, Session

__all__ = ["in_words", "show_panel"]


def show_panel(
    session: Session, report: PanelReport, cost: Sequence[ModelCost], *, as_json: bool
) -> None:
    """Print how much rests on whom, after what this run cost, and with all before it, if any."""
    if as_json:
        told = dataclasses.asdict(report)
        costs = [dataclasses.asdict(each) for each in cost]
        told |= {"cost": None, "cost_in_all": None}
        told |= dict(zip(("cost", "cost_in_all"), costs, strict=False))
        show_json(session, told)
        return
    for each, when in zip(cost, ("asked", "with earlier runs"), strict=False):
        if when == "asked" or each.calls > cost[0].calls:
            say(f"{when}: {in_words(each)}")
    for name, score in report.models.items():
        for line in _lines(name, score):
            say(line)
    if not report.models:
        say("No language model has answered; --model URL --model-name NAME lets one.")
    say(
        f"People answered {report.people} of {report.items} items; "
        f"{report.decided_by_models:.0%} of the items are in their group because of models."
    )
    say(f"People would still change about {report.would_change:.0f} items.")
    if report.to_check:
        shown = ", ".join(session.item(row).id for row in report.to_check)
        say(f"The most doubtful: {shown}")
    for note in report.notes:
        say(note)


def _lines(name: str, score: ModelScore) -> Iterator[str]:
    """What a model's answers are worth, in words."""
    agreed = "not compared with people yet"
    if score.agreement is not None:
        agreed = f"agrees with people in {score.agreement:.0%} of {score.together} items"
    yield f"{name}: {score.answers} answers, {score.unsure} times cannot say; {agreed}"
    yield f"  weight {score.weight:.2f}; {score.decides:.0%} of the items hang on it alone"
    if score.audit_error is not None and score.audit_band is not None:
        low, high = score.audit_band
        yield (
            f"  on {score.audited} random items it is {score.audit_error:.2f} off "
            f"(between {low:.2f} and {high:.2f} in 19 cases of 20)"
        )
    if score.confusions:
        listed = ", ".join(f"{c.said} for {c.group} ({c.items})" for c in score.confusions[:3])
        yield f"  says {listed}"


def in_words(cost: ModelCost) -> str:
    """A cost in words."""
    money = "" if cost.money is None else f", {cost.money:.4f} by the prices given"
    failed = "" if not cost.failed else f" ({cost.failed} more failed)"
    guessed = "" if not cost.estimated else f", {cost.estimated} of them estimated"
    return (
        f"{cost.calls} requests{failed}, {cost.tokens_in} tokens read and {cost.tokens_out} "
        f"written{guessed}{money}; {cost.remembered} answers remembered"
    )
