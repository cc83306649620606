"""Passes on a CUDA GPU give the sums that numpy gives; these tests run where there is one."""

import numpy as np
import pytest
from gpus import have_gpu

from askmeans import fuzzy
from askmeans.fuzzy.engines import cuda as gpu

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not have_gpu(), reason="needs CuPy and a CUDA device"),
]


def problem(n, d, k, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d)) * spread
    X = rng.normal(size=(n, d)) + centers[rng.integers(k, size=n)]
    return X, centers + 0.1 * rng.normal(size=(k, d))


def truth(X, centers, fuzzifier, weights=None):
    """Moments, totals and objective, in numpy and float64."""
    X = np.asarray(X, np.float64)
    distances = fuzzy.squared_distances(X, centers)
    raised = fuzzy.closed_form_memberships(X, centers, fuzzifier=fuzzifier) ** fuzzifier
    raised = raised if weights is None else raised * weights[:, None]
    return raised.T @ X, raised.sum(axis=0), float((raised * distances).sum())


def on_gpu(X, centers, fuzzifier, weights=None, shift=None, scale=1.0, **options):
    """The same by the GPU, in the data's own coordinates."""
    import cupy

    shift = np.zeros(X.shape[1]) if shift is None else shift
    array = None if weights is None else cupy.asarray(weights)
    inner = (centers - shift) * scale
    data = X if isinstance(X, cupy.ndarray) else cupy.asarray(X)
    moments, totals, objective = gpu.accumulate(
        data, array, inner, (shift, scale), fuzzifier, **options
    )
    return moments / scale + shift * totals[:, None], totals, objective / scale**2


def assert_same(got, expected, tolerance):
    for mine, right in zip(got, expected, strict=True):
        scale = np.abs(right).max()
        assert np.abs(mine - right).max() <= tolerance * scale


# every way a pass can go: few and more clusters in registers, shared by a block, matrix products
SHAPES = [(8, 16), (3, 2), (1, 1), (16, 16), (5, 30), (32, 64), (20, 7), (100, 128), (90, 100)]
SHAPES += [(100, 90), (60, 150), (40, 50), (90, 101)]  # shared: unaligned, clusters divided
SHAPES += [(200, 40), (256, 8), (130, 7), (100, 256), (8, 768), (100, 768), (300, 5), (1000, 33)]


@pytest.mark.parametrize("fuzzifier", [2.0, 1.3, 3.0])
@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_sums_are_those_of_numpy(k, d, fuzzifier):
    X, centers = problem(3_001, d, k)
    X = X.astype(np.float32)
    assert_same(on_gpu(X, centers, fuzzifier), truth(X, centers, fuzzifier), 1e-5)


@pytest.mark.parametrize(("k", "d"), [(8, 16), (32, 64), (100, 128)])
def test_many_rows_add_up(k, d):
    X, centers = problem(200_003, d, k)
    X = X.astype(np.float32)
    for fuzzifier in (2.0, 1.7):
        assert_same(on_gpu(X, centers, fuzzifier), truth(X, centers, fuzzifier), 1e-5)


@pytest.mark.parametrize("fuzzifier", [1.001, 1.05, 10.0, 20.0])
@pytest.mark.parametrize(("k", "d"), [(3, 16), (17, 16), (100, 128)])
def test_nearly_hard_and_very_soft(k, d, fuzzifier):
    X, centers = problem(3_001, d, k)
    X = X.astype(np.float32)
    assert_same(on_gpu(X, centers, fuzzifier), truth(X, centers, fuzzifier), 1e-4)


@pytest.mark.parametrize("fuzzifier", [2.0, 1.7])
@pytest.mark.parametrize(("k", "d"), [(8, 16), (100, 128), (100, 300)])
def test_rows_of_weight_0_are_left_out_whatever_is_in_them(k, d, fuzzifier):
    X, centers = problem(1_001, d, k)
    X = X.astype(np.float32)
    weights = np.ones(len(X))
    weights[::7] = 0.0
    expected = truth(X, centers, fuzzifier, weights)
    X[::7] = 1e25
    assert_same(on_gpu(X, centers, fuzzifier, weights), expected, 1e-5)


