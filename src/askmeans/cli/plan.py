"""`askmeans plan`: a table of strategies with their forecast costs and errors."""

import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from askmeans._util.checks import check_positive
from askmeans.budgets import Forecast, forecast, kinds_for, plan_budget
from askmeans.cli.options import comma_list
from askmeans.cli.output import say
from askmeans.cli.start import PlanOptions
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.fuzzy.model import check_enough_items
from askmeans.strategies import PaperStrategy, Sequential, Strategy, Stratified, TwoClusters

if TYPE_CHECKING:
    from askmeans.tables.columns import Column


def run(options: PlanOptions) -> None:
    """Print the forecast of each strategy."""
    k, ask, seconds = options.k, options.ask, options.seconds_per_question
    check_positive(seconds, "seconds_per_question", "askmeans plan")
    n, features = _items(options)
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
    if features:
        kinds = ", ".join(f"{column.name} ({column.kind})" for column in features)
        say(f"clustered by: {kinds}")
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


def _items(options: PlanOptions) -> tuple[int, list["Column"]]:
    """The number of items, and the feature columns of a file."""
    if (options.data is None) == (options.n is None):
        got = "neither" if options.data is None else "both"
        raise ParameterError(
            "askmeans plan must have either DATA or -n, the number of items. "
            f"Got {got}; name a data file, or give the number of items."
        )
    if options.data is None:
        assert options.n is not None
        if options.features is not None:
            raise ParameterError(
                "--features must come with DATA, whose columns they are. Got -n instead; name the "
                "data file, or leave --features out."
            )
        return options.n, []
    from askmeans.cli.tables import with_kinds
    from askmeans.tables.columns import Roles, describe_columns
    from askmeans.tables.reading import read_table

    table = read_table(options.data)
    features = with_kinds(comma_list(options.features), table)
    if features is None:
        return len(table.frame), []
    columns = describe_columns(table.frame, Roles(features=features), table.folder)
    return len(table.frame), [column for column in columns if column.use == "feature"]


def _row(plan: Forecast, seconds: float) -> dict[str, str | int | float]:
    """A row of the table."""
    return {
        "strategy": _strategy_text(plan.strategy),
        "questions": plan.n_queries,
        "rounds": plan.n_rounds,
        "minutes": plan.n_queries * seconds / 60.0,
        "expected_error": plan.expected_error,
    }


def _strategy_text(strategy: Strategy) -> str:
    """A strategy with its sizes, without defaults."""
    if isinstance(strategy, Stratified):
        return f"Stratified(max_items={strategy.max_items})"
    assert isinstance(strategy, PaperStrategy)
    sizes = [f"sample_size={strategy.sample_size}"]
    if isinstance(strategy, Sequential | TwoClusters):
        sizes.append(f"bin_size={strategy.bin_size}")
    return f"{type(strategy).__name__}({', '.join(sizes)})"
