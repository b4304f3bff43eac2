"""Orders in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

from .cart import Cart
from .catalogue import Catalogue

SCHEMA = """
create table if not exists orders (id integer primary key, customer text not null, total integer not null);
create table if not exists lines (order_id integer references orders (id), sku text not null, count integer not null);
"""


@dataclass
class Order:
    id: int
    customer: str
    total: int


class Database:
    """A connection; as a context manager, one transaction."""

    def __init__(self, path: str = ":memory:") -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.executescript(SCHEMA)

    def __enter__(self) -> sqlite3.Cursor:
        return self._connection.cursor()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if kind is None:
            self._connection.commit()
        else:
            self._connection.rollback()
        return False

    def close(self) -> None:
        self._connection.close()


@contextmanager
def reserved(catalogue: Catalogue, cart: Cart) -> Iterator[list[str]]:
    """The stock of a cart is taken for the block; if the block fails it goes back."""
    taken: list[tuple[str, int]] = []
    try:
        for line in cart:
            catalogue.take(line.product.sku, line.count)
            taken.append((line.product.sku, line.count))
        yield [sku for sku, _ in taken]
    except BaseException:
        for sku, count in reversed(taken):
            catalogue.put_back(sku, count)
        raise


class Orders:
    """Saves carts as orders and reads them back."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue

    def place(self, customer: str, cart: Cart) -> Order:
        with reserved(self._catalogue, cart), self._database as cursor:
            cursor.execute("insert into orders (customer, total) values (?, ?)", (customer, cart.total))
            order = Order(cursor.lastrowid or 0, customer, cart.total)
            cursor.executemany(
                "insert into lines values (?, ?, ?)",
                [(order.id, line.product.sku, line.count) for line in cart],
            )
        return order

    def of(self, customer: str) -> Iterator[Order]:
        with self._database as cursor:
            rows = cursor.execute("select id, customer, total from orders where customer = ?", (customer,))
            yield from (Order(*row) for row in rows)
