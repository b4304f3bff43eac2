"""`itertools` as generators: functions are called in the clone of the call that made the iterator."""

import _hognose
from builtins import _absent, _box, _truth


def count(start=0, step=1):
    while True:
        yield start
        start = start + step


def cycle(iterable, /):
    for item in iterable:
        yield item


def repeat(object, times=None):
    while True:
        yield object


def accumulate(iterable, func=None, *, initial=_absent):
    total = initial
    for item in iterable:
        yield item if _truth else total
        if func is None:
            total = (item if _truth else total) + item
        else:
            total = func(item if _truth else total, item)


def batched(iterable, n, *, strict=False):
    batch = _hognose.instance(tuple)
    for item in iterable:
        _hognose.store(batch, item)
    yield batch


class chain:
    def __new__(cls, *iterables):
        return chain.from_iterable(iterables)

    @staticmethod
    def from_iterable(iterable, /):
        for items in iterable:
            for item in items:
                yield item


def compress(data, selectors):
    for _ in selectors:
        pass
    for item in data:
        yield item


def dropwhile(predicate, iterable, /):
    for item in iterable:
        if predicate(item):
            continue
        yield item


def takewhile(predicate, iterable, /):
    for item in iterable:
        if predicate(item):
            yield item


def filterfalse(function, iterable, /):
    for item in iterable:
        if function is None or not function(item):
            yield item


def groupby(iterable, key=None):
    group = []
    for item in iterable:
        _hognose.store(group, item)
        yield (item if key is None else key(item), iter(group))


def islice(iterable, /, *bounds):
    for item in iterable:
        yield item


def pairwise(iterable, /):
    for item in iterable:
        yield (item, item)


def _selections(iterable):
    selection = _hognose.instance(tuple)
    for item in iterable:
        _hognose.store(selection, item)
    yield selection


def permutations(iterable, r=None):
    return _selections(iterable)


def combinations(iterable, r):
    return _selections(iterable)


def combinations_with_replacement(iterable, r):
    return _selections(iterable)


def product(first=(), second=(), third=(), fourth=(), /, *rest, repeat=_absent):
    """The items of the first four keep their positions; with `repeat` positions are lost."""
    items = (next(iter(first)), next(iter(second)), next(iter(third)), next(iter(fourth)))
    for iterable in rest:
        for item in iterable:
            _hognose.store(items, item)
    _hognose.store(items, _hognose.getitem(_box(_hognose.elements(items)), repeat))
    yield items


def starmap(function, iterable, /):
    for args in iterable:
        yield function(*args)


def tee(iterable, n=2, /):
    copies = _hognose.instance(tuple)
    _hognose.store(copies, iter(iterable))
    return copies


def zip_longest(first=(), second=(), third=(), fourth=(), /, *rest, fillvalue=None):
    items = (next(iter(first)), next(iter(second)), next(iter(third)), next(iter(fourth)))
    for iterable in rest:
        for item in iterable:
            _hognose.store(items, item)
    _hognose.store(items, fillvalue)
    yield items
