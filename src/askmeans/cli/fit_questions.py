"""How a fit gets its answers: without questions, in a session, or by a plan."""

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans import sessions
from askmeans._util.text import printable
from askmeans.cli.answer_files import AnswerLog, read_answers
from askmeans.cli.options import comma_list
from askmeans.cli.output import complain, plain
from askmeans.cli.questions import Conversation
from askmeans.cli.start import FitOptions
from askmeans.cli.tables import check_unused
from askmeans.driver import Oracle
from askmeans.driver import run as drive
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import AskmeansError, CollapseWarning, ParameterError
from askmeans.fuzzy.items import as_items
from askmeans.metrics import match_clusters, matched_accuracy
from askmeans.oracles import CallbackOracle, ConsoleOracle, TableOracle
from askmeans.paper import Plan
from askmeans.policy import Policy
from askmeans.queries import ME, Answer, Answers
from askmeans.results import Result
from askmeans.sessions import Session, SessionState
from askmeans.sessions.display import strongest_items
from askmeans.sessions.results import expected
from askmeans.sessions.warning_notes import quietly
from askmeans.spec import SIMILARITIES, PlanSpec, default_ask
from askmeans.strategies import Stratified
from askmeans.tables import Items

__all__ = ["Files", "Job", "Outcome", "answered"]

