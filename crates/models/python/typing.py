"""Typing constructs as plain values: a subscripted generic stands for its class, a special form for itself."""

import _hognose
import collections
import contextlib as _contextlib
import re as _re
from builtins import _text, _unknown
from collections import abc as _abc

TYPE_CHECKING = False


class _SpecialForm:
    def __getitem__(self, parameters):
        return self

    def __call__(self, *args, **kwds):
        return self

    def __or__(self, other):
        return (self, other)

    def __ror__(self, other):
        return (other, self)


Any = _SpecialForm()
NoReturn = _SpecialForm()
Never = _SpecialForm()
Self = _SpecialForm()
LiteralString = _SpecialForm()
ClassVar = _SpecialForm()
Final = _SpecialForm()
Literal = _SpecialForm()
Concatenate = _SpecialForm()
TypeGuard = _SpecialForm()
TypeIs = _SpecialForm()
TypeAlias = _SpecialForm()
Required = _SpecialForm()
NotRequired = _SpecialForm()
ReadOnly = _SpecialForm()
Unpack = _SpecialForm()


class _Members(_SpecialForm):
    """A union is as good as what it was made of."""

    def __getitem__(self, parameters):
        return parameters


Optional = _Members()
Union = _Members()


class _Wrapper(_SpecialForm):
    def __getitem__(self, parameters):
        return parameters[0]


Annotated = _Wrapper()


class TypeVar:
    __name__ = _text
    __bound__ = _unknown
    __constraints__ = ()

    def __init__(
        self, name, *constraints, bound=None, default=None, covariant=False, contravariant=False, infer_variance=False
    ):
        pass

    def __or__(self, right):
        return (self, right)

    def __ror__(self, left):
        return (left, self)


class ParamSpec:
    __name__ = _text

    def __init__(self, name, *, bound=None, default=None, covariant=False, contravariant=False, infer_variance=False):
        self.args = self
        self.kwargs = self


class TypeVarTuple:
    __name__ = _text

    def __init__(self, name, *, default=None):
        pass

    def __iter__(self):
        yield self


class TypeAliasType:
    __name__ = _text

    def __init__(self, name, value, *, type_params=()):
        self.__value__ = value

    def __getitem__(self, parameters):
        return self


class ForwardRef:
    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        pass


class Generic:
    pass


class Protocol(Generic):
    pass


def NewType(name, tp):
    """Calls of the new type give their argument."""

    def new_type(value):
        return value

    new_type.__supertype__ = tp
    return new_type


class NamedTuple(tuple):
    """Each field may hold any argument."""

    def __new__(cls, /, *args, **kwargs):
        self = _hognose.instance(cls)
        _hognose.copy_items(self, args)
        _hognose.store(self, _hognose.elements(kwargs))
        _hognose.setattr(self, _hognose.keys(cls.__annotate_func__(1)), _hognose.elements(self))
        _hognose.setattr(self, _hognose.keys(cls.__annotations__), _hognose.elements(self))
        return self

    @classmethod
    def _make(cls, iterable):
        return cls(*iterable)

    def _replace(self, /, **kwds):
        return type(self)(*self, **kwds)

    def _asdict(self):
        result = {}
        _hognose.store(result, _hognose.elements(self))
        _hognose.store_key(result, _text)
        return result


class TypedDict(dict):
    pass


class SupportsInt(Protocol):
    pass


class SupportsFloat(Protocol):
    pass


class SupportsIndex(Protocol):
    pass


class SupportsAbs(Protocol):
    pass


class SupportsRound(Protocol):
    pass


class IO:
    pass


class TextIO(IO):
    pass


class BinaryIO(IO):
    pass


def cast(typ, val):
    return val


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    return obj


def assert_never(arg, /):
    raise AssertionError(arg)


def final(f):
    return f


def override(method, /):
    return method


def overload(func):
    return func


def no_type_check(arg):
    return arg


def runtime_checkable(cls):
    return cls


def dataclass_transform(
    *, eq_default=True, order_default=False, kw_only_default=False, frozen_default=False, field_specifiers=(), **kwargs
):
    def decorate(cls_or_fn):
        return cls_or_fn

    return decorate


def get_type_hints(obj, globalns=None, localns=None, include_extras=False, *, format=None):
    return _hognose.unmodelled()


def get_origin(tp):
    return _hognose.unmodelled()


def get_args(tp):
    return _hognose.unmodelled()


def get_overloads(func):
    return [func]


def is_typeddict(tp):
    return _hognose.truth()


AnyStr = TypeVar("AnyStr", bytes, str)
Text = str
List = list
Dict = dict
Set = set
FrozenSet = frozenset
Tuple = tuple
Type = type
DefaultDict = collections.defaultdict
OrderedDict = collections.OrderedDict
Counter = collections.Counter
ChainMap = collections.ChainMap
Deque = collections.deque
Pattern = _re.Pattern
Match = _re.Match
ContextManager = _contextlib.AbstractContextManager
AsyncContextManager = _contextlib.AbstractAsyncContextManager
Callable = _abc.Callable
Hashable = _abc.Hashable
Sized = _abc.Sized
Container = _abc.Container
Collection = _abc.Collection
Iterable = _abc.Iterable
Iterator = _abc.Iterator
Reversible = _abc.Reversible
Generator = _abc.Generator
Awaitable = _abc.Awaitable
Coroutine = _abc.Coroutine
AsyncIterable = _abc.AsyncIterable
AsyncIterator = _abc.AsyncIterator
AsyncGenerator = _abc.AsyncGenerator
Sequence = _abc.Sequence
MutableSequence = _abc.MutableSequence
AbstractSet = _abc.Set
MutableSet = _abc.MutableSet
Mapping = _abc.Mapping
MutableMapping = _abc.MutableMapping
MappingView = _abc.MappingView
KeysView = _abc.KeysView
ItemsView = _abc.ItemsView
ValuesView = _abc.ValuesView