def test_weights_may_be_a_column():
    import cupy

    X, centers = problem(2_000, 16, 8)
    table = np.random.default_rng(1).random((len(X), 3))
    column = cupy.asarray(table, np.float32)[:, 1]
    frame = (np.zeros(16), 1.0)
    got = gpu.accumulate(cupy.asarray(X, np.float32), column, centers, frame, 2.0)
    assert_same(got, truth(X, centers, 2.0, table[:, 1]), 1e-5)


@pytest.mark.parametrize(("k", "d"), [(8, 16), (100, 128), (100, 300)])
def test_weights_count(k, d):
    X, centers = problem(2_000, d, k)
    weights = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(float)
    X = X.astype(np.float32)
    assert_same(on_gpu(X, centers, 2.0, weights), truth(X, centers, 2.0, weights), 1e-5)


@pytest.mark.parametrize("k", [4, 100])
@pytest.mark.parametrize("fuzzifier", [2.0, 1.7])
def test_float64_stays_float64(k, fuzzifier):
    X, centers = problem(5_000, 20, k)
    assert_same(on_gpu(X, centers, fuzzifier), truth(X, centers, fuzzifier), 1e-12)


@pytest.mark.parametrize(("k", "d"), [(8, 16), (100, 128), (100, 300)])
def test_data_far_out_and_small_keeps_its_digits(k, d):
    X, centers = problem(2_000, d, k)
    shift = np.full(d, 512.1)  # no float32, unlike the scale
    small, at = (X / 1024).astype(np.float32), centers / 1024
    moved = small.astype(np.float64) + shift
    far = moved.astype(np.float32)
    got = on_gpu(far, at + shift, 2.0, shift=shift, scale=1024.0)
    assert_same(got, truth(far, at + shift, 2.0), 1e-5)


@pytest.mark.parametrize("spread", [12.0, 30.0, 300.0])
@pytest.mark.parametrize(("k", "d"), [(8, 16), (32, 64), (100, 128), (100, 300)])
def test_tight_clusters_far_apart_keep_their_digits(k, d, spread):
    X, centers = problem(20_000, d, k, spread=spread)
    X = X.astype(np.float32)
    assert_same(on_gpu(X, centers, 2.0), truth(X, centers, 2.0), 1e-5)


def test_two_tight_clusters_beside_wide_ones_keep_their_memberships():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(4, 16))
    centers[1:3] = 30.0 * centers[1] / np.linalg.norm(centers[1])
    centers[2] += 0.1 * centers[0] / np.linalg.norm(centers[0])
    width = np.array([10.0, 0.01, 0.01, 10.0])
    group = rng.integers(4, size=20_000)
    X = (centers[group] + width[group, None] * rng.normal(size=(20_000, 16))).astype(np.float32)
    assert_same(on_gpu(X, centers, 2.0), truth(X, centers, 2.0), 1e-5)


@pytest.mark.parametrize("n", [100_000_000, 140_000_000])
def test_a_hundred_million_equal_rows_do_not_drift(n):
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if free < 20 * n * 4:
        pytest.skip("needs more memory on the GPU")
    few, centers = problem(3, 16, 8)
    few = few.astype(np.float32)
    X = cupy.asarray(few)[cupy.arange(n) % 3]
    right = [n / 3 * part for part in truth(few, centers, 2.0)]
    assert_same(on_gpu(X, centers, 2.0), right, 2e-5)
    del X
    cupy.get_default_memory_pool().free_all_blocks()


def test_a_single_cluster_of_tiny_numbers_has_its_score():
    import cupy

    X = (1e-9 * (5.0 + np.random.default_rng(0).normal(size=(2_000, 4)))).astype(np.float32)
    from askmeans import FuzzyKMeans

    score = FuzzyKMeans(1).fit(cupy.asarray(X)).score(cupy.asarray(X))
    assert score == pytest.approx(FuzzyKMeans(1).fit(X).score(X), rel=1e-4)


