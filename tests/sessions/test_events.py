"""What the log says of where something was done."""

import pytest

from askmeans.exceptions import ParameterError
from askmeans.sessions.authors import current_client, from_client


@pytest.mark.parametrize("name", ["", None, "a\nb", 3])
def test_what_is_no_client_is_refused(name):
    with pytest.raises(ParameterError, match="'name' parameter"), from_client(name):
        pass


def test_a_client_of_a_block_ends_with_it():
    before = current_client()
    with from_client("x" * 300):
        assert current_client() == "x" * 200
    assert current_client() == before
