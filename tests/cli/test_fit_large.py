"""`askmeans fit --engine`: files larger than memory, on disk and on a cluster."""

import json

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from gpus import have_gpu
from numpy.testing import assert_allclose


@pytest.fixture
def big(tmp_path):
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 100.0], [6.0, 100.0], [0.0, 700.0]])[np.arange(3000) % 3]
    frame = pd.DataFrame(X + rng.normal(size=X.shape) * [1.0, 100.0], columns=["a", "b"])
    frame["word"] = "x"
    frame.to_parquet(tmp_path / "big.parquet", row_group_size=500)
    return tmp_path


def read(folder, stem="big"):
    centers = pd.read_csv(folder / f"{stem}.centers.csv").set_index("cluster")
    return pd.read_parquet(folder / f"{stem}.memberships.parquet"), centers.sort_values("b")


def test_a_file_is_clustered_in_blocks_with_centers_in_its_own_units(askmeans, big):
    words = ("fit", "big.parquet", "-k", 3, "--engine", "disk", "--memory", "10MB")
    done = askmeans(*words, cwd=big)
    memberships, centers = read(big)
    assert memberships.shape == (3000, 3)
    assert_allclose(memberships.sum(axis=1), 1.0, atol=1e-6)
    assert_allclose(centers["b"], [100.0, 100.0, 700.0], atol=40.0)
    assert "left out, no numbers: word" in done.stderr
    assert "3000 items, 3 clusters" in done.stdout
    assert askmeans(*words, cwd=big, ok=False).returncode == 1  # not overwritten
    summary = json.loads(askmeans(*words, "--force", "--json", "--top", 1, cwd=big).stdout)
    assert summary["features"] == ["a", "b"]
    assert read(big)[0].columns.tolist() == ["cluster_1", "membership_1"]


def test_a_cluster_is_reached_by_its_address_and_gives_what_the_disk_gives(askmeans, big):
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        words = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--out", "far")
        askmeans("fit", "big.parquet", "-k", 3, *words, cwd=big)
    askmeans("fit", "big.parquet", "-k", 3, "--engine", "disk", "--out", "near", cwd=big)
    assert_allclose(read(big, "far")[0], read(big, "near")[0], atol=1e-6)


def test_gaps_are_filled_and_columns_chosen(askmeans, big):
    frame = pd.read_parquet(big / "big.parquet")
    frame.loc[::50, "a"] = np.nan
    frame.to_parquet(big / "gaps.parquet")
    words = ("fit", "gaps.parquet", "-k", 2, "--engine", "disk", "--features", "a")
    askmeans(*words, cwd=big)
    centers = pd.read_csv(big / "gaps.centers.csv")
    assert centers.columns.tolist() == ["cluster", "a"]
    assert_allclose(sorted(centers["a"]), [0.0, 6.0], atol=0.6)


def test_an_array_on_disk_has_numbered_columns(askmeans, big):
    np.save(big / "X.npy", pd.read_parquet(big / "big.parquet")[["a", "b"]].to_numpy())
    askmeans("fit", "X.npy", "-k", 2, "--engine", "disk", "--features", "1", cwd=big)
    assert pd.read_csv(big / "X.centers.csv").columns.tolist() == ["cluster", "1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "disk", "--expert", "console"), "nobody is asked"),
        (("--engine", "disk", "--budget", 5), "nobody is asked"),
        (("--engine", "disk", "--id", "a"), "--id must be left out with --engine disk"),
        (("--engine", "disk", "--missing", "drop"), "--missing must be left out"),
        (("--engine", "disk", "--scheduler", "tcp://x:1"), "without --engine dask"),
        (("--engine", "disk", "--memory", "lots"), "--memory must"),
        (("--engine", "disk", "--memory", "64"), "of 1MB at least. Got '64' instead, which is 64"),
        (("--engine", "disk", "--features", "word"), "--features must be columns of numbers"),
        (("--memory", "1GiB"), "left out with --engine memory"),
        (("--top", 2), "left out with --engine memory"),
    ],
)
def test_what_does_not_fit_the_engine_is_refused(askmeans, big, words, message):
    done = askmeans("fit", "big.parquet", "-k", 2, *words, cwd=big, ok=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(list(big.iterdir())) == 1


def test_without_a_card_the_engine_says_what_is_missing(askmeans, big):
    if have_gpu():
        pytest.skip("there is a card here")
    done = askmeans("fit", "big.parquet", "-k", 3, "--engine", "gpu", cwd=big, ok=False)
    assert done.returncode == 1
    assert "askmeans[gpu]" in done.stderr or "nvidia-smi" in done.stderr
    assert not (big / "big.centers.csv").exists()
