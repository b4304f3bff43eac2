"""`python -m shop`: plays a few requests, or serves the shop."""

from __future__ import annotations

import argparse
from contextlib import closing
from wsgiref.simple_server import make_server

from . import catalogue as products
from .events import Bus, Journal
from .storage import Database, Order, Orders
from .views import create_app
from .web import App

SCRIPT = """
GET /?q=tea
GET /product/B-1
GET /product/X-9
POST /cart/T-1?count=4
POST /cart/C-1
GET /cart
POST /order
POST /cart/T-2?count=7
POST /order
POST /cart/T-2?count=-4
POST /cart/B-1?count=30
GET /orders
GET /nowhere
"""


def play(app: App, script: str, customer: str = "ann") -> None:
    """Sends the requests of a script and prints the answers."""
    for line in script.strip().splitlines():
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "HTTP_COOKIE": f"customer={customer}",
        }
        answer = app(environ, lambda status, headers: print(f"{method} {target}  ->  {status}"))
        for part in answer:
            print("   ", part.decode().replace("\n", "\n    "))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="shop", description=__doc__)
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve the shop under this port")
    parser.add_argument("--database", default=":memory:", help="the SQLite file of the orders")
    options = parser.parse_args(arguments)

    bus, journal = Bus(), Journal()
    bus.on("put", journal)

    @bus.on("order")
    def thank(order: Order) -> None:
        print(f"    (a letter to {order.customer} about order {order.id})")

    catalogue = products.sample()
    with closing(Database(options.database)) as database:
        app = create_app(catalogue, Orders(database, catalogue), bus, ["tea-week", "big-order"])
        if options.serve is None:
            play(app, SCRIPT)
            print(f"{len(journal)} products were put into carts")
            return 0
        with make_server("localhost", options.serve, app) as server:
            server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
