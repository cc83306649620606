"""`askmeans fit`: a data file in; memberships, centres and a summary out."""

import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_name, check_number
from askmeans._util.progress import stage
from askmeans.cli.fit_answers import Job, Outcome, outcome_of
from askmeans.cli.options import changed_options, comma_list, refuse_options
from askmeans.cli.output import check_unused, say, write_centers, write_frames, write_text
from askmeans.cli.start import FitOptions
from askmeans.cli.tables import advice_of, label_names, read_with, without_advice
from askmeans.exceptions import AskmeansWarning, ParameterError
from askmeans.fuzzy import weighted_centers
from askmeans.fuzzy.model import check_enough_items
from askmeans.results import expected_wrong_text, without_traces
from askmeans.sessions.group_numbers import unique_names
from askmeans.spec import SIMILARITIES, PlanSpec, default_ask
from askmeans.tables.columns import Column, listed_columns
from askmeans.tables.reading import check_column, read_table

if TYPE_CHECKING:
    import pandas as pd


_TABLES = ("memberships.csv", "centers.csv")
_SUMMARY, _PICTURE = "summary.json", "png"
_ENDS = {
    "interrupted": "Stopped before the last question",
    "budget": "The budget is spent",
    "max_items": "All items that the strategy allows were asked about",
}


def run(options: FitOptions) -> bool:
    """Read, ask, write; False when the person interrupted it."""
    others = [name for name in changed_options(options) if name in ("scheduler", "memory", "top")]
    refuse_options(others, "with --engine memory; they are of --engine disk, dask or gpu")
    job, columns = _prepared(replace(options, expert=options.expert or "console"))
    if not options.as_json:
        say(listed_columns(columns))
    outcome = outcome_of(job)
    summary = outcome.summary | {
        "columns": [asdict(column) for column in columns],
        "files": {name: str(path) for name, path in _write(job, outcome).items()},
    }
    write_text(json.dumps(summary, indent=2) + "\n", job.file(_SUMMARY))
    _report(options, summary)
    if outcome.failure is not None:
        raise outcome.failure
    return bool(summary["stopped"] != "interrupted")


def _prepared(options: FitOptions) -> tuple[Job, list[Column]]:
    """The job, after all checks, and the use of each column."""
    check_number(options.n_clusters, "clusters", "askmeans fit", integer=True, minimum=1)
    q = options.questions
    spec = PlanSpec.checked(
        "askmeans fit", n_clusters=options.n_clusters, strategy=options.strategy,
        ask=q.ask or default_ask(options.strategy), budget=q.budget, levels=q.levels,
        fuzzifier=q.fuzzifier, seed=q.seed,
    )  # fmt: skip
    with stage("reading"):
        table = read_table(options.data, options.table.id)
    labels = _label_column(options, table.frame)
    unlabelled = without_advice(table, q.advice)
    if labels is not None:
        frame = unlabelled.frame.drop(columns=labels, errors="ignore")
        unlabelled = replace(unlabelled, frame=frame)
    # Items are shown to a person only.
    shown = comma_list(options.table.show) if options.expert == "console" else []
    with stage(f"encoding {len(table.frame):,} rows"):
        items = read_with(options.table, unlabelled, shown)
    columns = list(items.recipe.columns)
    truth = None
    if labels is not None:
        why = "known to the expert"
        columns.append(Column(name=labels, kind="category", use="left out", why=why))
        truth = table.frame[labels].astype(str).to_numpy()[items.rows]
    named = label_names(table, q.advice, options.n_clusters)
    names = _cluster_names(options, spec, truth, named)
    if spec.ask not in SIMILARITIES:  # which number clusters in an order of their own
        _name_in_warnings(names)
    X = items.features.astype(np.float64)
    check_enough_items(len(X), options.n_clusters, "askmeans fit")
    job = Job(
        options=options, spec=spec, items=items, X=X, names=names, truth=truth,
        advice=advice_of(table, items.rows, q.advice, names, spec.ask),
    )  # fmt: skip
    files = [job.file(ending) for ending in (*_TABLES, _SUMMARY, *[_PICTURE] * options.plot)]
    check_unused(files, force=options.force or _stopped_before(job))
    return job, columns


def _stopped_before(job: Job) -> bool:
    """Whether the existing results are those of a run that was stopped."""
    try:
        summary = json.loads(job.file(_SUMMARY).read_text())
        return summary["stopped"] in ("interrupted", "budget")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _label_column(options: FitOptions, frame: "pd.DataFrame") -> str | None:
    """The column that a simulated expert knows."""
    kind, _, column = str(options.expert).partition(":")
    if kind == "labels" and column:
        check_column(frame, column)
        return column
    if options.expert not in ("console", "none"):
        raise ParameterError(
            "The 'expert' parameter of askmeans fit must be 'console', 'labels:COLUMN' or 'none'. "
            f"Got {options.expert!r} instead."
        )
    return None


