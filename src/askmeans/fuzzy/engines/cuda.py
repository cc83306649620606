"""One pass of fuzzy k-means over rows on a CUDA device, in the time of reading them a few times.

`passes.cu` has the kernels; CuPy compiles them for the GPU when they are first called. The shape
selects one of three methods: `narrow` and `wide` read each row once and write only sums;
`products`, for many clusters times features and for float64, uses matrix products of blocks. Sums
are taken in the same order in every run on the same kind of GPU.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.progress import progress_callback
from askmeans.exceptions import DeviceError, MissingExtraError
from askmeans.fuzzy import kernels
from askmeans.fuzzy.engines import FEW_FEATURES, centers_are_close, clusters_are_small

Array = Any  # a CuPy array

_SHARED = 227 * 1024  # bytes of a block of threads on GPUs since 2020 (A100: 163, checked)
_COPY_ROWS = 1 << 18  # rows that are copied at a time if the array on the GPU is not contiguous
_PRODUCT_BYTES = 1 << 29  # memory of a block of matrix products
SENT_NUMBERS = 1 << 26  # in a block that is sent to the GPU: 256 MiB of float32
_COPY_THREADS = 8  # of the host: one is slower than the transfer
_ADDED = 256  # tiles of rows that a thread adds up in float32, before sums continue in float64
_SMALLEST = 30.0  # decimal exponent below which sums in float32 vanish
_NULL = np.intp(0)  # a NULL pointer, for an argument that a kernel does not read
_CROWDED = 16  # clusters per feature from which on passes are not fused (see FEW_FEATURES)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError(
            "Work on a GPU needs CuPy, which is not installed: pip install 'askmeans[gpu]', or "
            "leave it to the host (no 'device', --engine disk)."
        ) from error
    return cupy


def accumulate(
    X: Array,
    weights: Array | None,
    centers: Floats,
    frame: tuple[Floats, float],
    fuzzifier: float,
) -> tuple[Floats, Floats, float]:
    """One of Lloyd's iterations over rows on the GPU, with the result of kernels.accumulate.

    `frame` is the shift and the scale of the inner coordinates in which the centres are given.
    For small clusters far from each other float32 loses digits: that pass is taken in float64.
    """
    k, d = centers.shape
    # u ** fuzzifier of an even row must not underflow
    double = X.dtype == np.float64 or fuzzifier * math.log10(k) > _SMALLEST
    differences = k > _CROWDED * d and d <= FEW_FEATURES  # these lose nothing
    is_checked = double or differences  # or needs no check of its precision
    if not is_checked and centers_are_close(centers):
        is_checked = double = True
    sums = _sums(X, weights, centers, frame, fuzzifier, double=double)
    if not is_checked and clusters_are_small(centers, sums[1], sums[2]):
        return _sums(X, weights, centers, frame, fuzzifier, double=True)
    return sums


def _sums(
    X: Array,
    weights: Array | None,
    centers: Floats,
    frame: tuple[Floats, float],
    fuzzifier: float,
    *,
    double: bool,
) -> tuple[Floats, Floats, float]:
    """A pass in float32 or float64."""
    cupy = _cupy()
    shift, scale = frame
    k, d = centers.shape
    rounded_shift = shift if double else shift.astype(np.float32).astype(np.float64)
    # The origin on the GPU is rounded to the rows' float type.
    shift_error = (rounded_shift - shift) * scale
    moments, totals, objective = np.zeros((k, d)), np.zeros(k), 0.0
    with X.device:
        for rows, part in _contiguous_blocks(X, weights, double=double):
            fusion = None if double else _choose_fusion(rows.device.id, d, k)
            step = _products if fusion is None else _fused
            rounded = (centers - shift_error).astype(rows.dtype)
            norms = np.square(rounded, dtype=np.float64).sum(axis=1)
            small = cupy.asarray(  # one copy for all three
                np.concatenate([rounded.ravel(), rounded_shift, norms]).astype(rows.dtype)
            )
            options = _Options(
                fusion=fusion,
                shift=small[k * d : (k + 1) * d],
                norms=small[(k + 1) * d :],
                scale=float(scale),
                power=1.0 / (fuzzifier - 1.0),
            )
            sums = step(rows, part, small[: k * d].reshape(k, d), options)
            moments += sums[:, :d] + shift_error * sums[:, d, None]
            totals += sums[:, d]
            objective += sums[0, d + 1]
    return moments, totals, objective


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fusion:
    """How a fused pass is divided: tiles of 16 clusters and 8 features, rows, warps and blocks.

    `clusters` and `features` count tiles; `blocks` run on a processor at a time, `most` on the GPU.
    """

    name: str
    clusters: int
    features: int
    rows: int
    warps: int
    blocks: int
    most: int
    stages: int = 0

    @property
    def sharing(self) -> int:
        """Warps among which the features are divided; the others divide the clusters."""
        return math.gcd(self.features, self.warps)

    @property
    def sums(self) -> int:
        """Registers in which a thread keeps its part of the sums."""
        clusters = -(-self.clusters // (self.warps // self.sharing))
        return 4 * clusters * (self.features // self.sharing)

    @property
    def outputs(self) -> int:
        """Sums that a block of threads writes."""
        return self.clusters * 16 * (self.features * 8 + 1) + 1

    @property
    def shared(self) -> int:
        """Bytes of shared memory of a block of threads."""
        width, factors = self.features * 8, self.features * self.clusters * 128
        if self.name == "narrow":
            rows = self.warps * self.rows * 8 * (width + 4)
            return 4 * max(factors + width + rows, self.outputs)
        shares = self.warps * self.clusters * 128
        return 4 * (factors + shares + width + self.stages * self.warps * 8 * (width + 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """Further arguments of a pass (`norms`: squared lengths of the centres)."""

    fusion: _Fusion | None
    shift: Array
    norms: Array
    scale: float
    power: float


@cache
def _choose_fusion(device: int, d: int, k: int) -> _Fusion | None:
    """The fused pass for this shape; None if matrix products are better, or the only way.

    Chosen by trials on an H200 (benchmarks/gpu.py): the registers for the sums of all clusters and
    features are the limit.
    """
    cupy = _cupy()
    if int(cupy.cuda.Device(device).compute_capability) < 80 or k > _CROWDED * d:
        return None
    properties = cupy.cuda.runtime.getDeviceProperties(device)
    limit, processors = properties["sharedMemPerBlockOptin"], properties["multiProcessorCount"]
    clusters, features = -(-k // 16), 2 * -(-d // 16)
    sums = 4 * clusters * features  # registers of each thread, if every warp keeps all
    if sums <= 64:
        few = sums <= 16
        blocks = 4 if few else 2
        return _Fusion(
            name="narrow",
            clusters=clusters,
            features=features,
            rows=4 if few else 2,
            warps=4,
            blocks=blocks,
            most=processors * blocks,
        )
    features = 4 * -(-d // 32)
    for warps, blocks, most in ((4, 2, 64), (8, 1, 112), (4, 1, 112)):
        for stages in (2, 1):
            fusion = _Fusion(
                name="wide",
                clusters=clusters,
                features=features,
                rows=1,
                warps=warps,
                blocks=blocks,
                most=processors * blocks,
                stages=stages,
            )
            fits = fusion.shared <= min(_SHARED, limit) // blocks - 1024 * (blocks - 1)
            if fits and clusters <= 16 and fusion.sums <= most:
                return fusion
    return None


@cache
def _module(device: int, constants: tuple[tuple[str, Any], ...]) -> Any:
    """The kernels, compiled for the GPU with these constants (a second; CuPy caches the result)."""
    del device  # a module belongs to the GPU on which it was loaded
    source = files("askmeans.fuzzy.engines").joinpath("passes.cu").read_text()
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in constants))
    return _cupy().RawModule(code=source, options=options)


@cache
def _kernel(device: int, name: str, constants: tuple[tuple[str, Any], ...]) -> Any:
    return _module(device, constants).get_function(name)


@cache
def _compiled(device: int, fusion: _Fusion, flags: tuple[tuple[str, int], ...]) -> tuple[Any, Any]:
    """The kernel of a fused pass, and the kernel that adds up the sums of its blocks."""
    constants = (
        *flags,
        ("KT", fusion.clusters),
        ("DT", fusion.features),
        ("R", fusion.rows),
        ("WARPS", fusion.warps),
        ("BLOCKS", fusion.blocks),
    )
    if fusion.name == "wide":
        constants = (*constants, ("STAGES", fusion.stages), ("WD", fusion.sharing))
    kernel = _kernel(device, fusion.name, constants)
    kernel.max_dynamic_shared_size_bytes = fusion.shared
    return kernel, _kernel(device, "total", constants)


def _fused(X: Array, weights: Array | None, centers: Array, options: _Options) -> Floats:
    """Sums of all rows, each read once: k rows of moments and total, and the objective.

    The result is k x (d + 2); the objective is at [0, d + 1].
    """
    cupy, fusion = _cupy(), options.fusion
    assert fusion is not None
    n, d = X.shape
    k = len(centers)
    flags = (
        ("FEATURES", d),
        ("CLUSTERS", k),
        ("TWO", int(options.power == 1.0)),
        ("WEIGHTS", int(weights is not None)),
        ("ALIGNED", int(d % 4 == 0 and X.data.ptr % 16 == 0)),
    )
    kernel, total = _compiled(X.device.id, fusion, flags)
    tiles = -(-n // (8 * fusion.rows))  # each block adds up few of them: sums in float32 drift
    blocks = min(
        -(-tiles // fusion.warps), fusion.most * -(-tiles // (fusion.most * fusion.warps * _ADDED))
    )
    parts, out = cupy.empty((blocks, fusion.outputs), np.float32), cupy.empty(fusion.outputs)
    arguments = (
        X,
        np.int64(n),
        centers,
        options.norms,
        options.shift,
        np.float32(options.scale),
        weights if weights is not None else _NULL,
        np.float32(options.power),
        parts,
    )
    kernel((blocks,), (fusion.warps * 32,), arguments, shared_mem=fusion.shared)
    sizes = (np.int32(blocks), np.int32(fusion.outputs))
    total((-(-fusion.outputs // 2),), (64,), (parts, *sizes, out))  # a warp a sum
    sums = cupy.asnumpy(out)
    width = fusion.features * 8
    moments = sums[: fusion.clusters * 16 * width].reshape(-1, width)[:k, :d]
    result = np.zeros((k, d + 2))
    result[:, :d] = moments
    result[:, d] = sums[fusion.clusters * 16 * width :][:k]
    result[0, d + 1] = sums[-1]
    return result


def _products(X: Array, weights: Array | None, centers: Array, options: _Options) -> Floats:
    """The same sums by two matrix products per block; a column of ones becomes the totals."""
    cupy = _cupy()
    n, d = X.shape
    k = len(centers)
    real = X.dtype.type
    flags = (("REAL", "float" if real is np.float32 else "double"),)
    center, weigh = (_kernel(X.device.id, name, flags) for name in ("center", "weigh"))
    width = 4 * -(-(d + 1) // 4)
    differences = d <= FEW_FEATURES
    factor = cupy.zeros((k, width), real)
    factor[:, :d] = -2 * centers
    factor[:, d] = options.norms
    most = max(1024, min(1 << 17, _PRODUCT_BYTES // ((width + k) * X.dtype.itemsize)))
    inner = cupy.empty((min(n, most), width), real)
    shares = cupy.empty((len(inner), k), real)
    norms, parts = cupy.empty(len(inner), real), cupy.empty(len(inner), real)
    sums, objective = cupy.zeros((k, width)), cupy.zeros(())
    for start in range(0, n, most):
        rows = X[start : start + most]
        m = len(rows)
        grid, shape = (-(-m // 8),), (np.int64(m), np.int32(d), np.int32(width))
        center(grid, (256,), (rows, *shape, options.shift, real(options.scale), inner, norms))
        if not differences:
            cupy.matmul(inner[:m], factor.T, out=shares[:m])
        weight = _NULL if weights is None else weights[start : start + most]
        arguments = (shares, np.int64(m), np.int32(k), norms, weight, real(options.power), parts)
        near = (centers if differences else _NULL, inner, np.int32(d), np.int32(width))
        weigh(grid, (256,), arguments + near)
        sums += shares[:m].T @ inner[:m]
        objective += parts[:m].sum(dtype=np.float64)
    result = np.zeros((k, d + 2))
    result[:, : d + 1] = cupy.asnumpy(sums)[:, : d + 1]
    result[0, d + 1] = float(objective)
    return result


def _contiguous_blocks(
    X: Array, weights: Array | None, *, double: bool
) -> Iterator[tuple[Array, Array | None]]:
    """Contiguous rows in float32 or float64: all at once if they are so already."""
    cupy = _cupy()
    real = np.dtype(np.float64 if double else np.float32)
    fits = X.dtype == real and X.flags.c_contiguous
    step = len(X) if fits else _COPY_ROWS
    for start in range(0, len(X), step):
        rows = cupy.ascontiguousarray(X[start : start + step], dtype=real)
        part = None
        if weights is not None:  # kernels expect contiguous memory
            part = cupy.ascontiguousarray(weights[start : start + step], dtype=real)
        yield rows, part


def check_gpu() -> None:
    """Raise a DeviceError without a CUDA device."""
    cupy = _cupy()
    try:
        cupy.cuda.runtime.getDeviceCount()
        cupy.cuda.compiler.compile_using_nvrtc(
            'extern "C" __global__ void f() {}'
        )  # needs the toolkit
    except (cupy.cuda.runtime.CUDARuntimeError, RuntimeError) as error:
        raise DeviceError(
            f"There is no usable CUDA device ({error}). Check the driver with "
            "nvidia-smi and the toolkit (pip install 'cupy-cuda13x[ctk]'), or leave the work to "
            "the host (no 'device', --engine disk)."
        ) from error


def as_gpu_array(X: Any) -> Array:
    """The same array as CuPy's without a copy: others are converted through DLPack."""
    cupy = _cupy()
    if isinstance(X, cupy.ndarray):
        return X
    return cupy.from_dlpack(X.detach() if hasattr(X, "detach") else X)


