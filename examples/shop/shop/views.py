"""The pages of the shop."""

from __future__ import annotations

from collections.abc import Iterator

from . import pricing
from .cart import Cart
from .catalogue import Catalogue, ShopError
from .events import Bus
from .storage import Orders
from .web import App, Request, Response, page


class Sessions:
    """One cart per customer, made when it is first asked for."""

    def __init__(self, catalogue: Catalogue, rule: pricing.Rule) -> None:
        self._make = lambda: Cart(catalogue, rule)
        self._carts: dict[str, Cart] = {}

    def __getitem__(self, customer: str) -> Cart:
        if customer not in self._carts:
            self._carts[customer] = self._make()
        return self._carts[customer]


def create_app(catalogue: Catalogue, orders: Orders, bus: Bus, offers: list[str]) -> App:
    app = App()
    carts = Sessions(catalogue, pricing.build(offers))

    @app.route("/")
    @page("Shop")
    def index(request: Request) -> Iterator[object]:
        found = list(catalogue.search(request.get("q")))
        for product in found:
            yield format(product, "long")
        yield f"{len(found)} of {len(catalogue)} products"

    @app.route("/product/<sku>")
    @page("Product")
    def product(request: Request, sku: str) -> Iterator[object]:
        yield f"{catalogue[sku]:long}"
        yield f"{catalogue.stock(sku)} in stock"

    @app.route("/cart")
    def cart(request: Request) -> Response:
        return Response(carts[request.customer].receipt())

    @app.route("/cart/<sku>", method="POST")
    def put(request: Request, sku: str) -> Response:
        count = request.get("count", "1")
        if not count.isdigit():
            raise ShopError("the count is no number")
        line = carts[request.customer].put(sku, int(count))
        bus.emit("put", customer=request.customer, sku=sku)
        return Response(str(line))

    @app.route("/order", method="POST")
    def order(request: Request) -> Response:
        mine = carts[request.customer]
        if not mine:
            raise ShopError("the cart is empty")
        placed = orders.place(request.customer, mine)
        mine.clear()
        bus.emit("order", order=placed)
        return Response(f"order {placed.id}: {placed.total / 100:.2f}", "201 Created")

    @app.route("/orders")
    def history(request: Request) -> Response:
        lines = [f"{past.id}: {past.total / 100:.2f}" for past in orders.of(request.customer)]
        return Response("\n".join(lines) or "none")

    return app
