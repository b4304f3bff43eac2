"""Enumerations. `EnumType.__init__` runs at each class statement and makes the members."""

import _hognose
from builtins import _number, _text, _truth, _unknown


class EnumType(type):
    def __init__(cls, *args, **kwargs):
        cls._all_members_ = _hognose.members(cls)

    def __call__(cls, value, names=None, /, *args, **kwargs):
        return cls._all_members_

    def __iter__(cls):
        yield cls._all_members_

    def __reversed__(cls):
        yield cls._all_members_

    def __getitem__(cls, name):
        return cls._all_members_

    def __contains__(cls, value):
        return _truth

    def __len__(cls):
        return _number


EnumMeta = EnumType


class _Shown:
    """The value of a member, read through the class of the member."""

    def __get__(self, instance, owner=None):
        return instance._value_


class Enum(metaclass=EnumType):
    name = _text
    value = _Shown()
    _name_ = _text

    def __init__(self, *args, **kwds):
        pass

    def _from_items_(self, items):
        self.__init__(*items)

    def _from_value_(self, value):
        self.__init__(value)

    def __str__(self):
        return _text

    def __repr__(self):
        return _text

    def __hash__(self):
        return _number


class IntEnum(int, Enum):
    pass


class StrEnum(str, Enum):
    pass


class Flag(Enum):
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
    __and__ = __rand__ = Flag.__and__
    __or__ = __ror__ = Flag.__or__
    __xor__ = __rxor__ = Flag.__xor__
    __invert__ = Flag.__invert__


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
