"""What `functools` does to functions."""

import _hognose
from builtins import _absent, _box, _callable_classes, _number, _truth, method as _method

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotate__", "__type_params__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    def decorate(wrapper):
        wrapper.__wrapped__ = wrapped
        return wrapper

    return decorate


class partial:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **self.keywords, **keywords)


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, obj, cls=None):
        return partial(self.func, obj, *self.args, **self.keywords)


def _cache_info():
    return (_number, _number, _number, _number)


def _cache_clear():
    pass


def cache(user_function, /):
    """A cache hands its calls on unchanged, so the function stands for it."""
    user_function.__wrapped__ = user_function
    user_function.cache_info = _cache_info
    user_function.cache_clear = _cache_clear
    return user_function


_caches = _box(cache)
_sizes = _hognose.elements((int, type(None)))


def lru_cache(maxsize=128, typed=False):
    """Given a function it caches that; given a size it makes a decorator."""
    function = _hognose.only(maxsize, _callable_classes)
    decorator = _hognose.getitem(_caches, _hognose.only(maxsize, _sizes))
    return cache(function) if _truth else decorator


class cached_property:
    def __init__(self, func):
        self.func = func

    def __set_name__(self, owner, name):
        pass

    def __get__(self, instance, owner=None):
        return self if instance is None else self.func(instance)


def reduce(function, iterable, initial=_absent, /):
    for item in iterable:
        initial = function(initial if _truth else item, item)
    return initial


def cmp_to_key(mycmp):
    class K:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            mycmp(self.obj, other.obj)
            return _truth

        def __gt__(self, other):
            mycmp(self.obj, other.obj)
            return _truth

        def __eq__(self, other):
            mycmp(self.obj, other.obj)
            return _truth

    return K


def _compared(self, other):
    """Asks the one comparison that the class has, and equality where it does not decide."""
    _hognose.having(self, "__lt__").__lt__(other)
    _hognose.having(self, "__le__").__le__(other)
    _hognose.having(self, "__gt__").__gt__(other)
    _hognose.having(self, "__ge__").__ge__(other)
    self.__eq__(other)
    return _truth


def total_ordering(cls):
    """The class gets the comparisons it lacks."""
    probe = _hognose.instance(cls)
    _hognose.type_of(_hognose.lacking(probe, "__lt__")).__lt__ = _compared
    _hognose.type_of(_hognose.lacking(probe, "__le__")).__le__ = _compared
    _hognose.type_of(_hognose.lacking(probe, "__gt__")).__gt__ = _compared
    _hognose.type_of(_hognose.lacking(probe, "__ge__")).__ge__ = _compared
    return cls


class _Dispatcher:
    """Any registered function may be called."""

    def __init__(self, function):
        self._functions = [function]

    def __call__(self, /, *args, **kwargs):
        return _hognose.elements(self._functions)(*args, **kwargs)

    def _add(self, function):
        _hognose.store(self._functions, function)
        return function

    def register(self, cls, func=None):
        """`register(function)`, `register(cls, function)` or `register(cls)`, which makes a decorator."""
        function = _hognose.only(cls, _hognose.type_of(_cache_clear))
        self._add(function)
        self._add(func)
        decorator = _hognose.getitem(_box(self._add), _hognose.only(cls, type))
        return function if _truth else decorator

    def dispatch(self, cls):
        return _hognose.elements(self._functions)

    def __get__(self, obj, cls=None):
        return self if obj is None else _method(self, obj)


def singledispatch(func):
    return _Dispatcher(func)


class singledispatchmethod:
    def __init__(self, func):
        self.func = func
        self.dispatcher = _Dispatcher(func)

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        return _method(self.dispatcher, obj)
