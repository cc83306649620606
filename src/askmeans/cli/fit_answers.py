"""The result of `askmeans fit`: without questions, by a session, or by a plan of the paper."""

import hashlib
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans import sessions
from askmeans._util.arrays import Floats
from askmeans._util.warning_notes import collect_warnings
from askmeans.cli.answer_files import one_per_question, read_answers
from askmeans.cli.options import changed_options, comma_list, refuse_options
from askmeans.cli.output import complain, plain
from askmeans.cli.questions import Conversation
from askmeans.cli.start import FitOptions
from askmeans.cli.tables import add_advice
from askmeans.driver import run as drive
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import AskmeansError, CollapseWarning, ParameterError
from askmeans.fuzzy.items import as_items
from askmeans.metrics import match_clusters, matched_accuracy
from askmeans.oracles import CallbackOracle, ConsoleOracle, RememberingOracle, TableOracle
from askmeans.oracles.console import Terminal
from askmeans.paper import Plan
from askmeans.policy import Policy
from askmeans.policy.advisers import Advice
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import ME, Answer, Answers
from askmeans.results import Result
from askmeans.sessions import Session, SessionState
from askmeans.sessions.display import exemplars_of
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.sessions.name_examples import NameExamples
from askmeans.spec import SIMILARITIES, PlanSpec
from askmeans.strategies import Stratified
from askmeans.tables import Items

_EXEMPLARS = 10  # of each cluster: more than are shown beside an item


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A fit: its options, what decides the questions, the items and the names of the clusters."""

    options: FitOptions
    spec: PlanSpec
    items: Items
    X: Floats
    names: list[str]
    truth: NDArray[np.str_] | None  # the simulated expert's labels
    advice: dict[str, Floats]

    def file(self, ending: str) -> Path:
        """A file beside the data, or where --out says."""
        return Path(f"{self.options.out or self.options.data.with_suffix('')}.{ending}")

    def known_answers(self) -> list[Answer]:
        """The answers of --answers."""
        path = self.options.answers
        return [] if path is None else read_answers(path, self.items.ids, self.names)

    def summary(self, **values: Any) -> dict[str, Any]:
        """The summary with these values."""
        return {
            "n_items": len(self.X),
            "n_clusters": self.spec.n_clusters,
            "strategy": self.options.strategy,
            "ask": self.spec.ask,
            "seed": self.spec.seed,
        } | values


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Memberships, the clusters' names, and the summary of the fit."""

    memberships: Floats
    names: list[str]
    summary: dict[str, Any]
    failure: AskmeansError | None = None


def outcome_of(job: Job) -> Outcome:
    """Memberships by the answers of the expert that --expert names."""
    if job.options.expert == "none":
        return _without_questions(job)
    if job.truth is None and isinstance(job.spec.strategy, Stratified):
        return _by_session(job)
    return _by_run(job)


def _without_questions(job: Job) -> Outcome:
    """A fit without an expert."""
    asking = ("budget", "answers", "levels", "strategy", "ask")
    names = [name for name in changed_options(job.options) if name in asking]
    refuse_options(names, "with --expert none, which asks nobody")
    plan, more = _plan(job), {}
    if isinstance(plan, StratifiedPolicy) and (plan.examples or plan.advice):
        clustering = collect_warnings(plan.clustering)[0]
        memberships, more = clustering.memberships, plain(clustering.diagnostics.to_dict())
    else:
        memberships = _unsupervised(job)
    return Outcome(
        memberships=memberships,
        names=job.names,
        summary=job.summary(
            strategy="none", ask=None, complete=True, stopped=None, n_queries=0, n_rounds=0,
            **({"diagnostics": more} if more else {}),
        ),
    )  # fmt: skip


