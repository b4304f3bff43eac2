"""Products and the catalogue that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


class ShopError(Exception):
    """Something a customer can be told about."""

    status = "400 Bad Request"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class UnknownProduct(ShopError):
    status = "404 Not Found"

    def __init__(self, sku: str) -> None:
        super().__init__(f"there is no product {sku!r}")
        self.sku = sku


class OutOfStock(ShopError):
    status = "409 Conflict"


@dataclass(frozen=True)
class Product:
    """One thing we sell; prices are whole cents."""

    sku: str
    title: str
    price: int
    tags: frozenset[str] = field(default_factory=frozenset)

    def __format__(self, spec: str) -> str:
        if spec == "long":
            return f"{self.title} ({self.sku}), {self.price / 100:.2f}"
        return format(self.title, spec)

    def matches(self, words: list[str]) -> bool:
        title = self.title.lower()
        return all(word in title or word in self.tags for word in words)


class Catalogue:
    """All products by their number, with the stock of each."""

    def __init__(self) -> None:
        self._products: dict[str, Product] = {}
        self._stock: dict[str, int] = {}

    def add(self, product: Product, stock: int = 0) -> Product:
        self._products[product.sku] = product
        self._stock[product.sku] = self._stock.get(product.sku, 0) + stock
        return product

    def __len__(self) -> int:
        return len(self._products)

    def __iter__(self) -> Iterator[Product]:
        yield from sorted(self._products.values(), key=lambda product: product.title)

    def __contains__(self, sku: str) -> bool:
        return sku in self._products

    def __getitem__(self, sku: str) -> Product:
        try:
            return self._products[sku]
        except KeyError:
            raise UnknownProduct(sku) from None

    def stock(self, sku: str) -> int:
        return self._stock[self[sku].sku]

    def search(self, text: str) -> Iterator[Product]:
        """The products that match every word, lazily."""
        words = text.lower().split()
        for product in self:
            if product.matches(words):
                yield product

    def take(self, sku: str, count: int) -> None:
        """Removes items from the stock."""
        if self.stock(sku) < count:
            raise OutOfStock(f"only {self.stock(sku)} of {self[sku]} left")
        self._stock[sku] -= count

    def put_back(self, sku: str, count: int) -> None:
        self._stock[sku] += count


def sample() -> Catalogue:
    """What the demonstration sells."""
    catalogue = Catalogue()
    for sku, title, price, stock, *tags in (
        ("T-1", "Green tea", 450, 20, "tea", "drink"),
        ("T-2", "Black tea", 390, 3, "tea", "drink"),
        ("C-1", "Tea cup", 1250, 8, "tea", "kitchen"),
        ("B-1", "Book of bread", 2900, 2, "book"),
    ):
        catalogue.add(Product(sku, title, price, frozenset(tags)), stock)
    return catalogue
