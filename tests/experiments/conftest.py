"""One small run of all experiments, which the tests share."""

import fcntl
import os

import pytest


@pytest.fixture(scope="session")
def tiny():
    """A scale of the experiments so small that everything runs in seconds."""
    from experiments.scale import Scale

    return Scale(
        name="tiny",
        unit=50,
        synthetic_runs=2,
        synthetic_nus=(60,),
        zetas=(1, 13),
        query_nus=(40, 160),
        query_zetas=(5,),
        ks=(2, 8),
        real_runs=4,
        real_nus=(10, 50),
        fuzzifiers=(1.0, 2.0),
        fuzzifier_nus=(30,),
        beyond_runs=2,
        sigmas=(0.1,),
        repetitions=(1, 3),
        noisy_forms=("printed",),
        sample_sizes=(25,),
        stratified_runs=2,
        stratified_items=(4,),
        budgets=(60,),
    )


@pytest.fixture(scope="session")
def finished(tiny, tmp_path_factory, worker_id):
    """A folder in which the experiments were run on that scale, by one process.

    Where several processes share the tests the first that needs it makes it for all: do not write
    to it. Its figures are put together, but only `make soak` turns them into pictures, which takes
    longest.
    """
    from matplotlib.figure import Figure

    from experiments.reproduce import reproduce

    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "finished"
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with pytest.MonkeyPatch.context() as patch:
                if not os.environ.get("ASKMEANS_SOAK"):
                    patch.setattr(Figure, "savefig", lambda _, path, **__: path.touch())
                reproduce(base / "running", scale=tiny, seed=7, jobs=1)
            (base / "running").rename(folder)
    return folder