@pytest.mark.parametrize("spread", [3.0, 5.0, 9.0])
@pytest.mark.parametrize(("k", "d"), [(8, 16), (32, 64), (100, 128), (100, 300)])
def test_clusters_apart_keep_their_centers(k, d, spread):
    X, centers = problem(20_000, d, k, spread=spread)
    X = X.astype(np.float32)
    (moments, totals, objective), right = on_gpu(X, centers, 2.0), truth(X, centers, 2.0)
    assert_same(
        [moments / totals[:, None]],
        [right[0] / right[1][:, None]],
        1e-5,
    )
    assert objective == pytest.approx(right[2], rel=5e-5)


@pytest.mark.parametrize("n", [1, 7, 8, 63, 65, 1_000])
def test_any_number_of_rows(n):
    for k, d in ((8, 16), (100, 128)):
        X, centers = problem(n, d, k)
        X = X.astype(np.float32)
        assert_same(on_gpu(X, centers, 2.0), truth(X, centers, 2.0), 1e-5)


def test_items_on_centers_belong_to_them_alone():
    X = np.eye(16, dtype=np.float32)[:4]
    moments, totals, objective = on_gpu(X, X.astype(np.float64), 2.0)
    np.testing.assert_allclose(totals, 1.0, rtol=1e-5)
    np.testing.assert_allclose(moments, X, atol=1e-5)
    assert objective < 1e-5


@pytest.mark.parametrize(("k", "d"), [(8, 16), (100, 128), (100, 300)])
def test_the_same_sums_in_every_run(k, d):
    X, centers = problem(100_000, d, k)
    X = X.astype(np.float32)
    first, second = on_gpu(X, centers, 2.0), on_gpu(X, centers, 2.0)
    for mine, again in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine, again)


def test_rows_in_any_layout_and_float_type():
    import cupy

    X, centers = problem(3_000, 16, 8)
    expected = truth(X, centers, 2.0)
    turned = cupy.asfortranarray(cupy.asarray(X, np.float32))
    assert_same(on_gpu(turned, centers, 2.0), expected, 1e-5)
    every_second = cupy.asarray(np.repeat(X, 2, axis=0), np.float32)[::2]
    assert_same(on_gpu(every_second, centers, 2.0), expected, 1e-5)
    shifted = cupy.empty(X.size + 1, np.float32)[1:].reshape(X.shape)
    shifted[...] = cupy.asarray(X)
    assert_same(on_gpu(shifted, centers, 2.0), expected, 1e-5)
    assert_same(on_gpu(cupy.asarray(X, np.float16), centers, 2.0), expected, 1e-2)


def test_tensors_of_torch_are_read_where_they_are():
    torch = pytest.importorskip("torch")
    X, centers = problem(3_000, 16, 8)
    tensor = torch.asarray(X, dtype=torch.float32, device="cuda")
    array = gpu.as_gpu_array(tensor)
    assert array.data.ptr == tensor.data_ptr()
    assert_same(on_gpu(array, centers, 2.0), truth(X, centers, 2.0), 1e-5)


def test_blocks_from_the_host_arrive_whole_and_in_order():
    import cupy

    X = np.arange(1_003 * 5, dtype=np.float32).reshape(-1, 5)
    host = (X[start : start + 100] for start in range(0, len(X), 100))
    back = [cupy.asnumpy(block) for block in gpu.blocks_on_gpu(host, 100)]
    np.testing.assert_array_equal(np.concatenate(back), X)


def fitted(X, weights=None, **parameters):
    from askmeans import FuzzyKMeans

    return FuzzyKMeans(n_clusters=4, random_state=0, **parameters).fit(X, sample_weight=weights)


