"""The containers of `collections`."""

import _hognose
from builtins import _number, _text, _truth
from collections import abc


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        pass

    def popitem(self, last=True):
        return (_hognose.keys(self), _hognose.elements(self))


class defaultdict(dict):
    def __init__(self, default_factory=None, /, *args, **kwargs):
        self.default_factory = default_factory
        dict.__init__(self, *args, **kwargs)

    def __missing__(self, key, /):
        value = self.default_factory()
        _hognose.setitem(self, key, value)
        return value

    def copy(self, /):
        return self


class Counter(dict):
    """Keys are the things counted, values are numbers."""

    def __init__(self, iterable=(), /, **kwds):
        for element in iterable:
            _hognose.setitem(self, element, _number)

    def update(self, iterable=(), /, **kwds):
        for element in iterable:
            _hognose.setitem(self, element, _number)

    def subtract(self, iterable=(), /, **kwds):
        for element in iterable:
            _hognose.setitem(self, element, _number)

    def __missing__(self, key):
        return _number

    def elements(self):
        yield _hognose.keys(self)

    def most_common(self, n=None):
        result = []
        _hognose.store(result, (_hognose.keys(self), _number))
        return result

    def total(self):
        return _number

    def _combined(self, other):
        result = Counter()
        _hognose.copy_items(result, self)
        _hognose.copy_items(result, other)
        return result

    def __add__(self, other):
        return self._combined(other)

    def __or__(self, other):
        return self._combined(other)

    def __sub__(self, other):
        return self._combined(self)

    def __and__(self, other):
        return self._combined(self)


class deque:
    """Any operation may move any element."""

    maxlen = _number

    def __init__(self, iterable=(), maxlen=None):
        for item in iterable:
            _hognose.store(self, item)

    def append(self, item, /):
        _hognose.store(self, item)

    def appendleft(self, item, /):
        _hognose.store(self, item)

    def insert(self, index, value, /):
        _hognose.store(self, value)

    def extend(self, iterable, /):
        for item in iterable:
            _hognose.store(self, item)

    def extendleft(self, iterable, /):
        for item in iterable:
            _hognose.store(self, item)

    def pop(self):
        return _hognose.elements(self)

    def popleft(self):
        return _hognose.elements(self)

    def copy(self):
        result = deque()
        _hognose.store(result, _hognose.elements(self))
        return result

    def count(self, value, /):
        return _number

    def index(self, value, start=0, stop=None, /):
        return _number

    def remove(self, value, /):
        pass

    def rotate(self, n=1, /):
        pass

    def reverse(self):
        pass

    def clear(self):
        pass

    def __getitem__(self, key, /):
        return _hognose.elements(self)

    def __setitem__(self, key, value, /):
        _hognose.store(self, value)

    def __delitem__(self, key, /):
        pass

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, key, /):
        return _truth

    def __len__(self, /):
        return _number

    def __add__(self, value, /):
        result = deque()
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __iadd__(self, value, /):
        for item in value:
            _hognose.store(self, item)
        return self

    def __mul__(self, value, /):
        return self.copy()

    def __imul__(self, value, /):
        return self


def namedtuple(typename, field_names, *, rename=False, defaults=(), module=None):
    """Each field may hold any argument; names given as one string are not split, so attributes have computed names."""

    class _NamedTuple(tuple):
        _fields = field_names
        _field_defaults = {}

        def __new__(cls, /, *args, **kwargs):
            self = _hognose.instance(cls)
            _hognose.copy_items(self, args)
            _hognose.store(self, _hognose.elements(kwargs))
            _hognose.store(self, _hognose.elements(defaults))
            for name in field_names:
                _hognose.setattr(self, name, _hognose.elements(self))
            return self

        @classmethod
        def _make(cls, iterable):
            return cls(*iterable)

        def _replace(self, /, **kwds):
            return type(self)(*self, **kwds)

        def _asdict(self):
            result = {}
            for name in field_names:
                _hognose.setitem(result, name, _hognose.elements(self))
            return result

    return _NamedTuple


class ChainMap(abc.MutableMapping):
    def __init__(self, *maps):
        self.maps = [{}]
        self.maps.extend(maps)

    parents = property(lambda self: self)

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            return mapping[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if _truth else default

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def __iter__(self):
        for mapping in self.maps:
            for key in mapping:
                yield key

    def __len__(self):
        return _number

    def __contains__(self, key):
        return _truth

    def new_child(self, m=None, **kwargs):
        return ChainMap(kwargs if m is None else m, *self.maps)


class UserDict(abc.MutableMapping):
    def __init__(self, dict=(), /, **kwargs):
        self.data = {}
        self.update(dict, **kwargs)

    def __getitem__(self, key):
        return self.data[key] if _truth else type(self).__missing__(self, key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return _number

    def __contains__(self, key):
        return _truth

    def copy(self):
        return self


class UserList(abc.MutableSequence):
    def __init__(self, initlist=()):
        self.data = list(initlist)

    def __getitem__(self, i):
        return self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def __len__(self):
        return _number

    def __contains__(self, item):
        return _truth

    def insert(self, i, item):
        self.data.insert(i, item)

    def append(self, item):
        self.data.append(item)

    def extend(self, other):
        self.data.extend(other)

    def copy(self):
        return self

    def sort(self, /, *args, **kwds):
        self.data.sort(*args, **kwds)


class UserString(abc.Sequence):
    def __init__(self, seq):
        self.data = str(seq)

    def __str__(self):
        return _text

    def __len__(self):
        return _number

    def __getitem__(self, index):
        return _text
