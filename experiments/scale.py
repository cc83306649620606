"""Numbers of runs and sizes: the paper's, or those of a quick look."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["FULL", "QUICK", "Form", "Scale"]

Form = Literal["printed", "proof", "corrected"]  # of Theorem 10's number of repetitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Runs, grids and sizes of all experiments.

    `unit` is L_1 in figures 1a and 1b, 5000 in the paper; everything else there is a multiple.
    """

    name: str
    unit: int
    synthetic_runs: int
    synthetic_nus: tuple[int, ...]
    zetas: tuple[int, ...]
    query_nus: tuple[int, ...]
    query_zetas: tuple[int, ...]
    ks: tuple[int, ...]
    real_runs: int
    real_nus: tuple[int, ...]
    fuzzifiers: tuple[float, ...]
    fuzzifier_nus: tuple[int, ...]
    beyond_runs: int
    sigmas: tuple[float, ...]
    repetitions: tuple[int, ...]
    noisy_forms: tuple[Form, ...]
    sample_sizes: tuple[int, ...]
    stratified_runs: int
    stratified_items: tuple[int, ...]
    budgets: tuple[int, ...]


FULL = Scale(
    name="full",
    unit=5000,
    synthetic_runs=20,
    synthetic_nus=(2000, 6000),
    zetas=tuple(range(1, 25)),
    query_nus=(500, 1000, 2000, 4000, 8000),
    query_zetas=(5, 13),
    ks=tuple(range(2, 12)),
    real_runs=500,
    real_nus=tuple(range(10, 411, 10)),
    fuzzifiers=(1.0, 1.25, 1.5, 2.0, 3.0, 5.0),
    fuzzifier_nus=(30, 110, 410),
    beyond_runs=50,
    sigmas=(0.0, 0.05, 0.1, 0.2, 0.3),
    repetitions=(1, 3, 10, 30),
    noisy_forms=("printed", "proof", "corrected"),
    sample_sizes=(25, 50, 100, 200),
    stratified_runs=20,
    stratified_items=(5, 10, 20, 40, 80, 120),
    budgets=(20, 60, 100, 160, 240),
)

QUICK = Scale(
    name="quick",
    unit=800,
    synthetic_runs=4,
    synthetic_nus=(500, 1500),
    zetas=(1, 5, 24),
    query_nus=(250, 1000, 2500),
    query_zetas=(5, 13),
    ks=(2, 4, 8),
    real_runs=20,
    real_nus=(10, 50, 130, 250, 410),
    fuzzifiers=(1.0, 1.5, 2.0, 3.0),
    fuzzifier_nus=(30, 410),
    beyond_runs=8,
    sigmas=(0.0, 0.1, 0.3),
    repetitions=(1, 10),
    noisy_forms=("printed", "proof"),
    sample_sizes=(25, 100),
    stratified_runs=3,
    stratified_items=(5, 20, 80),
    budgets=(20, 60, 160),
)
