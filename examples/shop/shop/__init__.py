"""A small web shop: the example program of Hognose."""

from .cart import Cart
from .catalogue import Catalogue, Product
from .views import create_app

__all__ = ["Cart", "Catalogue", "Product", "create_app"]
