"""Our own strategy beside the paper's: the same data and experts, and very few questions.

Its sizes do not depend on nu, so its points on synthetic data are run once and stand in every
panel, with the number of questions that it did ask.
"""

from dataclasses import replace
from functools import partial

from askmeans.oracles import TableOracle
from askmeans.reproduction.cells import Cell
from askmeans.reproduction.real import DATA, accuracy, load
from askmeans.reproduction.runs import Series, Task, generators, repeat
from askmeans.reproduction.scale import Scale
from askmeans.reproduction.synthetic import EQUAL, PAPER, task_for
from askmeans.strategies import Stratified

__all__ = ["cells", "of_items"]

CURVE = "stratified"
# Items asked about, for each cluster: in figures 1a and 1c; in 1b.
USUAL, SEVERAL = 2, (1, 2, 4)


def cells(scale: Scale, seed: int) -> list[Cell]:
    """Points for figures 1 and 2."""
    todo = []

    def add(letter: str, panels: list[str], x: float, k: int, ratio: int, items: int) -> None:
        first = scale.unit if letter != "c" else scale.unit // 5
        arguments = {
            "panels": panels, "x": x, "k": k, "first": first, "other": ratio * first,
            "items": items, "runs": scale.stratified_runs, "seed": seed,
        }  # fmt: skip
        name = f"figure_1-{letter}-{k}-{ratio}-stratified-{items}"
        n = first + (k - 1) * ratio * first
        weight = scale.stratified_runs * (0.6 + 1e-6 * n)
        todo.append(Cell(name=name, work=synthetic_cell, arguments=arguments, weight=weight))

    nus = [f"nu = {nu}" for nu in scale.synthetic_nus]
    for zeta in scale.zetas:
        add("a", [f"a, {nu}" for nu in nus], zeta, 4, zeta, 4 * USUAL)
    for zeta in scale.query_zetas:
        for times in SEVERAL:
            add("b", [f"b, beta = {4 / (1 + 3 * zeta):g}"], times, 4, zeta, 4 * times)
    for k in scale.ks:
        add("c", [f"c, {nu}" for nu in nus], k, k, 12, k * USUAL)
    for data in DATA:
        for items in scale.stratified_items:
            arguments = {"data": data, "items": items, "runs": scale.stratified_runs, "seed": seed}
            name = f"figure_2-{data}-stratified-{items}".replace(" ", "_")
            weight = scale.stratified_runs * 0.3
            todo.append(Cell(name=name, work=real_cell, arguments=arguments, weight=weight))
    return todo


def synthetic_cell(
    *, panels: list[str], x: float, k: int, first: int, other: int, items: int, runs: int, seed: int
) -> list[Series]:
    """One point of figure 1, for all panels and both settings."""
    rngs = generators(seed, "figure 1", k, other / first, n=runs)
    series = repeat(
        task_for(k, first, other, seed), of_items(items), rngs,
        panel="", setting="", curve=CURVE, x=x,
    )  # fmt: skip
    return [
        replace(series, panel=panel, setting=setting)
        for panel in panels
        for setting in (PAPER, EQUAL)
    ]


def real_cell(*, data: str, items: int, runs: int, seed: int) -> list[Series]:
    """One point of figure 2."""
    X, y = load(data)
    task = Task(
        X=X,
        n_clusters=int(y.max()) + 1,
        oracle=TableOracle.from_labels(y),
        judge=partial(accuracy, X, y),
    )
    rngs = generators(seed, "figure 2", data, n=runs)
    return [repeat(task, of_items(items), rngs, panel=data, setting="", curve=CURVE, x=items)]


def of_items(items: int) -> Stratified:
    """The strategy that asks about so many items, however sure it is before."""
    return Stratified(max_items=items, precision=1e-9)
