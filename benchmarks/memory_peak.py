"""How far resident memory rises above where it was."""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

MIB = 1 << 20


def peak_above(work: Callable[[], object]) -> float:
    """MiB by which resident memory rose at its highest while working."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what earlier work left with the allocator goes back
    Path("/proc/self/clear_refs").write_text("5")  # the highest mark starts anew
    before = _resident("VmRSS")
    work()
    return (_resident("VmHWM") - before) / MIB


def _resident(field: str) -> int:
    """Bytes from this process's status: VmRSS now, VmHWM at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} on this system")
