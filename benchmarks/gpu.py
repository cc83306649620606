"""A pass of fuzzy k-means on a CUDA GPU beside one read of the data, a matrix product, and peers.

Run on a machine with a GPU: ``python benchmarks/gpu.py``. Times are medians of device events.
flash-kmeans (hard k-means) is measured where it is installed.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from askmeans import FuzzyKMeans
from askmeans.exceptions import CollapseWarning
from askmeans.fuzzy.engines import cuda as gpu
from askmeans.fuzzy.passes import Frame

SHAPES = [(100_000_000, 16, 8), (20_000_000, 64, 32), (4_000_000, 128, 100), (4_000_000, 768, 100)]


def milliseconds(call: Callable[[], Any], runs: int = 15) -> float:
    """Median time of a call, by the device's own clock, after two to warm up."""
    import cupy

    times: list[float] = []
    for run in range(runs + 2):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        if run >= 2:
            times.append(cupy.cuda.get_elapsed_time(start, end))
    return float(statistics.median(times))


def data(n: int, d: int, k: int, spread: float = 2.0) -> tuple[Any, Any]:
    """Blobs on the GPU, so many widths apart or more, and centres near theirs."""
    import cupy

    rng = cupy.random.default_rng(0)
    centers = np.float32(spread) * rng.standard_normal((k, d), dtype=np.float32)
    X = cupy.empty((n, d), np.float32)
    for start in range(0, n, 1 << 22):
        rows = X[start : start + (1 << 22)]
        rows[...] = rng.standard_normal(rows.shape, dtype=np.float32)
        rows += centers[rng.integers(0, k, len(rows))]
    moved = centers + np.float32(0.1) * rng.standard_normal(centers.shape, dtype=np.float32)
    return X, cupy.asnumpy(moved).astype(np.float64)


def torch_product(X: Any, centers: Any) -> float | None:
    """Milliseconds of torch's X @ C.T, in float32 (TF32 off, as torch has it unless told)."""
    try:
        import torch
    except ImportError:
        return None
    rows, factor = torch.from_dlpack(X), torch.from_dlpack(centers).T
    return milliseconds(lambda: rows @ factor)  # on the default stream, as CuPy


def flash(X: Any, centers: Any) -> float | None:
    """Milliseconds an iteration of flash-kmeans, from the difference of 25 and 5."""
    try:
        import torch
        from flash_kmeans import batch_kmeans_Euclid
    except ImportError:
        return None
    rows = torch.from_dlpack(X)[None]
    start = torch.asarray(centers, dtype=torch.float32, device="cuda")[None]
    spent = {}
    for iterations in (5, 5, 25):
        torch.cuda.synchronize()
        began = time.perf_counter()
        batch_kmeans_Euclid(
            rows, n_clusters=len(centers), max_iters=iterations, tol=-1.0, init_centroids=start
        )
        torch.cuda.synchronize()
        spent[iterations] = time.perf_counter() - began
    return (spent[25] - spent[5]) / 20 * 1e3


