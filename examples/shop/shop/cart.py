"""The cart of one customer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .catalogue import Catalogue, Product, ShopError
from .pricing import Adjustment, Rule


@dataclass
class Line:
    product: Product
    count: int = 1

    @property
    def cents(self) -> int:
        return self.product.price * self.count

    def __str__(self) -> str:
        return f"{self.count:>3} x {self.product:<18} {self.cents / 100:>8.2f}"


class Cart:
    """Lines in the order in which the products were first put in."""

    limit = 20

    def __init__(self, catalogue: Catalogue, rule: Rule) -> None:
        self._catalogue = catalogue
        self._rule = rule
        self._lines: dict[str, Line] = {}

    def put(self, sku: str, count: int = 1) -> Line:
        product = self._catalogue[sku]
        line = self._lines.setdefault(sku, Line(product, 0))
        if not 0 < line.count + count <= self.limit:
            raise ShopError(f"we sell 1 to {self.limit} of {product} at once")
        line.count += count
        return line

    def clear(self) -> None:
        self._lines.clear()

    def __iter__(self) -> Iterator[Line]:
        return iter([line for line in self._lines.values() if line.count])

    def __bool__(self) -> bool:
        return any(line.count for line in self._lines.values())

    @property
    def pieces(self) -> int:
        return sum(line.count for line in self)

    @property
    def subtotal(self) -> int:
        return sum(line.cents for line in self)

    def adjustments(self) -> list[Adjustment]:
        return list(self._rule.apply(self, self.subtotal))

    @property
    def total(self) -> int:
        return self.subtotal + sum(cents for _, cents in self.adjustments())

    def receipt(self) -> str:
        lines = [str(line) for line in self]
        for label, cents in self.adjustments():
            lines.append(f"      {label:<18} {cents / 100:>8.2f}")
        lines.append(f"      {'total':<18} {self.total / 100:>8.2f}")
        return "\n".join(lines)
