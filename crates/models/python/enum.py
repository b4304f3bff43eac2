"""Enumerations. Members are the values that the class body binds; instances come from calls and look-ups only."""

import _hognose
from builtins import _number, _text, _truth, _unknown


class EnumType(type):
    def __call__(cls, value, names=None, /, *args, **kwargs):
        return _hognose.instance(cls)

    def __iter__(cls):
        yield _hognose.instance(cls)

    def __reversed__(cls):
        yield _hognose.instance(cls)

    def __getitem__(cls, name):
        return _hognose.instance(cls)

    def __contains__(cls, value):
        return _truth

    def __len__(cls):
        return _number


EnumMeta = EnumType


class Enum(metaclass=EnumType):
    name = _text
    value = _unknown
    _name_ = _text
    _value_ = _unknown

    def __new__(cls, value=None, /, *args, **kwargs):
        return _hognose.instance(cls)

    def __str__(self):
        return _text

    def __repr__(self):
        return _text

    def __hash__(self):
        return _number


class IntEnum(int, Enum):
    value = _number


class StrEnum(str, Enum):
    value = _text


class Flag(Enum):
    value = _number

    def __and__(self, other):
        return self

    def __or__(self, other):
        return self

    def __xor__(self, other):
        return self

    def __invert__(self):
        return self

    def __contains__(self, other):
        return _truth

    def __bool__(self):
        return _truth

    def __iter__(self):
        yield self


class IntFlag(int, Flag):
    pass


class auto:
    def __new__(cls, value=None):
        return _number


def unique(enumeration):
    return enumeration


def member(value):
    return value


def nonmember(value):
    return value


class property(property):
    pass


def global_enum(cls, update_str=False):
    return cls