def main() -> None:
    """Print a table: a shape a paragraph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", CollapseWarning)  # two centres of one blob: times are the same
    import cupy

    device = cupy.cuda.Device()
    name = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}; float32, milliseconds a pass")
    for n, d, k in SHAPES:
        report(n // 10 if quick else n, d, k)
        cupy.get_default_memory_pool().free_all_blocks()
    tight(2_000_000 if quick else 20_000_000, 64, 32)
    cupy.get_default_memory_pool().free_all_blocks()
    whole(2_000_000 if quick else 20_000_000, 64, 32)
    cupy.get_default_memory_pool().free_all_blocks()
    from_host(2_000_000 if quick else 20_000_000, 64, 32)


def report(n: int, d: int, k: int) -> None:
    """A shape's times: one read, one product, both fuzzifiers and the peer."""
    import cupy

    X, centers = data(n, d, k)
    frame = Frame.around(centers.mean(axis=0), float(X[:10_000].std()))  # as in a fit
    there = cupy.asarray(centers, np.float32)

    def step(fuzzifier: float) -> float:
        inner, coordinates = frame.inner(centers), (frame.shift, frame.scale)
        return milliseconds(lambda: gpu.accumulate(X, None, inner, coordinates, fuzzifier))

    read, product = milliseconds(lambda: X.sum()), milliseconds(lambda: X @ there.T)
    theirs = torch_product(X, there)
    two, general = step(2.0), step(1.7)
    print(f"\n{n:,} x {d}, k = {k}")
    print(f"  one read (sum)            {read:8.2f}   {X.nbytes / read / 1e9:.2f} TB/s")
    torch_said = "" if theirs is None else f"   torch's {theirs:.2f}: ours {two / theirs:.2f} of it"
    print(f"  one product X @ C.T       {product:8.2f}{torch_said}")
    against = f"{two / read:.2f} reads, {two / product:.2f} products"
    print(f"  fuzzifier 2               {two:8.2f}   {against}")
    print(f"  fuzzifier 1.7             {general:8.2f}   {general / two:.2f} of fuzzifier 2")
    peer = flash(X, centers)
    if peer is not None:
        print(f"  flash-kmeans (TF32)       {peer:8.2f}   ours {two / peer:.2f} of it")


def tight(n: int, d: int, k: int) -> None:
    """A pass over clusters far apart, which is repeated in float64."""
    X, centers = data(n, d, k, spread=40.0)
    frame = Frame.around(centers.mean(axis=0), float(X[:10_000].std()))
    inner, coordinates = frame.inner(centers), (frame.shift, frame.scale)
    spent = milliseconds(lambda: gpu.accumulate(X, None, inner, coordinates, 2.0), 3)
    print(f"\n{n:,} x {d}, k = {k}, clusters far apart: again in float64")
    print(f"  fuzzifier 2               {spent:8.2f}")


def whole(n: int, d: int, k: int) -> None:
    """A fit from the first look at the rows, with the usual tolerance; and their memberships."""
    import cupy

    X, _ = data(n, d, k)
    model = FuzzyKMeans(k, fuzzifier=1.2, random_state=0)  # 2 merges clusters in 64 dimensions
    model.fit(X[:100_000])  # the kernels are compiled
    cupy.cuda.Device().synchronize()
    began = time.perf_counter()
    model.fit(X)
    cupy.cuda.Device().synchronize()
    spent = time.perf_counter() - began
    shown = model.memberships_
    cupy.cuda.Device().synchronize()
    looked = time.perf_counter() - began - spent
    print(
        f"\n{n:,} x {d}, k = {k}, fuzzifier 1.2: a whole fit; then all {shown.size:,} memberships"
    )
    print(f"  seconds                   {spent:8.2f}   {model.n_iter_} iterations")
    print(f"  memberships, seconds      {looked:8.2f}")


def from_host(n: int, d: int, k: int) -> None:
    """A pass over rows that are sent to the GPU in each pass, beside sending them alone."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    centers = X[:k].astype(np.float64)
    frame = (np.zeros(d), 1.0)
    rows = max(4096, (1 << 26) // d)

    def blocks() -> Any:
        host = (X[start : start + rows] for start in range(0, n, rows))
        return gpu.blocks_on_gpu(host, rows)

    def passing() -> None:
        for block in blocks():
            gpu.accumulate(block, None, centers, frame, 2.0)

    def sending() -> None:
        for _ in blocks():
            pass

    times = {}
    for name, call in (("send", sending), ("pass", passing)):
        call()
        began = time.perf_counter()
        call()
        times[name] = time.perf_counter() - began
    print(f"\n{n:,} x {d}, k = {k}, sent from the host's memory in each pass")
    rate = X.nbytes / times["pass"] / 1e9
    print(f"  sending alone             {times['send'] * 1e3:8.0f}")
    print(f"  a pass                    {times['pass'] * 1e3:8.0f}   {rate:.1f} GB/s")


if __name__ == "__main__":
    main()
