"""The model: objective, memberships, centres, seeding and Lloyd's iterations."""

from askmeans.fuzzy.model import (
    closed_form_memberships,
    objective,
    squared_distances,
    weighted_centers,
)

__all__ = ["closed_form_memberships", "objective", "squared_distances", "weighted_centers"]
