"""Fields of forms as people all over the world type them."""

import pytest

from askmeans.web.forms import Form


@pytest.mark.parametrize("typed", ["12.5", "12,5", "\u0661\u0662.\u0665"])
def test_a_number_is_read_with_the_signs_of_any_language(typed):
    assert Form({"share-2": typed}).shares() == {2: 0.125}


@pytest.mark.parametrize("comma", [",", "\u060c", "\uff0c", "\u3001"])
def test_names_of_groups_are_divided_by_the_commas_of_any_script(comma):
    assert Form({"names": f"too small{comma} broken"}).group_names() == ["too small", "broken"]
