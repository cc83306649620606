"""Compiled powers of numbers in [0, 1], which vectorise where the library's pow does not."""

import math

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.fuzzy.compiled import compiled

_TWO_54 = 2.0**54
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_MANTISSA = 0x000FFFFFFFFFFFFF
# Added to a small number, it leaves the nearest whole number, plus 1023, in the last bits.
_ROUND_TO_INTEGER = 1.5 * 2.0**52 + 1023.0
# log2 f = z (L0 + L1 z^2 + ...) with z = (f - 1) / (f + 1), and 2^r = 1 + r (E0 + E1 r + ...): both
# polynomials interpolate at Chebyshev's points (f from sqrt(1/2) to sqrt(2), r from -1/2 to 1/2),
# computed with 60 digits; their errors are below rounding.
_L0, _L1, _L2, _L3, _L4, _L5, _L6 = (
    2.885390081777927, 0.9617966939243335, 0.5770780172467822, 0.4121984019742357,
    0.3206163935263423, 0.26144407006393944, 0.2429183013526297,
)  # fmt: skip
_E0, _E1, _E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10 = (
    0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888,
    0.0013333558146416936, 0.0001540353044173605, 1.525273382983612e-05, 1.321544258792169e-06,
    1.0178062445845774e-07, 7.072585949269223e-09, 4.4549605981865186e-10,
)  # fmt: skip
_MOST_HALVES = 16  # above, the general power is as quick


@compiled
def powers(base: Floats, exponent: float, out: Floats, m: int) -> None:
    """Write base ** exponent to out, for m bases in [0, 1] and an exponent above 0.

    The library's pow does not vectorise. The base is 2^e * f with f in [sqrt(1/2), sqrt(2)), its
    logarithm e + log2 f; the result is 2^q * 2^r with |r| <= 1/2. Polynomials are summed in a tree,
    so that the processor need not wait for each term. Results under 2^-1010 are 0.
    """
    for b in range(m):
        # Lifted by 2^54, also the smallest numbers have an exponent to read.
        bits = np.float64(base[b] * _TWO_54).view(np.int64) - _SQRT_HALF_BITS
        f = np.int64((bits & _MANTISSA) + _SQRT_HALF_BITS).view(np.float64)
        z = (f - 1.0) / (f + 1.0)
        z2 = z * z
        z4 = z2 * z2
        log_f = (_L0 + _L1 * z2) + z4 * ((_L2 + _L3 * z2) + z4 * ((_L4 + _L5 * z2) + z4 * _L6))
        y = max(exponent * (((bits >> 52) - 54.0) + z * log_f), -1010.0)
        integer = y + _ROUND_TO_INTEGER
        r = y - (integer - _ROUND_TO_INTEGER)
        r2 = r * r
        r4 = r2 * r2
        low = (_E0 + _E1 * r) + r2 * (_E2 + _E3 * r)
        middle = (_E4 + _E5 * r) + r2 * (_E6 + _E7 * r)
        exp = low + r4 * (middle + r4 * ((_E8 + _E9 * r) + r2 * _E10))
        two_to_q = np.int64(np.float64(integer).view(np.int64) << 52).view(np.float64)
        above = y > -1010.0 and base[b] > 0.0
        out[b] = two_to_q + two_to_q * (r * exp) if above else 0.0


@compiled
def half_powers(base: Floats, halves: int, out: Floats, m: int) -> None:
    """Write base ** (halves / 2) to out, another array, by multiplications and a root."""
    integer = halves >> 1
    if integer == 0:
        for b in range(m):
            out[b] = math.sqrt(base[b])
        return
    for b in range(m):
        out[b] = base[b]
    bit = 1
    while 2 * bit <= integer:
        bit *= 2
    bit >>= 1
    while bit > 0:
        for b in range(m):
            out[b] *= out[b]
        if integer & bit:
            for b in range(m):
                out[b] *= base[b]
        bit >>= 1
    if halves & 1:
        for b in range(m):
            out[b] *= math.sqrt(base[b])


@compiled
def as_halves(exponent: float) -> int:
    """Twice the exponent where that is a small whole number but for rounding; 0 elsewhere."""
    halves = int(2.0 * exponent + 0.5)
    near = abs(2.0 * exponent - halves) < 1e-12 * halves
    return halves if near and halves <= _MOST_HALVES else 0
