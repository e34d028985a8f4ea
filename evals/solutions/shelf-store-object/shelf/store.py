"""Books and loans in memory."""


class Store:
    """Books by number, and who has which of them."""

    def __init__(self) -> None:
        self._books: dict[int, dict[str, object]] = {}
        self._loans: dict[int, str] = {}

    def add_book(self, title: str, author: str) -> int:
        """Add a book and return its number."""
        number = len(self._books) + 1
        self._books[number] = {"id": number, "title": title, "author": author}
        return number

    def books(self) -> list[dict[str, object]]:
        """All books by number."""
        return [self._books[number] for number in sorted(self._books)]

    def lend(self, number: int, member: str) -> None:
        """Lend a book; ValueError when it is out, KeyError when there is none."""
        if number not in self._books:
            raise KeyError(number)
        if number in self._loans:
            raise ValueError(f"book {number} is out")
        self._loans[number] = member

    def give_back(self, number: int) -> None:
        """Take a book back; KeyError when it is not out."""
        del self._loans[number]
