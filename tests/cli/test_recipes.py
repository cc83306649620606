"""The recipes of docs/items.md, run as they stand there, on files such as people have."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

PAGE = Path(__file__).parents[2] / "docs" / "items.md"
TOPICS = ["parcel courier late delivery", "battery charger cable empty", "camera lens photo flash"]


@pytest.fixture
def files(tmp_path):
    """What the recipes are about."""
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    words = [[*rng.choice(TOPICS[kind].split(), 2), "since", "monday"] for kind in kinds]
    pd.DataFrame(
        {
            "ticket": [f"T{row}" for row in range(60)],
            "message": [f"{' '.join(text)} {row}" for row, text in enumerate(words)],
            "topic": [f"t{kind}" for kind in kinds],
        }
    ).to_csv(tmp_path / "tickets.csv", index=False)
    (tmp_path / "photos").mkdir()
    for row in range(30):
        pixels = rng.integers(0, 60, (12, 16, 3), dtype=np.uint8)
        pixels[..., row % 3] += 150
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{row:02}.jpg")
    products = pd.DataFrame(
        {
            "product_id": 1000 + np.arange(60),
            "price": np.round(10.0 + 11.4 * kinds, 2),
            "colour": np.array(["red", "blau", "grün"])[kinds],
            "in_stock": rng.random(60) < 0.5,
            "since": [f"{1 + row % 28:02}.0{1 + row % 9}.2023" for row in range(60)],
            "shop": "main",
            "kind": np.array(["chair", "table", "lamp"])[kinds],
        }
    )
    products.loc[[3, 9, 15, 21, 27], "price"] = np.nan
    products.loc[[4, 10, 16, 22], "colour"] = None
    products.to_csv(tmp_path / "products.csv", index=False)
    products.to_excel(tmp_path / "products.xlsx", index=False)
    products.to_csv(
        tmp_path / "spreadsheet.csv", index=False, sep=";", decimal=",", encoding="cp1252"
    )
    vectors = np.eye(6)[kinds] + rng.normal(0, 0.1, (60, 6))
    np.save(tmp_path / "emb.npy", vectors)
    products.iloc[:5].assign(product_id=range(5)).to_csv(tmp_path / "new.csv", index=False)
    np.save(tmp_path / "new.npy", vectors[:5])
    return tmp_path


def recipes():
    """The console blocks of the page: commands with the lines that they print."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return [block.strip().removeprefix("$ ").split("\n$ ") for block in blocks]


def test_there_are_five_recipes_of_fit_and_init():
    assert len(recipes()) == 5
    for recipe in recipes():
        assert {command.split()[1] for command in recipe} >= {"fit", "init"}


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe[0].split()[2])
def test_a_recipe_prints_what_the_page_says(askmeans, files, recipe):
    for command in recipe:
        words, *expected = command.splitlines()
        done = askmeans(*shlex.split(words)[1:], cwd=files)
        printed = (done.stdout + done.stderr).splitlines()
        assert expected
        for line in expected:
            assert line in printed, done.stdout + done.stderr
