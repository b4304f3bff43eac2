"""A router for WSGI: paths with placeholders, handlers registered by a decorator, errors as answers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from functools import wraps
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from .catalogue import ShopError


class Request:
    def __init__(self, environ: dict[str, Any]) -> None:
        self.method: str = environ.get("REQUEST_METHOD", "GET")
        self.path: str = environ.get("PATH_INFO", "/")
        self._query = parse_qs(environ.get("QUERY_STRING", ""))
        self._cookies = SimpleCookie(environ.get("HTTP_COOKIE", ""))

    def __getitem__(self, name: str) -> str:
        try:
            return self._query[name][0]
        except KeyError as error:
            raise ShopError(f"the parameter {name!r} is missing") from error

    def get(self, name: str, default: str = "") -> str:
        return self[name] if name in self._query else default

    @property
    def customer(self) -> str:
        morsel = self._cookies.get("customer")
        return morsel.value if morsel else "guest"


class Response:
    def __init__(self, body: str, status: str = "200 OK", kind: str = "text/plain") -> None:
        self.body = body
        self.status = status
        self.headers = [("Content-Type", f"{kind}; charset=utf-8")]

    def __iter__(self) -> Iterable[bytes]:
        yield self.body.encode()


Handler = Callable[..., Response]


class App:
    """A WSGI application."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []

    def route(self, path: str, method: str = "GET") -> Callable[[Handler], Handler]:
        """`/product/<sku>` matches one segment and passes it as the argument `sku`."""
        pattern = re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", path) + "$")

        def register(handler: Handler) -> Handler:
            self._routes.append((method, pattern, handler))
            return handler

        return register

    def answer(self, request: Request) -> Response:
        for method, pattern, handler in self._routes:
            match = pattern.match(request.path)
            if match and method == request.method:
                return handler(request, **match.groupdict())
        return Response("no such page", "404 Not Found")

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            response = self.answer(Request(environ))
        except ShopError as error:
            response = Response(str(error), error.status)
        start_response(response.status, response.headers)
        return iter(response)


def page(title: str) -> Callable[[Callable[..., Iterable[object]]], Handler]:
    """The handler yields the lines of an HTML page."""

    def decorate(handler: Callable[..., Iterable[object]]) -> Handler:
        @wraps(handler)
        def wrapper(request: Request, **arguments: str) -> Response:
            lines = (f"<p>{html.escape(str(line))}</p>" for line in handler(request, **arguments))
            return Response(f"<h1>{title}</h1>" + "".join(lines), kind="text/html")

        return wrapper

    return decorate
