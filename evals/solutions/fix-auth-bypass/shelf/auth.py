"""Who may do what: tokens, roles and the rule for each kind of request."""

import hmac
from enum import IntEnum

from shelf.http import Request

TOKENS = {"member-token": "member", "librarian-token": "librarian"}


class Role(IntEnum):
    """Roles, each of which may do what the smaller ones may."""

    GUEST = 0
    MEMBER = 1
    LIBRARIAN = 2


ROLES = {"member": Role.MEMBER, "librarian": Role.LIBRARIAN}


def role_of(request: Request) -> Role:
    """Role of whoever sent the request; a guest without a valid token."""
    header = request.headers.get("authorization", "")
    scheme, _, token = header.partition(" ")
    if scheme != "Bearer":
        return Role.GUEST
    for known, role in TOKENS.items():
        if hmac.compare_digest(known.encode(), token.strip().encode()):
            return ROLES[role]
    return Role.GUEST


def needed(method: str, path: str) -> Role:
    """Role that a request needs."""
    if method == "GET":
        return Role.GUEST
    if path.startswith("/loans"):
        return Role.MEMBER
    return Role.LIBRARIAN


def allowed(request: Request) -> bool:
    """Whether the sender has the role that the request needs."""
    return role_of(request) >= needed(request.method, request.path)
