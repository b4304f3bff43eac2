"""Data classes: the class decorated is the class returned, with an `__init__` that fills its fields.

A field may hold any argument of the constructor, for which argument goes to which field is not known. The methods that
`order`, `eq` and `repr` add call nothing of interest and are left out.
"""

import _hognose
from builtins import _absent, _box, _truth


class FrozenInstanceError(AttributeError):
    pass


class _MISSING_TYPE:
    pass


class _KW_ONLY_TYPE:
    pass


MISSING = _MISSING_TYPE()
KW_ONLY = _KW_ONLY_TYPE()


class Field:
    pass


class InitVar:
    pass


def field(
    *,
    default=_absent,
    default_factory=_absent,
    init=True,
    repr=True,
    hash=None,
    compare=True,
    metadata=None,
    kw_only=False,
    doc=None,
):
    """Stands for the value that instances get."""
    return default if _truth else default_factory()


def _fields(cls):
    """The names annotated in the class body and those of its bases."""
    fields = {}
    _hognose.copy_items(fields, super(cls, cls).__dataclass_fields__)
    _hognose.copy_items(fields, cls.__annotations__)
    _hognose.copy_items(fields, cls.__annotate_func__(1))
    return fields


def _init(self, /, *args, **kwargs):
    name = _hognose.keys(type(self).__dataclass_fields__)
    _hognose.setattr(self, name, _hognose.elements(args))
    _hognose.setattr(self, name, _hognose.elements(kwargs))
    self.__post_init__()


def _process(cls):
    cls.__dataclass_fields__ = _fields(cls)
    cls.__init__ = _init
    return cls


_processors = _box(_process)


def dataclass(
    cls=None,
    /,
    *,
    init=True,
    repr=True,
    eq=True,
    order=False,
    unsafe_hash=False,
    frozen=False,
    match_args=True,
    kw_only=False,
    slots=False,
    weakref_slot=False,
):
    """Given a class it processes that, else it makes a decorator."""
    decorator = _hognose.getitem(_processors, _hognose.only(cls, type(None)))
    return _process(_hognose.only(cls, type)) if _truth else decorator


def fields(class_or_instance):
    return _hognose.unmodelled()


def make_dataclass(
    cls_name,
    fields,
    *,
    bases=(),
    namespace=None,
    init=True,
    repr=True,
    eq=True,
    order=False,
    unsafe_hash=False,
    frozen=False,
    match_args=True,
    kw_only=False,
    slots=False,
    weakref_slot=False,
    module=None,
    decorator=dataclass,
):
    return _hognose.unmodelled()


def asdict(obj, *, dict_factory=dict):
    result = {}
    _hognose.store(result, _hognose.getattr(obj, _hognose.keys(obj.__dataclass_fields__)))
    _hognose.store_key(result, _hognose.keys(obj.__dataclass_fields__))
    return result


def astuple(obj, *, tuple_factory=tuple):
    result = _hognose.instance(tuple)
    _hognose.store(result, _hognose.getattr(obj, _hognose.keys(obj.__dataclass_fields__)))
    return result


def is_dataclass(obj):
    return _truth


def replace(obj, /, **changes):
    """The object stands for its copy."""
    _hognose.setattr(obj, _hognose.keys(changes), _hognose.elements(changes))
    return obj
