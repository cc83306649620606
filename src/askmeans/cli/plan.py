"""`askmeans plan`: a table of strategies and what they will cost."""

import json

from rich.console import Console
from rich.table import Table

from askmeans._util.checks import check_positive
from askmeans.budgets import Forecast, forecast, kinds_for, plan_budget
from askmeans.cli.output import say
from askmeans.cli.start import PlanOptions
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.fuzzy.model import check_enough_items
from askmeans.strategies import PaperStrategy, Sequential, Strategy, Stratified, TwoClusters

__all__ = ["run"]


def run(options: PlanOptions) -> None:
    """Print what each strategy will cost and reach."""
    k, ask, seconds = options.k, options.ask, options.seconds_per_question
    check_positive(seconds, "seconds_per_question", "askmeans plan")
    n = _n_items(options)
    check_enough_items(n, k, "askmeans plan")
    plans: list[Forecast] = []
    for kind in kinds_for(k, ask):
        try:
            plans.append(
                forecast(kind(), n, k, ask=ask)
                if options.budget is None
                else plan_budget(options.budget, n, k, ask=ask, kind=kind)
            )
        except BudgetError:
            if kind is Stratified:  # the least demanding one names the minimum
                raise
    rows = [_row(plan, seconds) for plan in plans]
    if options.as_json:
        say(json.dumps(rows, allow_nan=False))
        return
    table = Table(title=f"{n:,} items, {k} clusters, {seconds:g} seconds a question")
    for column in ("strategy", "questions", "rounds", "minutes", "expected error"):
        table.add_column(column, justify="left" if column == "strategy" else "right")
    for row in rows:
        table.add_row(
            str(row["strategy"]),
            f"{row['questions']:,}",
            str(row["rounds"]),
            f"{row['minutes']:,.0f}",
            f"{row['expected_error']:.3f}",
        )
    console = Console()
    console.print(table)
    console.print(
        "Expected error: the mean error of a membership, for an expert whose clusters follow "
        "distance; forecasts, not promises."
    )


def _n_items(options: PlanOptions) -> int:
    """How many items there are, as given or the file's rows."""
    if options.n is not None and options.data is None:
        return options.n
    if options.data is None or options.n is not None:
        got = "neither" if options.data is None else "both"
        raise ParameterError(
            "askmeans plan must have either DATA or -n, the number of items. "
            f"Got {got}; name a data file, or give the number of items."
        )
    from askmeans.tables.reading import read_table

    return len(read_table(options.data).frame)


def _row(plan: Forecast, seconds: float) -> dict[str, str | int | float]:
    """A forecast as the table shows it."""
    return {
        "strategy": _strategy_text(plan.strategy),
        "questions": plan.n_queries,
        "rounds": plan.n_rounds,
        "minutes": plan.n_queries * seconds / 60.0,
        "expected_error": plan.expected_error,
    }


def _strategy_text(strategy: Strategy) -> str:
    """A strategy with its sizes, without what is as always."""
    if isinstance(strategy, Stratified):
        return f"Stratified(max_items={strategy.max_items})"
    assert isinstance(strategy, PaperStrategy)
    sizes = [f"sample_size={strategy.sample_size}"]
    if isinstance(strategy, Sequential | TwoClusters):
        sizes.append(f"bin_size={strategy.bin_size}")
    return f"{type(strategy).__name__}({', '.join(sizes)})"