def blocks_on_gpu(blocks: Iterable[NDArray[Any]], rows: int) -> Iterator[Array]:
    """Send blocks of at most `rows` rows to the GPU, one copied while another is computed.

    Two are on the GPU at a time; each is valid until the next one is requested.
    """
    cupy = _cupy()
    host = iter(blocks)
    first = next(host, None)
    if first is None:
        return
    size, dtype = rows * first.shape[1], first.dtype
    pinned = [cupy.cuda.alloc_pinned_memory(size * dtype.itemsize) for _ in range(2)]
    staged = [np.frombuffer(memory, dtype, size) for memory in pinned]
    buffers = [cupy.empty(size, dtype) for _ in range(2)]
    copied, free = ([cupy.cuda.Event() for _ in range(2)] for _ in range(2))
    copying, current = cupy.cuda.Stream(non_blocking=True), cupy.cuda.get_current_stream()
    for event in free:
        event.record(current)  # earlier computations may still use the memory

    def send(block: NDArray[Any], at: int) -> Array:
        copied[at].synchronize()  # until the staging memory is free
        _copy(block, staged[at][: block.size].reshape(block.shape))
        copying.wait_event(free[at])
        buffers[at][: block.size].set(staged[at][: block.size], stream=copying)
        copied[at].record(copying)
        return buffers[at][: block.size].reshape(block.shape)

    try:
        at, ahead = 0, send(first, 0)
        while ahead is not None:
            block, following = ahead, next(host, None)
            ahead = None if following is None else send(following, 1 - at)
            current.wait_event(copied[at])
            yield block
            free[at].record(current)
            at = 1 - at
    finally:
        copying.synchronize()