Floats = NDArray[np.float64]

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
    files: "Files"

    def known_answers(self) -> list[Answer]:
        """The answers of --answers."""
        path = self.options.answers
        return [] if path is None else read_answers(path, self.items.ids, self.names)

    def unsupervised(self) -> Floats:
        """Memberships of FuzzyKMeans; the closed form needs a fuzzifier above 1."""
        options = self.options
        alpha, seed = max(options.questions.fuzzifier, 1.05), options.questions.seed
        model = FuzzyKMeans(options.n_clusters, fuzzifier=alpha, n_init=5, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CollapseWarning)
            try:
                model.fit(self.X)
            except CollapseWarning:  # as texts and other items of many features make them do
                model.set_params(fuzzifier="auto").fit(self.X)
                if options.expert == "none":
                    complain(
                        f"warning: clusters merge at --fuzzifier {options.questions.fuzzifier:g}; "
                        f"without questions {model.fuzzifier_:.2f} was used."
                    )
        memberships: Floats = model.memberships_.astype(np.float64)
        return memberships


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Memberships, the clusters' names, and the summary of how they came about."""

    memberships: Floats
    names: list[str]
    summary: dict[str, Any]
    failure: AskmeansError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Where results go."""

    memberships: Path
    centers: Path
    summary: Path
    picture: Path
    answers: Path  # to a plan
    session: Path

    @classmethod
    def of(cls, options: FitOptions) -> "Files":
        """Beside the data, or where --out says."""
        stem = options.out or options.data.with_suffix("")
        return cls(
            memberships=Path(f"{stem}.memberships.csv"),
            centers=Path(f"{stem}.centers.csv"),
            summary=Path(f"{stem}.summary.json"),
            picture=Path(f"{stem}.png"),
            answers=Path(f"{stem}.answers.csv"),
            session=Path(f"{stem}.session.db"),
        )

    def check(self, *, force: bool, plot: bool) -> None:
        """Refuse a missing folder, and to overwrite results other than those of a stopped run."""
        files = [self.memberships, self.centers, self.summary] + [self.picture] * plot
        check_unused(files, force=force or self._stopped_before())

    def written(self, *, plot: bool) -> dict[str, str]:
        """Names of the files of results."""
        files = {"memberships": self.memberships, "centers": self.centers}
        if plot:
            files["picture"] = self.picture
        return {name: str(path) for name, path in files.items()}

    def _stopped_before(self) -> bool:
        """Whether the existing results are those of a run that was stopped."""
        try:
            return json.loads(self.summary.read_text())["stopped"] in ("interrupted", "budget")
        except (OSError, ValueError, KeyError):
            return False


def answered(job: Job) -> Outcome:
    """Memberships by the answers of the expert that --expert names."""
    if job.options.expert == "none":
        return _without_questions(job)
    if job.truth is None and isinstance(job.spec.strategy, Stratified) and job.spec.repeats == 1:
        return _in_session(job)
    return _by_plan(job)


def _without_questions(job: Job) -> Outcome:
    """A fit without an expert."""
    options, questions = job.options, job.options.questions
    asking = (questions.budget, options.answers, questions.levels, options.repeats)
    by_default = (questions.strategy, job.spec.ask) == ("auto", default_ask("auto"))
    if asking != (None, None, None, 1) or not by_default:
        raise ParameterError(
            "With --expert none nobody is asked: --budget, --repeats, --levels, --answers, "
            "--strategy and --ask must be left out. Got one of them; leave it out, or choose "
            "another --expert."
        )
    memberships = job.unsupervised()
    summary = {
        "n_items": len(job.X),
        "n_clusters": options.n_clusters,
        "strategy": "none",
        "seed": questions.seed,
        "complete": True,
        "stopped": None,
        "n_queries": 0,
        "n_rounds": 0,
    }
    return Outcome(memberships=memberships, names=job.names, summary=summary)


def _in_session(job: Job) -> Outcome:
    """A fit with a person, who answers in a session beside the data; it goes on with an old one."""
    questions, path = job.options.questions, job.files.session
    known = job.known_answers()
    with _opened(job) as session:
        if known:
            session.import_answers(known)
        if questions.budget not in (None, session.status().budget):
            session.settings.set_budget(questions.budget)
        finished = Conversation(session, ME, _to_stderr).run(until_settled=True)
        result, status = session.result(), session.status()
        stopped = result.clustering.diagnostics.stopped
        if not finished:
            stopped = "interrupted"
        elif status.state is SessionState.SPENT:
            stopped = "budget"
        summary = _summary(job) | {
            "n_clusters": len(result.cluster_names),
            "complete": finished and status.state is not SessionState.SPENT,
            "stopped": stopped,
            "n_queries": status.answered,
            "n_answers_held": status.held,
            "n_rounds": result.n_rounds,
            "diagnostics": plain(result.clustering.diagnostics.to_dict()),
            "answers": str(path),
        }
        return Outcome(
            memberships=result.memberships, names=list(result.cluster_names), summary=summary
        )


def _opened(job: Job) -> Session:
    """The session beside the data, new or from an earlier run of the same command."""
    path, spec, questions = job.files.session, job.spec, job.options.questions
    names = comma_list(questions.names)
    if not path.exists():
        return sessions.create(
            path, job.items, n_clusters=spec.n_clusters, cluster_names=names, ask=spec.ask,
            strategy=spec.strategy, budget=spec.budget, levels=spec.levels,
            fuzzifier=spec.fuzzifier, random_state=spec.seed,
        )  # fmt: skip
    session = sessions.open(path, X=job.items.features)
    before = session.config.spec()
    options = {"-k": "n_clusters", "--ask": "ask", "--strategy": "strategy", "--seed": "seed",
               "--levels": "levels", "--fuzzifier": "fuzzifier"}  # fmt: skip
    others = [
        word for word, name in options.items() if getattr(before, name) != getattr(spec, name)
    ]
    if names != session.config.cluster_names:
        others.append("--names")
    if job.items.ids != session.rows.ids()[: len(job.items.ids)]:
        others.append("--id")
    if others:
        session.close()
        raise ParameterError(
            f"{path} must belong to the same command, to go on with its answers. Got another "
            f"{', '.join(others)}; use the same, or another --out."
        )
    return session


def _by_plan(job: Job) -> Outcome:
    """A fit with a simulated expert, or with a person and a strategy of the paper.

    A person's answers are written to a file as they come, and the plan is run over them again.
    """
    failure = None
    known = job.known_answers()
    oracle: Oracle
    log = None
    if job.truth is not None:
        oracle = TableOracle.from_labels(job.truth)
    else:
        log = AnswerLog(job.files.answers, job.items.ids, job.names)
        known = list({answer.question: answer for answer in [*known, *log.answers()]}.values())
        oracle = _console(job, log, known)
    ledger = Answers.of(known, job.spec.n_clusters).ledger()
    try:
        result = drive(_plan(job), oracle, budget=job.spec.budget, ledger=ledger)
    except AskmeansError as error:
        if error.result is None:
            raise
        result, failure = error.result, error  # what was reached is written all the same
    return Outcome(
        memberships=_matched(job, result.clustering.memberships),
        names=job.names,
        summary=_plan_summary(job, result, log),
        failure=failure,
    )


def _plan(job: Job) -> "Plan | Policy":
    """The plan or policy, from its beginning."""
    noisy = True if job.truth is None else None  # people are
    return job.spec.make(as_items(job.X, job.items.blank), noisy=noisy)


def _console(job: Job, log: AnswerLog, known: list[Answer]) -> ConsoleOracle:
    """The person at the terminal, who is shown what was answered before."""
    options, items = job.options, job.items
    exemplars = None
    if options.questions.names is None and job.spec.ask not in SIMILARITIES:
        # Of the clustering that is asked about: that of the plan without answers.
        start, _ = quietly(lambda: drive(_plan(job), CallbackOracle(), budget=0))
        exemplars = strongest_items(start.clustering, job.X, _EXEMPLARS)
    frame = items.shown
    if options.table.id in frame.columns and len(frame.columns) > 1:
        frame = frame.drop(columns=options.table.id)  # it is shown beside each item
    oracle = ConsoleOracle(
        frame,
        cluster_names=job.names,
        exemplars=exemplars,
        ids=items.ids,
        n_questions=_n_questions(job, len(known)),
        levels=job.spec.levels,
        journal=log.append,
        stdout=sys.stderr,
    )
    for answer in known:
        if answer.cluster is not None and not np.isnan(answer.number):
            oracle.recall(answer.items[0], answer.cluster, answer.number)
        elif isinstance(answer.value, tuple):
            for cluster, share in enumerate(answer.value):
                oracle.recall(answer.items[0], cluster, share)
    if not sys.stdin.isatty():
        complain("reading answers from standard input.")
    return oracle


def _n_questions(job: Job, n_known: int) -> int | None:
    """About how many questions there will be; None where there is no forecast."""
    budget, forecast = job.spec.budget, expected(job.spec.strategy, len(job.X), job.spec)
    if forecast is None:
        return budget
    left = max(1, job.spec.repeats * forecast.n_queries - n_known)
    return left if budget is None else min(left, budget)


def _matched(job: Job, memberships: Floats) -> Floats:
    """The columns in the order of the names: similarities find clusters in an order of their own.

    A simulated expert's classes are matched to them; a person's clusters have no names yet.
    """
    if job.truth is None or job.spec.ask not in SIMILARITIES:
        return memberships
    classes = np.unique(job.truth, return_inverse=True)[1]
    return memberships[:, match_clusters(np.eye(job.spec.n_clusters)[classes], memberships)]


def _summary(job: Job) -> dict[str, Any]:
    """What every summary of a run with questions begins with."""
    return {
        "n_items": len(job.X),
        "n_clusters": job.spec.n_clusters,
        "strategy": job.options.questions.strategy,
        "ask": job.spec.ask,
        "seed": job.spec.seed,
    }


def _plan_summary(job: Job, result: Result, log: AnswerLog | None) -> dict[str, Any]:
    """The summary of a run by a driver."""
    summary = _summary(job) | {
        "complete": result.complete,
        "stopped": result.clustering.diagnostics.stopped,
        "n_queries": result.n_queries,
        "n_answers_held": len(result.history) - result.n_queries,
        "n_rounds": result.n_rounds,
        "diagnostics": plain(result.clustering.diagnostics.to_dict()),
    }
    if log is not None and log.path.exists():
        summary["answers"] = str(log.path)
    if job.truth is not None:
        memberships = result.clustering.memberships
        summary["matched_accuracy"] = matched_accuracy(job.truth, memberships)
        summary["matched_accuracy_without_questions"] = matched_accuracy(
            job.truth, job.unsupervised()
        )
    return summary


def _to_stderr(text: str) -> None:
    """Text for the person, beside the results on standard output."""
    sys.stderr.write(printable(text))
    sys.stderr.flush()
