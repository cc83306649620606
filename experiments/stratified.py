"""The default strategy on the data and experts of the paper's, with very few questions.

Its sizes do not depend on nu, so its points on synthetic data are run once and stand in every
panel, with the number of questions that it did ask.
"""

from dataclasses import replace

from askmeans.strategies import Stratified
from experiments.cells import Cell
from experiments.real import DATA, classes_task
from experiments.runs import Series, generators, repeat
from experiments.scale import Scale
from experiments.synthetic import EQUAL, PAPER, task_for

__all__ = ["cells", "of_items"]

CURVE = "stratified"
# Items asked about, for each cluster: in figures 1a and 1c; in 1b.
USUAL, SEVERAL = 2, (1, 2, 4)


def cells(scale: Scale, seed: int) -> list[Cell]:
    """Points for figures 1 and 2."""
    todo, runs = [], scale.stratified_runs

    def add(letter: str, panels: list[str], x: float, k: int, ratio: int, items: int) -> None:
        first = scale.unit if letter != "c" else scale.unit // 5
        other = ratio * first
        todo.append(
            Cell.of(
                f"figure_1-{letter}-{k}-{ratio}-stratified-{items}", synthetic_cell,
                runs * (0.6 + 1e-6 * (first + (k - 1) * other)), panels=panels, x=x, k=k,
                first=first, other=other, items=items, runs=runs, seed=seed,
            )
        )  # fmt: skip

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
            name, how = f"figure_2-{data}-stratified-{items}", {"runs": runs, "seed": seed}
            todo.append(Cell.of(name, real_cell, runs * 0.3, data=data, items=items, **how))
    return todo


def synthetic_cell(
    *, panels: list[str], x: float, k: int, first: int, other: int, items: int, runs: int, seed: int
) -> list[Series]:
    """One point of figure 1, for all panels and both settings."""
    rngs = generators(seed, "figure 1", k, other / first, n=runs)
    task = task_for(k, first, other, seed)
    series = repeat(task, of_items(items), rngs, panel="", curve=CURVE, x=x)
    return [
        replace(series, panel=panel, setting=setting)
        for panel in panels
        for setting in (PAPER, EQUAL)
    ]


def real_cell(*, data: str, items: int, runs: int, seed: int) -> list[Series]:
    """One point of figure 2."""
    rngs = generators(seed, "figure 2", data, n=runs)
    return [repeat(classes_task(data), of_items(items), rngs, panel=data, curve=CURVE, x=items)]


def of_items(items: int) -> Stratified:
    """The strategy that queries this number of items, whatever its estimate of the error."""
    return Stratified(max_items=items, precision=1e-9)
