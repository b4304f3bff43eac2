"""Operators as functions."""

import _hognose
from builtins import _box, _number, _truth


def add(a, b, /):
    return a + b


def sub(a, b, /):
    return a - b


def mul(a, b, /):
    return a * b


def truediv(a, b, /):
    return a / b


def floordiv(a, b, /):
    return a // b


def mod(a, b, /):
    return a % b


def pow(a, b, /):
    return a**b


def matmul(a, b, /):
    return a @ b


def and_(a, b, /):
    return a & b


def or_(a, b, /):
    return a | b


def xor(a, b, /):
    return a ^ b


def lshift(a, b, /):
    return a << b


def rshift(a, b, /):
    return a >> b


def lt(a, b, /):
    return a < b


def le(a, b, /):
    return a <= b


def eq(a, b, /):
    return a == b


def ne(a, b, /):
    return a != b


def gt(a, b, /):
    return a > b


def ge(a, b, /):
    return a >= b


def iadd(a, b, /):
    a += b
    return a


def isub(a, b, /):
    a -= b
    return a


def imul(a, b, /):
    a *= b
    return a


def itruediv(a, b, /):
    a /= b
    return a


def ifloordiv(a, b, /):
    a //= b
    return a


def imod(a, b, /):
    a %= b
    return a


def ipow(a, b, /):
    a **= b
    return a


def imatmul(a, b, /):
    a @= b
    return a


def iand(a, b, /):
    a &= b
    return a


def ior(a, b, /):
    a |= b
    return a


def ixor(a, b, /):
    a ^= b
    return a


def ilshift(a, b, /):
    a <<= b
    return a


def irshift(a, b, /):
    a >>= b
    return a


def neg(a, /):
    return -a


def pos(a, /):
    return +a


def invert(a, /):
    return ~a


def inv(a, /):
    return ~a


def not_(a, /):
    return not a


def truth(a, /):
    return bool(a)


def abs(a, /):
    return a.__abs__()


def index(a, /):
    return a.__index__()


def is_(a, b, /):
    return a is b


def is_not(a, b, /):
    return a is not b


def is_none(a, /):
    return a is None


def is_not_none(a, /):
    return a is not None


def concat(a, b, /):
    return a + b


def iconcat(a, b, /):
    a += b
    return a


def contains(a, b, /):
    return b in a


def countOf(a, b, /):
    for item in a:
        item == b
    return _number


def indexOf(a, b, /):
    for item in a:
        item == b
    return _number


def getitem(a, b, /):
    return a[b]


def setitem(a, b, c, /):
    a[b] = c


def delitem(a, b, /):
    del a[b]


def length_hint(obj, default=0, /):
    return _number


def call(obj, /, *args, **kwargs):
    return obj(*args, **kwargs)


class attrgetter:
    """With several names the result is also the tuple of the first two; a dotted name is one that no object has."""

    def __init__(self, attr, /, *attrs):
        self._attr = attr
        self._attrs = attrs

    def __call__(self, obj, /):
        first = getattr(obj, self._attr)
        others = _hognose.elements(self._attrs)
        return first if _truth else _hognose.getitem(_box((first, getattr(obj, others))), others)


class itemgetter:
    """With several keys the result is also the tuple of the first two."""

    def __init__(self, item, /, *items):
        self._item = item
        self._items = items

    def __call__(self, obj, /):
        first = obj[self._item]
        others = _hognose.elements(self._items)
        return first if _truth else _hognose.getitem(_box((first, obj[others])), others)


class methodcaller:
    def __init__(self, name, /, *args, **kwargs):
        self._name = name
        self._args = args
        self._kwargs = kwargs

    def __call__(self, obj, /):
        return getattr(obj, self._name)(*self._args, **self._kwargs)
