"""The abstract containers: their mixin methods call what subclasses define.

Builtin classes are registered, not subclasses; the metaclass says that `isinstance` proves nothing.
"""

import _hognose
from abc import ABCMeta
from builtins import _absent, _number, _truth


class Hashable(metaclass=ABCMeta):
    def __hash__(self):
        return _number


class Sized(metaclass=ABCMeta):
    def __len__(self):
        return _number


class Container(metaclass=ABCMeta):
    def __contains__(self, x):
        return _truth


class Callable(metaclass=ABCMeta):
    pass


class Buffer(metaclass=ABCMeta):
    pass


class Iterable(metaclass=ABCMeta):
    pass


class Iterator(Iterable):
    def __iter__(self):
        return self


class Reversible(Iterable):
    pass


class Generator(Iterator):
    def __next__(self):
        return self.send(None)

    def close(self):
        self.throw(GeneratorExit)


class Awaitable(metaclass=ABCMeta):
    pass


class Coroutine(Awaitable):
    def close(self):
        self.throw(GeneratorExit)


class AsyncIterable(metaclass=ABCMeta):
    pass


class AsyncIterator(AsyncIterable):
    def __aiter__(self):
        return self


class AsyncGenerator(AsyncIterator):
    async def __anext__(self):
        return await self.asend(None)

    async def aclose(self):
        await self.athrow(GeneratorExit)


class Collection(Sized, Iterable, Container):
    pass


class Sequence(Reversible, Collection):
    def __iter__(self):
        while True:
            yield self[_number]

    def __reversed__(self):
        while True:
            yield self[_number]

    def __contains__(self, value):
        return self[_number] == value

    def index(self, value, start=0, stop=None):
        self[_number] == value
        return _number

    def count(self, value):
        self[_number] == value
        return _number


class MutableSequence(Sequence):
    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in values:
            self.append(value)

    def pop(self, index=-1):
        value = self[index]
        del self[index]
        return value

    def remove(self, value):
        del self[self.index(value)]

    def reverse(self):
        self[_number] = self[_number]

    def clear(self):
        self.pop()

    def __iadd__(self, values):
        self.extend(values)
        return self


class Set(Collection):
    @classmethod
    def _from_iterable(cls, it):
        return cls(it)

    def isdisjoint(self, other):
        return _truth

    def __le__(self, other):
        return _truth

    def __lt__(self, other):
        return _truth

    def __gt__(self, other):
        return _truth

    def __ge__(self, other):
        return _truth

    def __eq__(self, other):
        return _truth

    def __and__(self, other):
        return self._from_iterable(self)

    def __sub__(self, other):
        return self._from_iterable(self)

    def __rsub__(self, other):
        return self._from_iterable(other)

    def __rand__(self, other):
        return self._from_iterable(other)

    def __or__(self, other):
        return self._from_iterable([*self, *other])

    def __xor__(self, other):
        return self._from_iterable([*self, *other])

    def __ror__(self, other):
        return self._from_iterable([*self, *other])

    def __rxor__(self, other):
        return self._from_iterable([*self, *other])


class MutableSet(Set):
    def remove(self, value):
        self.discard(value)

    def pop(self):
        for value in self:
            self.discard(value)
            return value

    def clear(self):
        self.pop()

    def __ior__(self, it):
        for value in it:
            self.add(value)
        return self

    def __iand__(self, it):
        for value in self:
            self.discard(value)
        return self

    def __isub__(self, it):
        for value in it:
            self.discard(value)
        return self

    def __ixor__(self, it):
        for value in it:
            self.add(value)
            self.discard(value)
        return self


class MappingView(Sized):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)


class KeysView(MappingView, Set):
    def __iter__(self):
        for key in self._mapping:
            yield key

    def __contains__(self, key):
        return key in self._mapping


class ItemsView(MappingView, Set):
    def __iter__(self):
        for key in self._mapping:
            yield (key, self._mapping[key])

    def __contains__(self, item):
        key, value = item
        return self._mapping[key] == value


class ValuesView(MappingView, Collection):
    def __iter__(self):
        for key in self._mapping:
            yield self._mapping[key]

    def __contains__(self, value):
        return _truth


class Mapping(Collection):
    def get(self, key, default=None):
        return self[key] if _truth else default

    def __contains__(self, key):
        self[key]
        return _truth

    def keys(self):
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        return _truth


class MutableMapping(Mapping):
    def pop(self, key, default=_absent):
        value = self[key]
        del self[key]
        return value if _truth else default

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return (key, value)

    def clear(self):
        self.popitem()

    def update(self, other=(), /, **kwds):
        source = {}
        dict.update(source, other, **kwds)
        key = _hognose.keys(source)
        self[key] = source[key]

    def setdefault(self, key, default=None):
        self[key] = default
        return self[key]
