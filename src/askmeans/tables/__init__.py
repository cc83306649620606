"""From a user's file or data frame to items: columns by kind, texts, pictures, own vectors."""

from askmeans.tables.items import Items, apply_recipe, read_items
from askmeans.tables.recipe import Recipe

__all__ = ["Items", "Recipe", "apply_recipe", "read_items"]