def _unsupervised(job: Job) -> Floats:
    """Memberships of FuzzyKMeans; the closed form needs a fuzzifier above 1."""
    fuzzifier = job.spec.fuzzifier
    model = FuzzyKMeans(
        job.spec.n_clusters, fuzzifier=max(fuzzifier, 1.05), n_init=5, random_state=job.spec.seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        try:
            model.fit(job.X)
        except CollapseWarning:  # as texts and other items of many features make them do
            model.set_params(fuzzifier="auto").fit(job.X)
            if job.options.expert == "none":
                complain(
                    f"warning: clusters merge at --fuzzifier {fuzzifier:g}; without questions "
                    f"{model.fuzzifier_:.2f} was used."
                )
    memberships: Floats = model.memberships_.astype(np.float64)
    return memberships


def _by_session(job: Job) -> Outcome:
    """A fit with a person, in a new session beside the data or in that of an earlier run."""
    budget, known = job.options.questions.budget, job.known_answers()
    with _opened(job) as session:
        if known:
            session.import_answers(known)
        if budget not in (None, session.status().budget):
            session.settings.set_budget(budget)
        finished = Conversation(session, ME, Terminal("suq", stdout=sys.stderr)).run(
            until_settled=True
        )
        result, status = session.result(), session.status()
        is_spent = status.state is SessionState.SPENT
        stopped = "budget" if is_spent else result.clustering.diagnostics.stopped
        summary = job.summary(
            n_clusters=len(result.group_names),
            complete=finished and not is_spent,
            stopped=stopped if finished else "interrupted",
            n_queries=status.answered,
            n_known_answers=status.held,
            n_rounds=result.n_rounds,
            diagnostics=plain(result.clustering.diagnostics.to_dict()),
            answers=str(job.file("session.db")),
        )
        return Outcome(
            memberships=result.memberships, names=list(result.group_names), summary=summary
        )


def _opened(job: Job) -> Session:
    """The session beside the data, new or from an earlier run of the same command."""
    path, spec, names = job.file("session.db"), job.spec, comma_list(job.options.questions.names)
    if job.advice:
        names = job.names
    if not path.exists():
        session = sessions.create(
            path, job.items, n_clusters=spec.n_clusters, cluster_names=names, ask=spec.ask,
            use_names=not job.options.questions.no_names, budget=spec.budget, levels=spec.levels,
            fuzzifier=spec.fuzzifier, random_state=spec.seed,
        )  # fmt: skip
        add_advice(session, job.advice)
        return session
    session = sessions.open(path, X=job.items.features)
    fields = ("n_clusters", "ask", "seed", "levels", "fuzzifier")
    changed = [f"--{name}".replace("n_", "") for name in fields
               if getattr(session.config, name) != getattr(spec, name)]  # fmt: skip
    if names != session.config.cluster_names:
        changed.append("--names")
    if job.items.ids != session.rows.ids()[: len(job.items.ids)]:
        changed.append("--id")
    if changed:
        session.close()
        raise ParameterError(
            f"{path} must belong to the same command, to go on with its answers. Got another "
            f"{', '.join(changed)}; use the same, or another --out."
        )
    return session


def _by_run(job: Job) -> Outcome:
    """A fit with a simulated expert, or with a person and a strategy of the paper.

    A person's answers are kept in a file, and the plan is run again over them.
    """
    known = one_per_question(job.known_answers(), job.spec.n_clusters)
    ledger, failure = Answers.of(known, job.spec.n_clusters).ledger(), None
    if job.truth is None:
        memory = RememberingOracle(
            _console(job), ledger, file=job.file("answers.jsonl"), about=_about(job)
        )
        if isinstance(memory.oracle, ConsoleOracle):
            memory.oracle.exemplars = _exemplars(job, memory.ledger.history)
        oracle: RememberingOracle | TableOracle = memory
    else:
        oracle = TableOracle.from_labels(job.truth)
    try:
        result = drive(_plan(job), oracle, budget=job.spec.budget, ledger=ledger.history.ledger())
    except AskmeansError as error:
        if error.result is None:
            raise
        result, failure = error.result, error  # the result so far is written
    return Outcome(
        memberships=_matched(job, result.clustering.memberships),
        names=job.names,
        summary=_run_summary(job, result),
        failure=failure,
    )


def _plan(job: Job) -> "Plan | Policy":
    """The plan or policy, from its beginning."""
    noisy = True if job.truth is None else None  # people are
    plan = job.spec.make(as_items(job.X, job.items.blank), noisy=noisy)
    if isinstance(plan, StratifiedPolicy) and job.spec.ask not in SIMILARITIES:
        rows = np.arange(len(job.X))
        plan.advice = tuple(Advice.of_table(name, rows, U) for name, U in job.advice.items())
        if not job.options.questions.no_names:
            groups = GroupNumbers(n=job.spec.n_clusters)
            names = NameExamples(job.items.recipe, job.names, functions=job.items.functions)
            plan.examples = names.examples({}, {}, groups)
    return plan


def _console(job: Job) -> ConsoleOracle:
    """The person at the terminal."""
    frame = job.items.shown
    if job.options.table.id in frame.columns and len(frame.columns) > 1:
        frame = frame.drop(columns=job.options.table.id)  # it is shown beside each item
    if not sys.stdin.isatty():
        complain("reading answers from standard input.")
    return ConsoleOracle(frame, cluster_names=job.names, ids=job.items.ids, stdout=sys.stderr)


def _exemplars(job: Job, known: Answers) -> list[list[int]] | None:
    """Typical items of clusters without names, by the answers so far."""
    if job.options.questions.names is not None or job.spec.ask in SIMILARITIES:
        return None
    start, _ = collect_warnings(
        lambda: drive(_plan(job), CallbackOracle(), budget=0, ledger=known.ledger())
    )
    clusters = range(job.spec.n_clusters)
    return [exemplars_of(start.clustering, job.X, cluster, _EXEMPLARS) for cluster in clusters]


def _about(job: Job) -> dict[str, Any]:
    """The data and clusters of a plan's answers."""
    data = hashlib.sha256(job.X.round(4).tobytes() + "\n".join(job.items.ids).encode())
    return {"clusters": job.names, "data": data.hexdigest()}


def _matched(job: Job, memberships: Floats) -> Floats:
    """The columns in the order of the names: similarities find clusters in an order of their own.

    A simulated expert's classes are matched to them; a person's clusters have no names yet.
    """
    if job.truth is None or job.spec.ask not in SIMILARITIES:
        return memberships
    classes = np.unique(job.truth, return_inverse=True)[1]
    return memberships[:, match_clusters(np.eye(job.spec.n_clusters)[classes], memberships)]


def _run_summary(job: Job, result: Result) -> dict[str, Any]:
    """The summary of a run without a session."""
    memberships, diagnostics = result.clustering.memberships, result.clustering.diagnostics
    summary = job.summary(
        complete=result.complete,
        stopped=diagnostics.stopped,
        n_queries=result.n_queries,
        n_known_answers=len(result.history) - result.n_queries,
        n_rounds=result.n_rounds,
        diagnostics=plain(diagnostics.to_dict()),
    )
    if job.truth is None:
        file = job.file("answers.jsonl")
        return summary | ({"answers": str(file)} if file.exists() else {})
    return summary | {
        "matched_accuracy": matched_accuracy(job.truth, memberships),
        "matched_accuracy_without_questions": matched_accuracy(job.truth, _unsupervised(job)),
    }
