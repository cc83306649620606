"""`askmeans fit`: a data file in, memberships, centres and an account out."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from askmeans.checks import check_fuzzifier, check_number
from askmeans.cli.answer_file import AnswerFile
from askmeans.cli.tables import (
    check_column,
    choose_features,
    item_ids,
    read_table,
    scale_warning,
    scaled,
    write_frame,
)
from askmeans.driver import Oracle
from askmeans.driver import run as drive
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import weighted_centers
from askmeans.metrics import matched_accuracy
from askmeans.oracles import ConsoleOracle, TableOracle
from askmeans.queries import Ledger
from askmeans.results import Result
from askmeans.strategies import named_strategy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Options", "run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line was given."""

    data: Path
    n_clusters: int
    expert: str
    features: list[str] | None
    id_column: str | None
    scale: str
    impute: str | None
    strategy: str
    budget: int | None
    fuzzifier: float
    seed: int
    cluster_names: list[str] | None
    answers: Path | None
    out: Path | None
    plot: bool
    force: bool
    as_json: bool


def run(options: Options) -> bool:
    """Read, ask, write; True when all was asked."""
    console = Console(stderr=True)
    check_number(options.n_clusters, "clusters", "askmeans fit", integer=True, minimum=1)
    check_fuzzifier(options.fuzzifier, "askmeans fit", strict=False)
    frame = read_table(options.data)
    labels = _label_column(options, frame)
    left_out = [name for name in (labels, options.id_column) if name]
    chosen = choose_features(frame, options.features, left_out, options.impute)
    ids = item_ids(frame, options.id_column)
    files = _Files.of(options)
    files.check(force=options.force)
    warning = scale_warning(chosen, options.scale)
    if warning:
        console.print(f"askmeans: warning: {warning}", soft_wrap=True, highlight=False)
    X = scaled(chosen.to_numpy(), options.scale)
    if options.expert == "none":
        summary = _alone(options, X, files, ids, chosen)
    else:
        held = AnswerFile(options.answers or files.answers, ids)
        oracle, names = _oracle(options, frame, labels, held)
        result = _ask(options, X, oracle, held.ledger())
        summary = _account(options, result, frame, labels, X, held)
        _write(options, files, ids, names, chosen, result.clustering.memberships)
    summary["files"] = files.written(plot=options.plot)
    if options.plot:
        _draw(options, files.picture, X, summary.pop("_memberships"))
    summary.pop("_memberships", None)
    files.summary.write_text(json.dumps(summary, indent=2) + "\n")
    _report(options, summary)
    return bool(summary["complete"]) or options.expert == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Where results go."""

    memberships: Path
    centers: Path
    summary: Path
    picture: Path
    answers: Path

    @classmethod
    def of(cls, options: Options) -> "_Files":
        stem = options.out or options.data.with_suffix("")
        return cls(
            memberships=Path(f"{stem}.memberships.csv"),
            centers=Path(f"{stem}.centers.csv"),
            summary=Path(f"{stem}.summary.json"),
            picture=Path(f"{stem}.png"),
            answers=Path(f"{stem}.answers.csv"),
        )

    def check(self, *, force: bool) -> None:
        """Refuse to overwrite results, except those of a run that was stopped."""
        there = [p for p in (self.memberships, self.centers, self.summary) if p.exists()]
        if not there or force or self._stopped_before():
            return
        raise DataError(
            f"{there[0]} must not exist yet, or it would be overwritten. Got a file there; use "
            "--out for another place, or --force."
        )

    def written(self, *, plot: bool) -> dict[str, str]:
        """Names of what was written."""
        files = {"memberships": self.memberships, "centers": self.centers}
        if plot:
            files["picture"] = self.picture
        return {name: str(path) for name, path in files.items()}

    def _stopped_before(self) -> bool:
        """Whether the results there are those of a run that was stopped."""
        try:
            return json.loads(self.summary.read_text())["complete"] is False
        except (OSError, ValueError, KeyError):
            return False


def _label_column(options: Options, frame: "pd.DataFrame") -> str | None:
    """The column that a simulated expert knows."""
    kind, _, column = options.expert.partition(":")
    if kind == "labels" and column:
        check_column(frame, column)
        return column
    if options.expert not in ("console", "none"):
        raise ParameterError(
            "The 'expert' parameter of askmeans fit must be 'console', 'labels:COLUMN' or 'none'. "
            f"Got {options.expert!r} instead."
        )
    return None


def _oracle(
    options: Options, frame: "pd.DataFrame", labels: str | None, held: AnswerFile
) -> tuple[Oracle, list[str]]:
    """Who answers, and what the clusters are called."""
    names = options.cluster_names or [f"cluster_{j}" for j in range(options.n_clusters)]
    if labels is not None:
        expert = TableOracle.from_labels(frame[labels].astype(str).to_numpy())
        classes = sorted(set(frame[labels].astype(str)))
        if len(classes) != options.n_clusters:
            raise ParameterError(
                f"The 'clusters' parameter of askmeans fit must be {len(classes)}, the number of "
                f"classes in {labels!r}. Got {options.n_clusters} instead."
            )
        return expert, options.cluster_names or classes
    if len(names) != options.n_clusters:
        raise ParameterError(
            f"The 'names' parameter of askmeans fit must have {options.n_clusters} names. "
            f"Got {len(names)} instead."
        )
    if not sys.stdin.isatty():
        Console(stderr=True).print("askmeans: reading answers from standard input.")
    console = ConsoleOracle(
        frame, cluster_names=options.cluster_names, journal=held.append, stdout=sys.stderr
    )
    return console, names


def _ask(options: Options, X: Floats, oracle: Oracle, held: Ledger) -> Result:
    """Let the expert answer what is not known yet."""
    strategy = named_strategy(options.strategy, "askmeans fit")
    rng = np.random.default_rng(options.seed)
    plan = strategy.plan(X, options.n_clusters, fuzzifier=options.fuzzifier, rng=rng)
    return drive(plan, oracle, budget=options.budget, ledger=held)


def _account(
    options: Options,
    result: Result,
    frame: "pd.DataFrame",
    labels: str | None,
    X: Floats,
    held: AnswerFile,
) -> dict[str, Any]:
    """The summary of a run with questions."""
    summary: dict[str, Any] = {
        "n_items": len(X),
        "n_clusters": options.n_clusters,
        "strategy": options.strategy,
        "seed": options.seed,
        "complete": result.complete,
        "n_queries": result.n_queries,
        "n_answers_held": len(result.history) - result.n_queries,
        "n_rounds": result.n_rounds,
        "diagnostics": _plain(result.clustering.diagnostics),
        "_memberships": result.clustering.memberships,
    }
    if labels is None:
        summary["answers"] = str(held.path)
    else:
        truth = frame[labels].astype(str).to_numpy()
        alone = FuzzyKMeans(
            options.n_clusters, fuzzifier=max(options.fuzzifier, 1.05), n_init=5,
            random_state=options.seed,
        ).fit(X)  # fmt: skip
        summary["matched_accuracy"] = matched_accuracy(truth, result.clustering.memberships)
        summary["matched_accuracy_without_questions"] = matched_accuracy(truth, alone.labels_)
    return summary


def _alone(
    options: Options, X: Floats, files: _Files, ids: list[str], chosen: "pd.DataFrame"
) -> dict[str, Any]:
    """The summary of a run without questions."""
    model = FuzzyKMeans(
        options.n_clusters, fuzzifier=options.fuzzifier, n_init=5, random_state=options.seed
    ).fit(X)
    names = options.cluster_names or [f"cluster_{j}" for j in range(options.n_clusters)]
    memberships = model.memberships_.astype(np.float64)
    _write(options, files, ids, names, chosen, memberships)
    return {
        "n_items": len(X),
        "n_clusters": options.n_clusters,
        "strategy": "none",
        "seed": options.seed,
        "complete": True,
        "n_queries": 0,
        "n_rounds": 0,
        "_memberships": memberships,
    }


def _write(
    options: Options,
    files: _Files,
    ids: list[str],
    names: list[str],
    chosen: "pd.DataFrame",
    memberships: Floats,
) -> None:
    """Memberships keyed by id, and centres in the data's own units, as equation (4) has them."""
    import pandas as pd

    table = pd.DataFrame(memberships, columns=pd.Index(names))
    table.insert(0, "id", ids)
    write_frame(table, files.memberships)
    centers = weighted_centers(chosen.to_numpy(), memberships, options.fuzzifier)
    table = pd.DataFrame(centers, columns=chosen.columns)
    table.insert(0, "cluster", names)
    write_frame(table, files.centers)