def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy rows on several threads."""
    step = -(-len(source) // _COPY_THREADS)

    def part(start: int) -> None:
        target[start : start + step] = source[start : start + step]

    with ThreadPoolExecutor(_COPY_THREADS) as pool:
        list(pool.map(part, range(0, len(source), step)))


def free_bytes() -> int:
    """Free memory of the GPU, with the memory that CuPy keeps for reuse."""
    cupy = _cupy()
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return int(free)


class GpuEngine:
    """Rows of the host's memory or disk, whose iterations run on the GPU.

    Rows that fit into half of its free memory stay there; others are sent in each pass.
    """

    def __init__(self, engine: Any) -> None:
        cupy = _cupy()
        check_gpu()
        self.engine = engine
        self.n_rows, self.n_features = engine.n_rows, engine.n_features
        self.dtype = engine.dtype
        free = free_bytes()
        weights = engine.weights
        self.weights = cupy.asarray(weights, self.dtype) if weights.size else None
        self.rows = getattr(engine, "block", max(4096, SENT_NUMBERS // self.n_features))
        self.kept: Array | None = None
        if self.n_rows * self.n_features * self.dtype.itemsize <= free // 2:
            self.kept = cupy.empty((self.n_rows, self.n_features), self.dtype)
            for start, block in self._sent():
                self.kept[start : start + len(block)] = block

    def map(self, function: Callable[..., Any], *shared: Any, numbered: bool = False) -> list[Any]:
        """Lloyd's passes on the GPU, all others on the host."""
        if function is not kernels.accumulate:
            results: list[Any] = self.engine.map(function, *shared, numbered=numbered)
            return results
        centers, shift, scale, fuzzifier = shared
        blocks = self._sent() if self.kept is None else [(0, self.kept)]
        watch, sums = progress_callback(), []
        for start, block in blocks:
            weights = self._weights(start, block)
            sums.append(accumulate(block, weights, centers, (shift, scale), fuzzifier))
            if watch is not None:
                watch((start + len(block)) / self.n_rows)
        return sums

    def take(self, rows: NDArray[np.intp]) -> Any:
        """A few rows by number, from the host."""
        return self.engine.take(rows)

    def _weights(self, start: int, block: Array) -> Array | None:
        return None if self.weights is None else self.weights[start : start + len(block)]

    def _sent(self) -> Iterator[tuple[int, Array]]:
        """Blocks of rows as they arrive, with the number of the first."""
        if hasattr(self.engine, "blocks"):
            host = (np.asarray(block, self.dtype) for _, block in self.engine.blocks())
        else:
            X = self.engine.X
            host = (X[start : start + self.rows] for start in range(0, self.n_rows, self.rows))
        start = 0
        for block in blocks_on_gpu(host, min(self.rows, self.n_rows)):
            yield start, block
            start += len(block)