@pytest.mark.parametrize("fuzzifier", [2.0, 1.5])
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_estimators_take_arrays_of_the_gpu(library, fuzzifier):
    import cupy

    xp = pytest.importorskip(library)
    X, _ = problem(150_000, 10, 4, spread=3.0)
    X = X.astype(np.float32)
    there = cupy.asarray(X)
    there = there if library == "cupy" else xp.from_dlpack(there)
    mine, right = fitted(there, fuzzifier=fuzzifier), fitted(X, fuzzifier=fuzzifier)
    for name in ("cluster_centers_", "memberships_", "labels_"):
        assert type(getattr(mine, name)) is type(there)
    memberships = cupy.asnumpy(gpu.as_gpu_array(mine.memberships_))
    np.testing.assert_allclose(memberships, right.memberships_, atol=1e-3)
    assert mine.objective_ == pytest.approx(right.objective_, rel=1e-5)
    proba = cupy.asnumpy(gpu.as_gpu_array(mine.predict_proba(there[:9])))
    np.testing.assert_allclose(proba, memberships[:9], atol=1e-5)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("kind", ["array", "file"])
def test_iterations_over_the_hosts_data_run_on_the_gpu(kind, keep, tmp_path, monkeypatch):

    X, _ = problem(150_000, 10, 4, spread=3.0)
    X = X.astype(np.float32)
    right = fitted(X)
    source = X
    if kind == "file":
        np.save(tmp_path / "x.npy", X)
        source = tmp_path / "x.npy"
    passes = []
    step = gpu.accumulate
    monkeypatch.setattr(gpu, "accumulate", lambda *args: passes.append(len(args[0])) or step(*args))
    monkeypatch.setattr(gpu, "SENT_NUMBERS", 300_000)
    if not keep:
        monkeypatch.setattr(gpu, "free_bytes", lambda: 0)
    mine = fitted(source, device="cuda")
    assert mine.objective_ == pytest.approx(right.objective_, rel=1e-5)
    np.testing.assert_allclose(mine.cluster_centers_, right.cluster_centers_, atol=1e-3)
    assert passes
    if keep:
        assert set(passes) == {len(X)}
    elif kind == "array":
        assert max(passes) == 30_000


@pytest.mark.parametrize("keep", [True, False])
def test_weights_of_the_hosts_data_count(keep, monkeypatch):

    X, _ = problem(60_000, 10, 4, spread=3.0)
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    monkeypatch.setattr(gpu, "SENT_NUMBERS", 100_000)
    if not keep:
        monkeypatch.setattr(gpu, "free_bytes", lambda: 0)
    mine, right = fitted(X, weights, device="cuda"), fitted(X, weights)
    np.testing.assert_allclose(mine.cluster_centers_, right.cluster_centers_, atol=1e-6)


@pytest.mark.parametrize("parameters", [{"metric": "cosine"}, {"init": "k-means||"}])
def test_directions_and_every_seeding(parameters):
    import cupy

    X, _ = problem(60_000, 10, 4, spread=3.0)
    mine, right = fitted(cupy.asarray(X), **parameters), fitted(X, **parameters)
    np.testing.assert_allclose(
        cupy.asnumpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-6
    )


def test_tables_on_disk_run_on_the_gpu(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, _ = problem(60_000, 10, 4, spread=3.0)
    table = pa.table({f"x{column}": X[:, column] for column in range(X.shape[1])})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=7_000)
    mine = fitted(tmp_path / "x.parquet", device="cuda")
    np.testing.assert_allclose(mine.cluster_centers_, fitted(X).cluster_centers_, atol=1e-6)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_questions_about_items_on_the_gpu(library):
    import cupy

    from askmeans import ActiveFuzzyKMeans
    from askmeans.oracles import TableOracle

    xp = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=20_000)
    X = rng.normal(size=(20_000, 5)) + 10 * rng.normal(size=(4, 5))[labels]
    there = cupy.asarray(X)
    there = there if library == "cupy" else xp.from_dlpack(there)
    oracle = TableOracle(np.eye(4)[labels])
    model = ActiveFuzzyKMeans(4, oracle=oracle, ask="group", budget=20, random_state=0).fit(there)
    assert type(model.memberships_) is type(there)
    found = cupy.asnumpy(gpu.as_gpu_array(model.memberships_))
    assert (found.argmax(axis=1) == labels).mean() > 0.95