def _plain(value: Any) -> Any:
    """What JSON can say of it: no infinity, no numpy."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _draw(options: Options, path: Path, X: Floats, memberships: Floats) -> None:
    """A scatter of the items in their clusters' colours."""
    import matplotlib as mpl

    mpl.use("Agg")
    from askmeans.plotting import SoftScatterDisplay

    points = X[:, :2]
    if X.shape[1] > 2:
        centered = X - X.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    display = SoftScatterDisplay(points, memberships, cluster_names=options.cluster_names).plot()
    figure = display.ax_.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=120)


def _report(options: Options, summary: dict[str, Any]) -> None:
    """Tell what was done: JSON on standard output, or a few lines."""
    if options.as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
        return
    console = Console(soft_wrap=True, highlight=False)
    console.print(
        f"{summary['n_items']} items, {summary['n_clusters']} clusters, "
        f"{summary['n_queries']} questions, {summary['n_rounds']} rounds."
    )
    if "matched_accuracy" in summary:
        console.print(
            f"Matched accuracy {summary['matched_accuracy']:.2%}; without questions "
            f"{summary['matched_accuracy_without_questions']:.2%}."
        )
    if not summary["complete"]:
        more = f" Your answers are in {summary['answers']}." if "answers" in summary else ""
        console.print(
            f"Stopped before all was asked; this is the best so far.{more} "
            "Run the same command again to go on."
        )
    for name, path in summary["files"].items():
        console.print(f"{name}: {path}")
