"""Who a client of the page is."""

from askmeans.web.signin import signin_cookie_name

__all__ = ["become"]


def become(client, name, role="owner"):
    """Go on as somebody else, in the same browser."""
    session = client.app.state.context.session
    client.cookies.set(
        signin_cookie_name(session), session.people.invite(name, role=role), domain="127.0.0.1"
    )
