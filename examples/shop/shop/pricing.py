"""Pricing rules: each looks at a cart and says what it adds to the total, or takes off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .cart import Cart


class Adjustment(NamedTuple):
    label: str
    cents: int


class Rule(ABC):
    """A strategy; `a + b` applies `a` and then `b`."""

    @abstractmethod
    def apply(self, cart: Cart, total: int) -> Iterator[Adjustment]:
        """The adjustments of a cart whose total is `total` so far."""

    def __add__(self, other: Rule) -> Rule:
        if not isinstance(other, Rule):
            return NotImplemented
        return Chain(self, other)


class Chain(Rule):
    """Rules one after the other; a later one sees the total that the earlier ones left."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def apply(self, cart: Cart, total: int) -> Iterator[Adjustment]:
        for rule in self.rules:
            for adjustment in rule.apply(cart, total):
                total += adjustment.cents
                yield adjustment


class Percentage(Rule):
    """So much per cent off, if the condition holds."""

    def __init__(self, label: str, percent: int, condition: Callable[[Cart], bool] = bool) -> None:
        self.label = label
        self.percent = percent
        self.condition = condition

    def apply(self, cart: Cart, total: int) -> Iterator[Adjustment]:
        if self.condition(cart):
            yield Adjustment(self.label, -(total * self.percent // 100))


class ThirdFree(Rule):
    """Every third piece of a product with this tag is free."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def apply(self, cart: Cart, total: int) -> Iterator[Adjustment]:
        for line in cart:
            free = line.count // 3
            if free and self.tag in line.product.tags:
                yield Adjustment(f"{free} x {line.product} free", -free * line.product.price)


class Shipping(Rule):
    """A flat fee below a limit."""

    def __init__(self, fee: int, free_from: int) -> None:
        self.fee, self.free_from = fee, free_from

    def apply(self, cart: Cart, total: int) -> Iterator[Adjustment]:
        if 0 < total < self.free_from:
            yield Adjustment("shipping", self.fee)


RULES: dict[str, Callable[[], Rule]] = {}


def offer(name: str) -> Callable[[Callable[[], Rule]], Callable[[], Rule]]:
    """Registers a function that makes a rule."""

    def register(make: Callable[[], Rule]) -> Callable[[], Rule]:
        RULES[name] = make
        return make

    return register


@offer("tea-week")
def tea_week() -> Rule:
    return ThirdFree("tea")


@offer("big-order")
def big_order() -> Rule:
    return Percentage("big order", 5, lambda cart: cart.pieces >= 5)


def build(names: list[str]) -> Rule:
    """The named offers, then the shipping."""
    rules = [RULES[name]() for name in names if name in RULES]
    return reduce(lambda left, right: left + right, [*rules, Shipping(490, free_from=5000)])
