"""Dask: the same results on a real cluster of processes, also when one of them is killed."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, Future, LocalCluster, wait
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, oracles
from askmeans._util.progress import reporting_progress
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import kernels
from askmeans.fuzzy.engines.dask import DaskEngine, connected, moves


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(5)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[np.arange(3000) % 3]
    return X + 1.5 * rng.normal(size=X.shape)


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found


def test_a_cluster_of_processes_finds_what_one_process_finds(blobs, cluster):
    here = FuzzyKMeans(3, random_state=1).fit(blobs)
    with Client(cluster):
        there = FuzzyKMeans(3, random_state=1).fit(da.from_array(blobs, chunks=(700, 1)))
        assert isinstance(there.memberships_, da.Array)
        assert_allclose(there.memberships_.compute(), here.memberships_, atol=1e-6)
        assert (there.labels_.compute() == here.labels_).all()
    assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-6)
    assert there.n_iter_ == here.n_iter_


def test_a_worker_killed_in_the_middle_does_not_fail_the_fit(blobs, cluster):
    expected = FuzzyKMeans(3, random_state=1, tol=1e-8).fit(blobs)
    calls = []
    with Client(cluster) as client:
        X = da.from_array(blobs, chunks=(700, 2)).persist()  # parts of it are lost, too
        pids = list(client.run(os.getpid).values())

        def kill(_):
            calls.append(1)
            if len(calls) == 20:
                os.kill(pids[0], signal.SIGKILL)

        with reporting_progress(kill):
            found = FuzzyKMeans(3, random_state=1, tol=1e-8).fit(X)
    assert len(calls) > 25  # it went on after it
    assert_allclose(found.cluster_centers_, expected.cluster_centers_, atol=1e-6)


def test_blocks_that_one_worker_holds_are_shared_with_others_once_passes_go_on(blobs, cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2)  # one may have been killed above
        first, second = client.nthreads()
        X = client.persist(da.from_array(blobs, chunks=(500, 2)), workers=[first])
        wait(X)
        engine = DaskEngine(X)
        sums = [
            np.sum([part[0] for part in engine.map(kernels.shifted_moments, np.zeros(2))], axis=0)
            for _ in range(4)
        ]
        copied = [block for block in engine.block_futures if isinstance(block, Future)]
        assert [second in workers for workers in client.who_has(copied).values()] == [True] * 3
    assert_allclose(sums, [blobs.sum(axis=0)] * 4)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), min_size=1, max_size=12),
    st.tuples(*[st.integers(1, 3)] * 3),
)
def test_moves_leave_no_worker_with_a_block_more_than_another_could_take(held, n_threads):
    where, sizes = map(list, zip(*held, strict=True))
    threads = dict(zip("abc", n_threads, strict=True))

    def loads(where):
        found = dict.fromkeys(threads, 0.0)
        for name, size in zip(where, sizes, strict=True):
            found[name] += size / threads[name]
        return found

    after = list(where)
    for t, name in moves(where, sizes, threads):
        after[t] = name
    least, most = (pick(loads(after).values()) for pick in (min, max))
    assert most <= max(loads(where).values()) + 1e-9
    assert 0.9 * most - least <= max(sizes) + 1e-9


def test_a_scheduler_is_reached_by_its_address(blobs, cluster):
    with connected(cluster.scheduler_address):
        found = FuzzyKMeans(3, random_state=1).fit(da.from_array(blobs, chunks=(1000, 2)))
    here = FuzzyKMeans(3, random_state=1).fit(blobs)
    assert_allclose(found.cluster_centers_, here.cluster_centers_, atol=1e-6)


def test_an_address_where_no_scheduler_listens_is_refused():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(ParameterError, match="must be the address of a Dask scheduler that runs"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


def test_what_questions_taught_is_predicted_on_the_cluster(blobs, cluster):
    expert = oracles.TableOracle.from_labels(np.arange(3000) % 3)
    model = ActiveFuzzyKMeans(3, oracle=expert, ask="group", budget=12, random_state=0)
    with Client(cluster):
        model.fit(da.from_array(blobs, chunks=(1000, 2)))
        labels = model.labels_.compute()
    assert (labels == np.arange(3000) % 3).mean() > 0.9


# Without a client, Dask's threads do the work.


@pytest.mark.parametrize("init", ["k-means++", "k-means||"])
def test_frames_weights_and_names(blobs, init):
    frame = pd.DataFrame(blobs, columns=["a", "b"])
    weights = np.arange(3000) % 4
    there = FuzzyKMeans(3, init=init, random_state=1)
    there.fit(dd.from_pandas(frame, npartitions=4), sample_weight=da.from_array(weights, 1000))
    here = FuzzyKMeans(3, init=init, random_state=1).fit(frame, sample_weight=weights)
    assert there.feature_names_in_.tolist() == ["a", "b"]
    assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-6)


@pytest.mark.parametrize("init", ["k-means++", "k-means||"])
def test_starts_on_many_rows_are_the_same_in_every_engine(tmp_path, init):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2)) + 6.0 * rng.integers(0, 3, size=(60_000, 1))
    np.save(tmp_path / "X.npy", X)
    here, disk, there = (
        FuzzyKMeans(3, init=init, random_state=1).fit(data).cluster_centers_
        for data in (X, tmp_path / "X.npy", da.from_array(X, chunks=(17_000, 2)))
    )
    assert_allclose(disk, here, atol=1e-6)
    assert_allclose(there, here, atol=1e-6)


@pytest.mark.soak
def test_a_large_fit_on_a_cluster_survives_both_workers_killed_in_turn(cluster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 8)) + 6.0 * rng.integers(0, 5, size=(1_000_000, 1))
    expected = FuzzyKMeans(5, random_state=1, tol=1e-8).fit(X)
    calls = []
    with Client(cluster) as client:
        D = da.from_array(X, chunks=(100_000, 8))

        def kill(_):
            calls.append(1)
            if len(calls) in (25, 65):
                client.wait_for_workers(2)  # the one that was killed may not be back
                os.kill(list(client.run(os.getpid).values())[len(calls) > 30], signal.SIGKILL)

        with reporting_progress(kill):
            found = FuzzyKMeans(5, random_state=1, tol=1e-8).fit(D)
    assert_allclose(found.cluster_centers_, expected.cluster_centers_, atol=1e-6)


def test_predictions_of_dask_collections_are_lazy(blobs):
    model = FuzzyKMeans(3, random_state=1).fit(blobs)
    X = da.from_array(blobs, chunks=(800, 2))
    assert (model.predict(X).compute() == model.predict(blobs)).all()
    assert_allclose(model.predict_proba(X).compute(), model.predict_proba(blobs), atol=1e-12)
    assert_allclose(model.transform(X)[5:9].compute(), model.transform(blobs)[5:9], atol=1e-12)
    assert model.score(X) == pytest.approx(model.score(blobs))


def test_directions_count_in_blocks_too(blobs):
    here = FuzzyKMeans(3, metric="cosine", random_state=1).fit(blobs)
    there = FuzzyKMeans(3, metric="cosine", random_state=1).fit(da.from_array(blobs, 500))
    assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-6)


def test_blocks_of_unknown_length_are_counted_first(blobs):
    X = da.from_array(blobs, chunks=(800, 2))
    some = X[X[:, 0] > 0]
    found = FuzzyKMeans(2, random_state=1).fit(some)
    here = FuzzyKMeans(2, random_state=1).fit(blobs[blobs[:, 0] > 0])
    assert_allclose(found.cluster_centers_, here.cluster_centers_, atol=1e-6)


def test_a_dask_collection_that_is_no_matrix_of_numbers_is_refused():
    with pytest.raises(DataError, match="must be a matrix of numbers"):
        FuzzyKMeans(2).fit(da.zeros(10))
    with pytest.raises(DataError, match="Got NaN"):
        FuzzyKMeans(2).fit(da.from_array(np.full((10, 2), np.nan)))


def test_whole_numbers_become_floats():
    model = FuzzyKMeans(2, random_state=0).fit(da.from_array(np.array([[0], [1], [9], [10]])))
    assert model.cluster_centers_.dtype == np.float64
