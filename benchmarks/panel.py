"""A simulated language model beside people on real labels: errors after so many human cards.

    python benchmarks/panel.py [--seeds 3] [--cards 60] [--sets NAME ... | --held-out]

The model answers every item ahead. "good" is right in 80 % of the items, by group from 65 to 95 %,
and three of four mistakes go from each group to the same other one; "chance" says anything;
"hostile" names that other group in nine of ten items, "sly" does so in one half of the table only
and is right in the other; "hard" is wrong where the features are misleading: in the fifth of the
items that are nearest to another group's mean it names that group. The error is the share of items
whose strongest group is wrong. The bars are those of issue 23; `--held-out` takes sets that no
number was chosen by. Needs what benchmarks/labels.py needs.
"""

import argparse
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from askmeans import Stratified, oracles
from askmeans.policy.advisers import Advice
from askmeans.queries import Answers, GroupQueries
from label_sets import DEVELOPMENT, load

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
KINDS = ("good", "chance", "hostile", "sly", "hard")
RIGHT = 0.8
HELD_OUT = ("australian", "bupa", "hayes-roth", "housevotes", "iris", "led7digit", "mammographic",
            "movement_libras", "saheart", "tae", "wdbc", "wine")  # fmt: skip


def said_by(kind: str, X: Floats, y: Labels, seed: int) -> Labels:
    """What a simulated model says of every item."""
    k, n = int(y.max()) + 1, len(y)
    rng = np.random.default_rng([seed, 17])
    if kind == "chance":
        return rng.integers(0, k, n)
    other = (np.arange(k) + rng.integers(1, k)) % k
    if kind == "hostile":
        return np.where(rng.random(n) < 0.1, rng.integers(0, k, n), other[y])
    if kind == "hard":
        means = np.stack([X[y == j].mean(axis=0) for j in range(k)])
        off = np.square(X[:, None, :] - means).sum(axis=2)
        own = off[np.arange(n), y]
        off[np.arange(n), y] = np.inf
        misled = np.argsort(off.min(axis=1) - own, kind="stable")[: round((1.0 - RIGHT) * n)]
        said = y.copy()
        said[misled] = off[misled].argmin(axis=1)
        return said
    if kind == "sly":
        along = X @ rng.standard_normal(X.shape[1])
        return np.where(along < np.median(along), y, other[y])
    right = RIGHT + rng.uniform(-0.15, 0.15, k)
    right = np.clip(right + RIGHT - right[y].mean(), 0.0, 1.0)
    anything = (y + rng.integers(1, k, n)) % k
    wrong = np.where(rng.random(n) < 0.25, anything, other[y])
    return np.where(rng.random(n) < right[y], y, wrong)


def error_after(X: Floats, y: Labels, said: Labels | None, cards: int, seed: int) -> float:
    """The error after so many cards answered by people, beside a model or alone."""
    k = int(y.max()) + 1
    strategy = Stratified(precision=1e-9, max_items=None)
    policy = strategy.policy(X, k, fuzzifier=2.0, rng=np.random.default_rng(seed), ask="group")
    people = oracles.TableOracle.from_labels(y)
    if said is not None:
        policy.change_settings(audit=0.1, target=None)
        policy.advice = (Advice.of_table("simulated", np.arange(len(y)), np.eye(k)[said]),)
    asked = Answers()
    while len(asked) < min(cards, len(y)):
        policy.learn(asked)
        n = min(policy.batch_size or 1, cards - len(asked))
        items = [question.items[0] for question in policy.propose(n)]
        new = GroupQueries(items, k)
        asked = Answers([*asked.batches, (1, new, people.answer(new))])
    policy.learn(asked)
    return float((policy.clustering().memberships.argmax(axis=1) != y).mean())


def main() -> None:
    """Run, and print a line for each set and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--cards", type=int, default=60)
    parser.add_argument("--sets", nargs="*", default=list(DEVELOPMENT))
    parser.add_argument("--held-out", action="store_true", help="sets that nothing was chosen by")
    args = parser.parse_args()
    sets = HELD_OUT if args.held_out else args.sets
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    table = []
    print(f"{'set':12s} people  model  " + "  ".join(f"{kind:>7s}" for kind in KINDS) + "  seconds")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sets:
            X, y = load(name)
            start, rows = time.perf_counter(), []
            for seed in seeds:
                said = {kind: said_by(kind, X, y, seed) for kind in KINDS}
                alone = error_after(X, y, None, args.cards, seed)
                beside = [error_after(X, y, said[kind], args.cards, seed) for kind in KINDS]
                rows.append([alone, float((said["good"] != y).mean()), *beside])
            table.append(np.mean(rows, axis=0))
            shown = "  ".join(f"{error:7.3f}" for error in table[-1])
            print(f"{name:12s}{shown}  {time.perf_counter() - start:6.1f}", flush=True)
    people, model, good, chance, hostile, sly, hard = np.mean(table, axis=0)
    print(f"\nMean error after {args.cards} cards, {len(seeds)} seeds: people alone {people:.3f}, "
          f"model alone {model:.3f}")  # fmt: skip
    print(f"beside a good model {good:.3f}: {good / people:.2f} of people alone (bar .70), "
          f"{good / model:.2f} of the model alone (bar .80)")  # fmt: skip
    print(f"beside one at chance {chance:.3f}: {chance / people:.3f} (bar 1.05)")
    print(f"beside a hostile one {hostile:.3f}: {hostile / people:.3f} (bar 1.10)")
    print(f"beside a sly one {sly:.3f}: {sly / people:.3f} (bar 1.10)")
    print(f"beside one misled by the features {hard:.3f}: {hard / people:.3f} of people alone, "
          f"{hard / (1 - RIGHT):.3f} of the model alone")  # fmt: skip


if __name__ == "__main__":
    main()