def _cluster_names(
    options: FitOptions,
    spec: PlanSpec,
    truth: NDArray[np.str_] | None,
    named: list[str] | None,
) -> list[str]:
    """Names of the clusters: --names, the classes, labels of --advice, or "Group A" and so on."""
    k = options.n_clusters
    names = named or unique_names({}, k)
    if truth is not None:
        names = sorted(set(truth.tolist()))
        if len(names) != k:
            raise ParameterError(
                f"The 'clusters' parameter of askmeans fit must be {len(names)}, the number of "
                f"classes in {str(options.expert).partition(':')[2]!r}. Got {k} instead."
            )
    chosen = comma_list(options.questions.names)
    if chosen is not None:
        if spec.ask in SIMILARITIES:
            raise ParameterError(
                "The 'names' parameter of askmeans fit must be left out with --ask "
                f"{spec.ask}. Got {', '.join(chosen)} instead; similarities do "
                "not tell which cluster is which."
            )
        names = [check_name(name, "names", "askmeans fit") for name in chosen]
    if len(names) != k or len(set(names)) != k:
        raise ParameterError(
            f"The 'names' parameter of askmeans fit must have {k} names, all different. "
            f"Got {', '.join(names)} instead."
        )
    return names


def _name_in_warnings(names: list[str]) -> None:
    """Use the names of the clusters in warnings."""
    show = warnings.showwarning

    def with_cluster_names(message: Warning | str, *place: Any, **more: Any) -> None:
        text = message.with_names(names) if isinstance(message, AskmeansWarning) else message
        show(text, *place, **more)

    warnings.showwarning = with_cluster_names


def _write(job: Job, outcome: Outcome) -> dict[str, Path]:
    """Memberships keyed by id, centres in the data's own units, as equation (4) has them."""
    import pandas as pd

    names, recipe = outcome.names, job.items.recipe
    table = pd.DataFrame(without_traces(outcome.memberships), columns=pd.Index(names))
    table.insert(0, "id" if "id" not in names else "id_", job.items.ids)
    files = dict(zip(("memberships", "centers"), map(job.file, _TABLES), strict=True))
    write_frames([table], files["memberships"])
    middle, width = recipe.units
    centers = weighted_centers(job.X, outcome.memberships, job.spec.fuzzifier) * width + middle
    write_centers(centers, names, recipe.feature_names, files["centers"])
    if job.options.plot:
        files["picture"] = job.file(_PICTURE)
        _draw(files["picture"], job.X, outcome)
    return files


def _draw(path: Path, X: Floats, outcome: Outcome) -> None:
    """A scatter of the items in their clusters' colours."""
    import matplotlib as mpl

    mpl.use("Agg")
    from askmeans.plotting import SoftScatterDisplay

    points = X[:, :2]
    if X.shape[1] > 2:
        centered = X - X.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    display = SoftScatterDisplay(points, outcome.memberships, cluster_names=outcome.names).plot()
    figure = display.ax_.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=120)


def _report(options: FitOptions, summary: dict[str, Any]) -> None:
    """Print the summary: JSON on standard output, or a few lines."""
    if options.as_json:
        say(json.dumps(summary))
        return
    say(
        f"{summary['n_items']} items, {summary['n_clusters']} clusters, "
        f"{summary['n_queries']} questions, {summary['n_rounds']} rounds."
    )
    if "matched_accuracy" in summary:
        say(
            f"Matched accuracy {summary['matched_accuracy']:.2%}; without questions "
            f"{summary['matched_accuracy_without_questions']:.2%}."
        )
    diagnostics = summary.get("diagnostics", {})
    if diagnostics.get("expected_wrong") is not None:
        wrong, band = diagnostics["expected_wrong"], diagnostics["expected_wrong_band"]
        say(expected_wrong_text(wrong, summary["n_items"], tuple(band)))
    noise = diagnostics.get("noise")
    if noise:
        say(f"Answers seem to be off by {noise:.2f}.")
    if summary["stopped"] in _ENDS:
        more = ""
        if "answers" in summary:
            more = (
                f" Your answers are in {summary['answers']}. Run the same command again to go on."
            )
        say(f"{_ENDS[summary['stopped']]}; this is the best so far.{more}")
    for name, path in summary["files"].items():
        say(f"{name}: {path}")
