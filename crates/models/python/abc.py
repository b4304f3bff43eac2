"""Abstract base classes. What `__instancecheck__` does is part of `isinstance`."""

import _hognose
from builtins import _truth


class ABCMeta(type):
    def register(cls, subclass):
        _hognose.register(cls, subclass)
        return subclass

    def __instancecheck__(cls, instance):
        return _truth

    def __subclasscheck__(cls, subclass):
        return _truth


class ABC(metaclass=ABCMeta):
    pass


def abstractmethod(funcobj):
    return funcobj


class abstractproperty(property):
    pass


class abstractclassmethod(classmethod):
    pass


class abstractstaticmethod(staticmethod):
    pass


def update_abstractmethods(cls):
    return cls


def get_cache_token():
    return object()
