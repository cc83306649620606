"""When a lease is in force: one rule, used wherever leases are looked at."""

from collections.abc import Iterable

from askmeans.sessions.store.contract import Lease

__all__ = ["in_force"]

_SLIP = 5.0  # seconds that a clock may be set back without ending a lease


def in_force(leases: Iterable[Lease], now: float, seconds: float) -> list[Lease]:
    """Leases that have not ended, at most `seconds` ahead.

    One that reaches farther was given before the clock was set back; it would last too long.
    """
    return [lease for lease in leases if now < lease.until <= now + seconds + _SLIP]
