"""Who wants to know what happened: events and their listeners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

Listener = Callable[..., None]


class Bus:
    def __init__(self) -> None:
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)
        self.failures: list[Exception] = []

    def on(self, event: str, listener: Listener | None = None) -> Any:
        """Registers a listener; without one it is a decorator."""
        if listener is None:
            return lambda function: self.on(event, function)
        self._listeners[event].append(listener)
        return listener

    def emit(self, event: str, **details: Any) -> int:
        """Tells every listener; one that fails does not keep the others from hearing it."""
        heard = 0
        for listener in self._listeners[event]:
            try:
                listener(**details)
            except Exception as error:
                self.failures.append(error)
            else:
                heard += 1
        return heard


class Journal:
    """A listener that can be called and that counts what it heard."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def __call__(self, **details: Any) -> None:
        self.entries.append(", ".join(f"{key}={value}" for key, value in details.items()))

    def __len__(self) -> int:
        return len(self.entries)
