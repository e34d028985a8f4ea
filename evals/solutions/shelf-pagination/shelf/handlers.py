"""What each request does."""

from shelf import store
from shelf.http import Request, Response

PAGE_SIZE = 10
LARGEST_PAGE_SIZE = 50


def list_books(request: Request) -> Response:
    """One page of books; ?page=1 is the first, ?size= between 1 and 50."""
    try:
        page = int(request.query.get("page", "1"))
        size = int(request.query.get("size", str(PAGE_SIZE)))
    except ValueError:
        return Response(400, {"error": "page and size are whole numbers"})
    if page < 1 or not 1 <= size <= LARGEST_PAGE_SIZE:
        return Response(400, {"error": f"page starts at 1, size is 1 to {LARGEST_PAGE_SIZE}"})
    books = store.books()
    start = (page - 1) * size
    pages = -(-len(books) // size)
    return Response(200, {"books": books[start : start + size], "page": page, "pages": pages})


def add_book(request: Request) -> Response:
    """Add a book from title and author."""
    title, author = request.body.get("title"), request.body.get("author")
    if not title or not author:
        return Response(400, {"error": "title and author are needed"})
    return Response(201, {"id": store.add_book(str(title), str(author))})


def lend(request: Request) -> Response:
    """Lend a book to a member."""
    try:
        store.lend(int(str(request.body["book"])), str(request.body["member"]))
    except KeyError:
        return Response(404, {"error": "no such book"})
    except ValueError as error:
        return Response(409, {"error": str(error)})
    return Response(201, {})


def give_back(request: Request) -> Response:
    """Take a book back."""
    try:
        store.give_back(int(str(request.body["book"])))
    except KeyError:
        return Response(404, {"error": "that book is not out"})
    return Response(200, {})
