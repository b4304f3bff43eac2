"""What the classes and functions of `builtins` do to objects and calls.

Read by the analysis, never run. `_hognose` is the module of its intrinsics. Other models import the private names.
Names that CPython hides (`function`, `dict_items`, ...) are here because the analysis needs their classes.

* Scalars have one object each; `_text`, `_number`, ... are those of the classes that methods mostly return.
* `_truth` in a condition means that either branch may run.
* `_absent` has no value at all: a default that adds nothing.
* `__class_getitem__` is absent on purpose: `list[int]` stands for `list`.
* Comparing containers does not compare their elements.
"""

import _hognose

_text = _hognose.text()
_number = _hognose.number()
_real = _hognose.real()
_data = _hognose.data()
_truth = _hognose.truth()
_complex = 1j
_unknown = _hognose.unmodelled()
_absent = _hognose.elements(())
_numbers = (_number,)

NotImplemented = _hognose.not_implemented()
Ellipsis = ...


# ---- object, type, descriptors ---------------------------------------------------------------------------------------


class object:
    __doc__ = _text
    __dict__ = _unknown
    __getattribute__ = _hognose.raw_getattr
    __setattr__ = _hognose.raw_setattr
    __delattr__ = _hognose.delattr

    # Not a `def`: every construction asks it, and a clone for each would say no more.
    __new__ = _hognose.instance

    def __init__(self, /, *args, **kwargs):
        pass

    def __init_subclass__(*args, **kwargs):
        pass

    def __subclasshook__(*args):
        return NotImplemented

    def __str__(self, /):
        return _hognose.repr_of(self)

    def __format__(self, format_spec, /):
        return _hognose.text_of(self)

    def __eq__(self, other, /):
        return True if self is other else NotImplemented

    def __ne__(self, other, /):
        return self.__eq__(other)

    def __lt__(self, other, /):
        return NotImplemented

    def __le__(self, other, /):
        return NotImplemented

    def __gt__(self, other, /):
        return NotImplemented

    def __ge__(self, other, /):
        return NotImplemented

    def __repr__(self, /):
        return _text

    def __hash__(self, /):
        return _number

    def __sizeof__(self, /):
        return _number

    def __dir__(self, /):
        return [_text]

    def __getstate__(self, /):
        return _hognose.unmodelled()

    def __reduce__(self, /):
        return _hognose.unmodelled()

    def __reduce_ex__(self, protocol, /):
        return self.__reduce__()


class type:
    __new__ = _hognose.type_new
    __call__ = _hognose.type_call
    __name__ = _text
    __qualname__ = _text
    __module__ = _text
    __mro__ = _unknown
    __bases__ = _unknown
    __base__ = _unknown
    __annotations__ = _unknown
    __type_params__ = ()

    def __init__(self, /, *args, **kwargs):
        pass

    def __prepare__(*args, **kwargs):
        return {}

    def __or__(self, value, /):
        """A union is as good as the tuple of its members."""
        return (self, value)

    def __ror__(self, value, /):
        return (value, self)

    def mro(self, /):
        return _hognose.unmodelled()

    def __subclasses__(self, /):
        return _hognose.unmodelled()

    def __instancecheck__(self, other, /):
        return _truth

    def __subclasscheck__(self, other, /):
        return _truth

    def __repr__(self, /):
        return _text

    def __dir__(self, /):
        return [_text]


class property:
    """The analysis reads the fields `fget`, `fset` and `fdel` of instances by itself."""

    def __init__(self, fget=None, fset=None, fdel=None, doc=None):
        self.fget = fget
        self.fset = fset
        self.fdel = fdel

    def getter(self, fget, /):
        return property(fget, self.fset, self.fdel)

    def setter(self, fset, /):
        return property(self.fget, fset, self.fdel)

    def deleter(self, fdel, /):
        return property(self.fget, self.fset, fdel)

    def __get__(self, instance, owner=None, /):
        return self.fget(instance)

    def __set__(self, instance, value, /):
        self.fset(instance, value)

    def __delete__(self, instance, /):
        self.fdel(instance)

    def __set_name__(self, owner, name, /):
        pass


class classmethod:
    """The analysis binds the field `__func__` of instances by itself."""

    def __init__(self, function, /):
        self.__func__ = function
        self.__wrapped__ = function

    def __get__(self, instance, owner=None, /):
        return method(self.__func__, owner)


class staticmethod:
    def __init__(self, function, /):
        self.__func__ = function
        self.__wrapped__ = function

    def __get__(self, instance, owner=None, /):
        return self.__func__

    def __call__(self, /, *args, **kwargs):
        return self.__func__(*args, **kwargs)


class super:
    __new__ = _hognose.super_new
    __thisclass__ = _unknown
    __self__ = _unknown
    __self_class__ = _unknown


# ---- callables and iterators that syntax makes -----------------------------------------------------------------------


class function:
    __name__ = _text
    __qualname__ = _text
    __module__ = _text
    __code__ = _unknown
    __globals__ = _unknown
    __closure__ = _unknown
    __defaults__ = _unknown
    __kwdefaults__ = _unknown
    __annotations__ = _unknown
    __annotate__ = _unknown
    __builtins__ = _unknown
    __type_params__ = ()

    def __call__(self, /, *args, **kwargs):
        return self(*args, **kwargs)

    def __get__(self, instance, owner=None, /):
        return method(self, instance)


class method:
    """`__func__` and `__self__` of methods that attribute access makes are known to the analysis."""

    __name__ = _text
    __qualname__ = _text
    __module__ = _text

    def __init__(self, function, instance, /):
        self.__func__ = function
        self.__self__ = instance

    def __call__(self, /, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)

    def __get__(self, instance, owner=None, /):
        return self


class builtin_function_or_method:
    __name__ = _text
    __qualname__ = _text
    __module__ = _text
    __self__ = _unknown
    __text_signature__ = _text

    def __call__(self, /, *args, **kwargs):
        return self(*args, **kwargs)


class module:
    __name__ = _text
    __file__ = _text
    __package__ = _text
    __spec__ = _unknown
    __loader__ = _unknown
    __path__ = _unknown

    def __init__(self, name, doc=None):
        pass


class generator:
    gi_frame = _unknown
    gi_code = _unknown
    gi_running = _truth
    gi_suspended = _truth
    gi_yieldfrom = _unknown
    __name__ = _text
    __qualname__ = _text

    def __iter__(self, /):
        return self

    def __next__(self, /):
        return _hognose.next(self)

    def send(self, value, /):
        return _hognose.send(self, value)

    def throw(self, type, value=None, traceback=None, /):
        return _hognose.throw(self, type if value is None else value)

    def close(self, /):
        pass


class coroutine:
    cr_frame = _unknown
    cr_code = _unknown
    cr_running = _truth
    cr_suspended = _truth
    cr_await = _unknown
    cr_origin = _unknown
    __name__ = _text
    __qualname__ = _text

    def __await__(self, /):
        return self

    def send(self, value, /):
        return _hognose.send(self, value)

    def throw(self, type, value=None, traceback=None, /):
        return _hognose.throw(self, type if value is None else value)

    def close(self, /):
        pass


class async_generator:
    ag_frame = _unknown
    ag_code = _unknown
    ag_running = _truth
    ag_suspended = _truth
    ag_await = _unknown
    __name__ = _text
    __qualname__ = _text

    def __aiter__(self, /):
        return self

    async def __anext__(self, /):
        return _hognose.next(self)

    async def asend(self, value, /):
        return _hognose.send(self, value)

    async def athrow(self, type, value=None, traceback=None, /):
        return _hognose.throw(self, type if value is None else value)

    async def aclose(self, /):
        pass


class iterator:
    """The iterator of any builtin container."""

    def __iter__(self, /):
        return self

    def __next__(self, /):
        return _hognose.next(self)

    def __length_hint__(self, /):
        return _number


class traceback:
    tb_frame = _unknown
    tb_lineno = _number
    tb_lasti = _number
    tb_next = None


class code:
    co_name = _text
    co_qualname = _text
    co_filename = _text
    co_firstlineno = _number
    co_argcount = _number
    co_flags = _number
    co_varnames = _unknown
    co_consts = _unknown
    co_names = _unknown


# ---- scalars ---------------------------------------------------------------------------------------------------------


class NoneType:
    def __bool__(self, /):
        return _truth


class ellipsis:
    pass


class NotImplementedType:
    pass


class slice:
    start = _number if _truth else None
    stop = _number if _truth else None
    step = _number if _truth else None

    def __new__(cls, start, stop=None, step=None, /):
        return _hognose.instance(cls)

    def indices(self, length, /):
        return (_number, _number, _number)


class int:
    real = _number
    imag = _number
    numerator = _number
    denominator = _number

    def __new__(cls, value=0, /, base=10):
        """By `__int__`, else `__index__`, else (before 3.14) `__trunc__`."""
        _hognose.having(value, "__int__").__int__()
        rest = _hognose.lacking(value, "__int__")
        _hognose.having(rest, "__index__").__index__()
        _hognose.having(_hognose.lacking(rest, "__index__"), "__trunc__").__trunc__()
        return _hognose.instance(cls)

    @staticmethod
    def from_bytes(bytes, byteorder="big", *, signed=False):
        return _number

    def bit_length(self, /):
        return _number

    def bit_count(self, /):
        return _number

    def conjugate(self, /):
        return _number

    def as_integer_ratio(self, /):
        return (_number, _number)

    def is_integer(self, /):
        return _truth

    def to_bytes(self, length=1, byteorder="big", *, signed=False):
        return _data

    def __int__(self, /):
        return _number

    def __index__(self, /):
        return _number

    def __trunc__(self, /):
        return _number

    def __floor__(self, /):
        return _number

    def __ceil__(self, /):
        return _number

    def __abs__(self, /):
        return _number

    def __neg__(self, /):
        return _number

    def __pos__(self, /):
        return _number

    def __invert__(self, /):
        return _number

    def __hash__(self, /):
        return _number

    def __float__(self, /):
        return _real

    def __bool__(self, /):
        return _truth

    def __repr__(self, /):
        return _text

    def __str__(self, /):
        return _text

    def __format__(self, format_spec, /):
        return _text

    def __round__(self, ndigits=None, /):
        return _number

    def __add__(self, value, /):
        return _number

    def __radd__(self, value, /):
        return _number

    def __sub__(self, value, /):
        return _number

    def __rsub__(self, value, /):
        return _number

    def __mul__(self, value, /):
        return _number

    def __rmul__(self, value, /):
        return _number

    def __floordiv__(self, value, /):
        return _number

    def __rfloordiv__(self, value, /):
        return _number

    def __mod__(self, value, /):
        return _number

    def __rmod__(self, value, /):
        return _number

    def __and__(self, value, /):
        return _number

    def __rand__(self, value, /):
        return _number

    def __or__(self, value, /):
        return _number

    def __ror__(self, value, /):
        return _number

    def __xor__(self, value, /):
        return _number

    def __rxor__(self, value, /):
        return _number

    def __lshift__(self, value, /):
        return _number

    def __rlshift__(self, value, /):
        return _number

    def __rshift__(self, value, /):
        return _number

    def __rrshift__(self, value, /):
        return _number

    def __truediv__(self, value, /):
        return _real

    def __rtruediv__(self, value, /):
        return _real

    def __pow__(self, value, mod=None, /):
        return _number

    def __rpow__(self, value, mod=None, /):
        return _number

    def __divmod__(self, value, /):
        return (_number, _number)

    def __rdivmod__(self, value, /):
        return (_number, _number)

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getnewargs__(self, /):
        return (_number,)


class bool(int):
    def __new__(cls, object=False, /):
        _hognose.truth_of(object)
        return _truth


class float:
    real = _real
    imag = _real

    def __new__(cls, value=0.0, /):
        """By `__float__`, else `__index__`."""
        _hognose.having(value, "__float__").__float__()
        _hognose.having(_hognose.lacking(value, "__float__"), "__index__").__index__()
        return _hognose.instance(cls)

    @staticmethod
    def fromhex(string, /):
        return _real

    @staticmethod
    def from_number(number, /):
        return _real

    def hex(self, /):
        return _text

    def conjugate(self, /):
        return _real

    def __float__(self, /):
        return _real

    def __abs__(self, /):
        return _real

    def __neg__(self, /):
        return _real

    def __pos__(self, /):
        return _real

    def is_integer(self, /):
        return _truth

    def __bool__(self, /):
        return _truth

    def as_integer_ratio(self, /):
        return (_number, _number)

    def __int__(self, /):
        return _number

    def __trunc__(self, /):
        return _number

    def __floor__(self, /):
        return _number

    def __ceil__(self, /):
        return _number

    def __hash__(self, /):
        return _number

    def __round__(self, ndigits=None, /):
        return _number if ndigits is None else _real

    def __repr__(self, /):
        return _text

    def __format__(self, format_spec, /):
        return _text

    def __add__(self, value, /):
        return _real

    def __radd__(self, value, /):
        return _real

    def __sub__(self, value, /):
        return _real

    def __rsub__(self, value, /):
        return _real

    def __mul__(self, value, /):
        return _real

    def __rmul__(self, value, /):
        return _real

    def __truediv__(self, value, /):
        return _real

    def __rtruediv__(self, value, /):
        return _real

    def __floordiv__(self, value, /):
        return _real

    def __rfloordiv__(self, value, /):
        return _real

    def __mod__(self, value, /):
        return _real

    def __rmod__(self, value, /):
        return _real

    def __pow__(self, value, mod=None, /):
        return _real

    def __rpow__(self, value, mod=None, /):
        return _real

    def __divmod__(self, value, /):
        return (_real, _real)

    def __rdivmod__(self, value, /):
        return (_real, _real)

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getnewargs__(self, /):
        return (_real,)


class complex:
    real = _real
    imag = _real

    def __new__(cls, real=0, imag=0):
        """By `__complex__`, else `__float__`, else `__index__`."""
        _hognose.having(real, "__complex__").__complex__()
        rest = _hognose.lacking(real, "__complex__")
        _hognose.having(rest, "__float__").__float__()
        _hognose.having(_hognose.lacking(rest, "__float__"), "__index__").__index__()
        return _hognose.instance(cls)

    @staticmethod
    def from_number(number, /):
        return _complex

    def conjugate(self, /):
        return _complex

    def __complex__(self, /):
        return _complex

    def __neg__(self, /):
        return _complex

    def __pos__(self, /):
        return _complex

    def __abs__(self, /):
        return _real

    def __bool__(self, /):
        return _truth

    def __hash__(self, /):
        return _number

    def __repr__(self, /):
        return _text

    def __format__(self, format_spec, /):
        return _text

    def __add__(self, value, /):
        return _complex

    def __radd__(self, value, /):
        return _complex

    def __sub__(self, value, /):
        return _complex

    def __rsub__(self, value, /):
        return _complex

    def __mul__(self, value, /):
        return _complex

    def __rmul__(self, value, /):
        return _complex

    def __truediv__(self, value, /):
        return _complex

    def __rtruediv__(self, value, /):
        return _complex

    def __pow__(self, value, mod=None, /):
        return _complex

    def __rpow__(self, value, mod=None, /):
        return _complex

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getnewargs__(self, /):
        return (_real, _real)


class str:
    def __new__(cls, object="", encoding="utf-8", errors="strict"):
        _hognose.text_of(object)
        return _hognose.instance(cls)

    def join(self, iterable, /):
        for _ in iterable:
            pass
        return _text

    def format(self, /, *args, **kwargs):
        _hognose.format_of(_hognose.elements(args))
        _hognose.format_of(_hognose.elements(kwargs))
        return _text

    def format_map(self, mapping, /):
        _hognose.format_of(mapping[_text])
        return _text

    def translate(self, table, /):
        table[_number]
        return _text

    @staticmethod
    def maketrans(x, y=None, z=None, /):
        table = {}
        _hognose.store_key(table, _number)
        _hognose.store(table, _text)
        return table

    def split(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, _text)
        return parts

    def rsplit(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, _text)
        return parts

    def splitlines(self, keepends=False):
        lines = []
        _hognose.store(lines, _text)
        return lines

    def partition(self, sep, /):
        return (_text, _text, _text)

    def rpartition(self, sep, /):
        return (_text, _text, _text)

    def capitalize(self, /):
        return _text

    def casefold(self, /):
        return _text

    def lower(self, /):
        return _text

    def upper(self, /):
        return _text

    def swapcase(self, /):
        return _text

    def title(self, /):
        return _text

    def center(self, width, fillchar=" ", /):
        return _text

    def ljust(self, width, fillchar=" ", /):
        return _text

    def rjust(self, width, fillchar=" ", /):
        return _text

    def zfill(self, width, /):
        return _text

    def expandtabs(self, tabsize=8):
        return _text

    def replace(self, old, new, /, count=-1):
        return _text

    def strip(self, chars=None, /):
        return _text

    def lstrip(self, chars=None, /):
        return _text

    def rstrip(self, chars=None, /):
        return _text

    def removeprefix(self, prefix, /):
        return _text

    def removesuffix(self, suffix, /):
        return _text

    def encode(self, encoding="utf-8", errors="strict"):
        return _data

    def count(self, sub, start=None, end=None, /):
        return _number

    def find(self, sub, start=None, end=None, /):
        return _number

    def index(self, sub, start=None, end=None, /):
        return _number

    def rfind(self, sub, start=None, end=None, /):
        return _number

    def rindex(self, sub, start=None, end=None, /):
        return _number

    def startswith(self, prefix, start=None, end=None, /):
        return _truth

    def endswith(self, suffix, start=None, end=None, /):
        return _truth

    def isalnum(self, /):
        return _truth

    def isalpha(self, /):
        return _truth

    def isascii(self, /):
        return _truth

    def isdecimal(self, /):
        return _truth

    def isdigit(self, /):
        return _truth

    def isidentifier(self, /):
        return _truth

    def islower(self, /):
        return _truth

    def isnumeric(self, /):
        return _truth

    def isprintable(self, /):
        return _truth

    def isspace(self, /):
        return _truth

    def istitle(self, /):
        return _truth

    def isupper(self, /):
        return _truth

    def __add__(self, value, /):
        return _text

    def __mod__(self, value, /):
        return _text

    def __mul__(self, value, /):
        return _text

    def __rmul__(self, value, /):
        return _text

    def __rmod__(self, value, /):
        return _text

    def __getitem__(self, key, /):
        return _text

    def __contains__(self, key, /):
        return _truth

    def __iter__(self, /):
        return _hognose.native_iter(_text)

    def __len__(self, /):
        return _number

    def __hash__(self, /):
        return _number

    def __str__(self, /):
        return _text

    def __repr__(self, /):
        return _text

    def __format__(self, format_spec, /):
        return _text

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getnewargs__(self, /):
        return (_text,)


class bytes:
    def __new__(cls, source=b"", encoding="utf-8", errors="strict"):
        source.__bytes__()
        return _hognose.instance(cls)

    def join(self, iterable_of_bytes, /):
        for _ in iterable_of_bytes:
            pass
        return _data

    def split(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, _data)
        return parts

    def rsplit(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, _data)
        return parts

    def splitlines(self, keepends=False):
        lines = []
        _hognose.store(lines, _data)
        return lines

    @staticmethod
    def fromhex(string, /):
        return _data

    @staticmethod
    def maketrans(frm, to, /):
        return _data

    def partition(self, sep, /):
        return (_data, _data, _data)

    def rpartition(self, sep, /):
        return (_data, _data, _data)

    def capitalize(self, /):
        return _data

    def lower(self, /):
        return _data

    def upper(self, /):
        return _data

    def swapcase(self, /):
        return _data

    def title(self, /):
        return _data

    def center(self, width, fillchar=b" ", /):
        return _data

    def ljust(self, width, fillchar=b" ", /):
        return _data

    def rjust(self, width, fillchar=b" ", /):
        return _data

    def zfill(self, width, /):
        return _data

    def expandtabs(self, tabsize=8):
        return _data

    def replace(self, old, new, count=-1, /):
        return _data

    def translate(self, table, /, delete=b""):
        return _data

    def strip(self, bytes=None, /):
        return _data

    def lstrip(self, bytes=None, /):
        return _data

    def rstrip(self, bytes=None, /):
        return _data

    def removeprefix(self, prefix, /):
        return _data

    def removesuffix(self, suffix, /):
        return _data

    def decode(self, encoding="utf-8", errors="strict"):
        return _text

    def hex(self, sep=None, bytes_per_sep=1):
        return _text

    def count(self, sub, start=None, end=None, /):
        return _number

    def find(self, sub, start=None, end=None, /):
        return _number

    def index(self, sub, start=None, end=None, /):
        return _number

    def rfind(self, sub, start=None, end=None, /):
        return _number

    def rindex(self, sub, start=None, end=None, /):
        return _number

    def startswith(self, prefix, start=None, end=None, /):
        return _truth

    def endswith(self, suffix, start=None, end=None, /):
        return _truth

    def isalnum(self, /):
        return _truth

    def isalpha(self, /):
        return _truth

    def isascii(self, /):
        return _truth

    def isdigit(self, /):
        return _truth

    def islower(self, /):
        return _truth

    def isspace(self, /):
        return _truth

    def istitle(self, /):
        return _truth

    def isupper(self, /):
        return _truth

    def __add__(self, value, /):
        return _data

    def __mod__(self, value, /):
        return _data

    def __mul__(self, value, /):
        return _data

    def __rmul__(self, value, /):
        return _data

    def __rmod__(self, value, /):
        return _data

    def __contains__(self, key, /):
        return _truth

    def __iter__(self, /):
        return _hognose.native_iter(_numbers)

    def __len__(self, /):
        return _number

    def __str__(self, /):
        return _text

    def __repr__(self, /):
        return _text

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getitem__(self, key, /):
        return _number if _truth else _data

    def __hash__(self, /):
        return _number

    def __bytes__(self, /):
        return _data

    def __getnewargs__(self, /):
        return (_data,)


class bytearray:
    def __init__(self, source=b"", encoding="utf-8", errors="strict"):
        pass

    def join(self, iterable_of_bytes, /):
        for _ in iterable_of_bytes:
            pass
        return bytearray()

    def split(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, bytearray())
        return parts

    def rsplit(self, sep=None, maxsplit=-1):
        parts = []
        _hognose.store(parts, bytearray())
        return parts

    def splitlines(self, keepends=False):
        lines = []
        _hognose.store(lines, bytearray())
        return lines

    @staticmethod
    def fromhex(string, /):
        return bytearray()

    @staticmethod
    def maketrans(frm, to, /):
        return _data

    def partition(self, sep, /):
        return (bytearray(), bytearray(), bytearray())

    def rpartition(self, sep, /):
        return (bytearray(), bytearray(), bytearray())

    def capitalize(self, /):
        return bytearray()

    def lower(self, /):
        return bytearray()

    def upper(self, /):
        return bytearray()

    def swapcase(self, /):
        return bytearray()

    def title(self, /):
        return bytearray()

    def center(self, width, fillchar=b" ", /):
        return bytearray()

    def ljust(self, width, fillchar=b" ", /):
        return bytearray()

    def rjust(self, width, fillchar=b" ", /):
        return bytearray()

    def zfill(self, width, /):
        return bytearray()

    def expandtabs(self, tabsize=8):
        return bytearray()

    def replace(self, old, new, count=-1, /):
        return bytearray()

    def translate(self, table, /, delete=b""):
        return bytearray()

    def strip(self, bytes=None, /):
        return bytearray()

    def lstrip(self, bytes=None, /):
        return bytearray()

    def rstrip(self, bytes=None, /):
        return bytearray()

    def removeprefix(self, prefix, /):
        return bytearray()

    def removesuffix(self, suffix, /):
        return bytearray()

    def decode(self, encoding="utf-8", errors="strict"):
        return _text

    def hex(self, sep=None, bytes_per_sep=1):
        return _text

    def count(self, sub, start=None, end=None, /):
        return _number

    def find(self, sub, start=None, end=None, /):
        return _number

    def index(self, sub, start=None, end=None, /):
        return _number

    def rfind(self, sub, start=None, end=None, /):
        return _number

    def rindex(self, sub, start=None, end=None, /):
        return _number

    def startswith(self, prefix, start=None, end=None, /):
        return _truth

    def endswith(self, suffix, start=None, end=None, /):
        return _truth

    def isalnum(self, /):
        return _truth

    def isalpha(self, /):
        return _truth

    def isascii(self, /):
        return _truth

    def isdigit(self, /):
        return _truth

    def islower(self, /):
        return _truth

    def isspace(self, /):
        return _truth

    def istitle(self, /):
        return _truth

    def isupper(self, /):
        return _truth

    def __add__(self, value, /):
        return bytearray()

    def __mod__(self, value, /):
        return bytearray()

    def __mul__(self, value, /):
        return bytearray()

    def __rmul__(self, value, /):
        return bytearray()

    def __rmod__(self, value, /):
        return bytearray()

    def __contains__(self, key, /):
        return _truth

    def __iter__(self, /):
        return _hognose.native_iter(_numbers)

    def __len__(self, /):
        return _number

    def __str__(self, /):
        return _text

    def __repr__(self, /):
        return _text

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getitem__(self, key, /):
        return _number if _truth else self

    def __setitem__(self, key, value, /):
        pass

    def __delitem__(self, key, /):
        pass

    def __iadd__(self, value, /):
        return self

    def __imul__(self, value, /):
        return self

    def append(self, item, /):
        pass

    def extend(self, iterable_of_ints, /):
        for _ in iterable_of_ints:
            pass

    def insert(self, index, item, /):
        pass

    def pop(self, index=-1, /):
        return _number

    def remove(self, value, /):
        pass

    def reverse(self, /):
        pass

    def clear(self, /):
        pass

    def copy(self, /):
        return bytearray()

    def resize(self, size, /):
        pass


class memoryview:
    obj = _unknown
    nbytes = _number
    itemsize = _number
    ndim = _number
    format = _text
    readonly = _truth
    contiguous = _truth
    c_contiguous = _truth
    f_contiguous = _truth
    shape = (_number,)
    strides = (_number,)
    suboffsets = ()

    def __init__(self, object):
        object.__buffer__(_number)

    def __enter__(self, /):
        return self

    def toreadonly(self, /):
        return self

    def __exit__(self, /, *exc_info):
        pass

    def cast(self, format, shape=None):
        return self

    def release(self, /):
        pass

    def tobytes(self, /, order="C"):
        return _data

    def hex(self, sep=None, bytes_per_sep=1):
        return _text

    def tolist(self, /):
        return [_number]

    def count(self, value, /):
        return _number

    def index(self, value, start=0, stop=None, /):
        return _number

    def __getitem__(self, key, /):
        return _number if _truth else self

    def __setitem__(self, key, value, /):
        pass

    def __iter__(self, /):
        return _hognose.native_iter(_numbers)

    def __len__(self, /):
        return _number

    def __hash__(self, /):
        return _number

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth


# ---- containers ------------------------------------------------------------------------------------------------------


class list:
    __hash__ = None

    def __init__(self, iterable=(), /):
        _hognose.copy_items(self, iterable)

    def append(self, object, /):
        _hognose.store(self, object)

    def extend(self, iterable, /):
        for item in iterable:
            _hognose.store(self, item)

    def insert(self, index, object, /):
        _hognose.shift(self)
        _hognose.store(self, object)

    def pop(self, index=-1, /):
        _hognose.shift(self)
        return _hognose.elements(self)

    def remove(self, value, /):
        _hognose.shift(self)
        _hognose.elements(self) == value

    def index(self, value, start=0, stop=None, /):
        _hognose.elements(self) == value
        return _number

    def count(self, value, /):
        _hognose.elements(self) == value
        return _number

    def clear(self, /):
        pass

    def copy(self, /):
        result = []
        _hognose.copy_items(result, self)
        return result

    def reverse(self, /):
        _hognose.shift(self)

    def sort(self, /, *, key=None, reverse=False):
        _hognose.shift(self)
        item = _hognose.elements(self)
        if key is None:
            item < item
        else:
            key(item) < key(item)

    def __add__(self, value, /):
        result = []
        _hognose.copy_items(result, self)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __iadd__(self, value, /):
        for item in value:
            _hognose.store(self, item)
        return self

    def __mul__(self, value, /):
        result = []
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rmul__(self, value, /):
        result = []
        _hognose.store(result, _hognose.elements(self))
        return result

    def __imul__(self, value, /):
        _hognose.shift(self)
        return self

    def __delitem__(self, key, /):
        _hognose.shift(self)

    def __getitem__(self, key, /):
        return _hognose.getitem(self, key)

    def __setitem__(self, key, value, /):
        _hognose.setitem(self, key, value)

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, key, /):
        _hognose.elements(self) == key
        return _truth

    def __len__(self, /):
        return _number

    def __repr__(self, /):
        return _hognose.repr_of(_hognose.elements(self))

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth


class tuple:
    def __new__(cls, iterable=(), /):
        self = _hognose.instance(cls)
        _hognose.copy_items(self, iterable)
        return self

    def index(self, value, start=0, stop=None, /):
        _hognose.elements(self) == value
        return _number

    def count(self, value, /):
        _hognose.elements(self) == value
        return _number

    def __add__(self, value, /):
        result = _hognose.instance(tuple)
        _hognose.copy_items(result, self)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __mul__(self, value, /):
        result = _hognose.instance(tuple)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rmul__(self, value, /):
        result = _hognose.instance(tuple)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __getitem__(self, key, /):
        return _hognose.getitem(self, key)

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, key, /):
        _hognose.elements(self) == key
        return _truth

    def __len__(self, /):
        return _number

    def __hash__(self, /):
        return _hognose.hash_of(_hognose.elements(self))

    def __repr__(self, /):
        return _hognose.repr_of(_hognose.elements(self))

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __getnewargs__(self, /):
        return (self,)


_pair_classes = _hognose.elements((tuple, list))
_callable_classes = _hognose.elements((function, method, builtin_function_or_method, classmethod, staticmethod, type))


class dict_keys:
    mapping = _unknown

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __len__(self, /):
        return _number

    def __contains__(self, key, /):
        return _truth

    def isdisjoint(self, other, /):
        return _truth

    def __and__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __sub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rand__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rsub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __or__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __xor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __ror__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __rxor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth


class dict_values:
    mapping = _unknown

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __len__(self, /):
        return _number


class dict_items:
    mapping = _unknown

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __len__(self, /):
        return _number

    def __contains__(self, key, /):
        return _truth

    def isdisjoint(self, other, /):
        return _truth

    def __and__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __sub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rand__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rsub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __or__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __xor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __ror__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __rxor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, next(_hognose.iter(value)))
        return result

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth


class dict:
    __hash__ = None

    def __init__(self, source=(), /, **kwargs):
        _hognose.copy_items(self, kwargs)
        dict.update(self, source)

    def update(self, source=(), /, **kwargs):
        """Of another dict everything; of other mappings what their keys give; else of each item its two parts."""
        _hognose.copy_items(self, kwargs)
        _hognose.copy_items(self, _hognose.only(source, dict))
        for name in source.keys():
            _hognose.setitem(self, name, source[name])
        for pair in source:
            key, value = _hognose.only(pair, _pair_classes)
            _hognose.setitem(self, key, value)

    @classmethod
    def fromkeys(cls, iterable, value=None, /):
        result = _hognose.instance(cls)
        for key in iterable:
            _hognose.setitem(result, key, value)
        return result

    def get(self, key, default=None, /):
        return _hognose.getitem(self, key) if _truth else default

    def setdefault(self, key, default=None, /):
        _hognose.setitem(self, key, default)
        return _hognose.getitem(self, key)

    def pop(self, key, default=_absent, /):
        return _hognose.getitem(self, key) if _truth else default

    def popitem(self, /):
        return (_hognose.keys(self), _hognose.elements(self))

    def keys(self, /):
        view = _hognose.instance(dict_keys)
        _hognose.store(view, _hognose.keys(self))
        return view

    def values(self, /):
        view = _hognose.instance(dict_values)
        _hognose.store(view, _hognose.elements(self))
        return view

    def items(self, /):
        view = _hognose.instance(dict_items)
        _hognose.store(view, (_hognose.keys(self), _hognose.elements(self)))
        return view

    def copy(self, /):
        result = {}
        _hognose.copy_items(result, self)
        return result

    def clear(self, /):
        pass

    def __getitem__(self, key, /):
        """Subclasses may define `__missing__`."""
        return _hognose.getitem(self, key) if _truth else _hognose.type_of(self).__missing__(self, key)

    def __or__(self, value, /):
        result = {}
        _hognose.copy_items(result, self)
        _hognose.copy_items(result, value)
        return result

    def __ror__(self, value, /):
        result = {}
        _hognose.copy_items(result, self)
        _hognose.copy_items(result, value)
        return result

    def __ior__(self, value, /):
        dict.update(self, value)
        return self

    def __setitem__(self, key, value, /):
        _hognose.setitem(self, key, value)

    def __delitem__(self, key, /):
        _hognose.find(self, key)

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __reversed__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, key, /):
        return _hognose.find(self, key)

    def __len__(self, /):
        return _number

    def __repr__(self, /):
        return _hognose.repr_of(_hognose.elements(self))

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth


class set:
    __hash__ = None

    def __init__(self, iterable=(), /):
        for item in iterable:
            _hognose.find(self, item)
            _hognose.store(self, item)

    def add(self, object, /):
        _hognose.find(self, object)
        _hognose.store(self, object)

    def update(self, /, *others):
        for item in _hognose.elements(others):
            _hognose.find(self, item)
            _hognose.store(self, item)

    def symmetric_difference_update(self, other, /):
        for item in other:
            _hognose.store(self, item)

    def __ior__(self, value, /):
        _hognose.store(self, _hognose.elements(value))
        return self

    def __ixor__(self, value, /):
        _hognose.store(self, _hognose.elements(value))
        return self

    def copy(self, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def union(self, /, *others):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        for item in _hognose.elements(others):
            _hognose.store(result, item)
        return result

    def symmetric_difference(self, other, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        for item in other:
            _hognose.store(result, item)
        return result

    def intersection(self, /, *others):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def difference(self, /, *others):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def issubset(self, other, /):
        return _truth

    def issuperset(self, other, /):
        return _truth

    def isdisjoint(self, other, /):
        return _truth

    def __and__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __sub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rand__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rsub__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __or__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __xor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __ror__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rxor__(self, value, /):
        result = _hognose.instance(set)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, object, /):
        return _hognose.find(self, object)

    def __len__(self, /):
        return _number

    def __repr__(self, /):
        return _hognose.repr_of(_hognose.elements(self))

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def pop(self, /):
        return _hognose.elements(self)

    def remove(self, object, /):
        _hognose.find(self, object)

    def discard(self, object, /):
        _hognose.find(self, object)

    def clear(self, /):
        pass

    def intersection_update(self, /, *others):
        pass

    def difference_update(self, /, *others):
        pass

    def __iand__(self, value, /):
        return self

    def __isub__(self, value, /):
        return self


class frozenset:
    def __new__(cls, iterable=(), /):
        self = _hognose.instance(cls)
        for item in iterable:
            _hognose.find(self, item)
            _hognose.store(self, item)
        return self

    def copy(self, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        return result

    def union(self, /, *others):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        for item in _hognose.elements(others):
            _hognose.store(result, item)
        return result

    def symmetric_difference(self, other, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        for item in other:
            _hognose.store(result, item)
        return result

    def intersection(self, /, *others):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        return result

    def difference(self, /, *others):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        return result

    def issubset(self, other, /):
        return _truth

    def issuperset(self, other, /):
        return _truth

    def isdisjoint(self, other, /):
        return _truth

    def __and__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __sub__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        return result

    def __rand__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rsub__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(value))
        return result

    def __or__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __xor__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __ror__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __rxor__(self, value, /):
        result = _hognose.instance(frozenset)
        _hognose.store(result, _hognose.elements(self))
        _hognose.store(result, _hognose.elements(value))
        return result

    def __iter__(self, /):
        return _hognose.native_iter(self)

    def __contains__(self, object, /):
        return _hognose.find(self, object)

    def __len__(self, /):
        return _number

    def __repr__(self, /):
        return _hognose.repr_of(_hognose.elements(self))

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth

    def __lt__(self, value, /):
        return _truth

    def __le__(self, value, /):
        return _truth

    def __gt__(self, value, /):
        return _truth

    def __ge__(self, value, /):
        return _truth

    def __hash__(self, /):
        return _hognose.hash_of(_hognose.elements(self))


class range:
    start = _number
    stop = _number
    step = _number

    def __init__(self, start, stop=None, step=None, /):
        pass

    def __getitem__(self, key, /):
        """A slice of a range is a range."""
        return _number if _truth else _hognose.getitem(_box(self), _hognose.only(key, slice))

    def __iter__(self, /):
        return _hognose.native_iter(_numbers)

    def __reversed__(self, /):
        return _hognose.native_iter(_numbers)

    def __contains__(self, key, /):
        return _truth

    def __bool__(self, /):
        return _truth

    def __len__(self, /):
        return _number

    def __hash__(self, /):
        return _number

    def count(self, value, /):
        return _number

    def index(self, value, /):
        return _number

    def __eq__(self, value, /):
        return _truth

    def __ne__(self, value, /):
        return _truth


def _box(value):
    """A container that gives the value for every key: `getitem(_box(x), key)` is `x` where there is a key."""
    box = []
    _hognose.store(box, value)
    return box


# ---- functions over iterables ----------------------------------------------------------------------------------------
# In CPython some of these are classes; as generators they call their function in the clone of the call that made them.


def enumerate(iterable, start=0):
    for item in iterable:
        yield (_number, item)


def zip(first=(), second=(), third=(), fourth=(), /, *rest, strict=False):
    """The items of the first four keep their positions."""
    one, two = next(_hognose.iter(first)), next(_hognose.iter(second))
    three, four = next(_hognose.iter(third)), next(_hognose.iter(fourth))
    items = (one, two, three, four)
    for iterable in rest:
        for item in iterable:
            _hognose.store(items, item)
    yield items


def map(function, iterable, second=(), third=(), fourth=(), /, *rest, strict=False):
    others = (next(_hognose.iter(second)), next(_hognose.iter(third)), next(_hognose.iter(fourth)))
    for more in rest:
        for other in more:
            _hognose.store(others, other)
    for item in iterable:
        yield function(item, *others)


def filter(function, iterable, /):
    for item in iterable:
        if function is None or function(item):
            yield item


def reversed(object, /):
    """By `__reversed__`, else by position."""
    for item in _hognose.having(object, "__reversed__").__reversed__():
        yield item
    row = _hognose.lacking(object, "__reversed__")
    _hognose.length_of(row)
    yield row[_number]


def sorted(iterable, /, *, key=None, reverse=False):
    result = []
    for item in iterable:
        _hognose.store(result, item)
        if key is None:
            item < item
        else:
            key(item) < key(item)
    return result


def min(first, /, *rest, key=None, default=_absent):
    return _extreme(first, rest, key) if _truth else default


def max(first, /, *rest, key=None, default=_absent):
    return _extreme(first, rest, key) if _truth else default


def _extreme(first, rest, key):
    """Of one argument an item, of several any of them."""
    items = []
    others = _hognose.elements(rest)
    _hognose.store(items, others)
    _hognose.store(items, _hognose.getitem(_box(first), others))
    for item in first:
        _hognose.store(items, item)
    item = _hognose.elements(items)
    if key is None:
        item < item
    else:
        key(item) < key(item)
    return item


def sum(iterable, /, start=0):
    for item in iterable:
        start = start + item
    return start


def any(iterable, /):
    for item in iterable:
        if item:
            return True
    return False


def all(iterable, /):
    for item in iterable:
        if not item:
            return False
    return True


def _call_until(function):
    while True:
        yield function()


_sentinel_iterators = _box(_call_until)


def iter(object, sentinel=_absent, /):
    """With a sentinel the object is called for each item."""
    return _hognose.iter(object) if _truth else _hognose.getitem(_sentinel_iterators, sentinel)(object)


next = _hognose.next


def aiter(async_iterable, /):
    return async_iterable.__aiter__()


async def anext(async_iterator, default=_absent, /):
    return await async_iterator.__anext__() if _truth else default


# ---- functions on one object -----------------------------------------------------------------------------------------

getattr = _hognose.getattr
setattr = _hognose.setattr
delattr = _hognose.delattr
isinstance = _hognose.isinstance


def hasattr(obj, name, /):
    _hognose.getattr(obj, name)
    return _truth


def len(obj, /):
    return _hognose.length_of(obj)


def hash(obj, /):
    return _hognose.hash_of(obj)


def repr(obj, /):
    return _hognose.repr_of(obj)


def ascii(obj, /):
    return _hognose.repr_of(obj)


def format(value, format_spec="", /):
    return _hognose.format_of(value)


def print(*args, sep=" ", end="\n", file=None, flush=False):
    _hognose.text_of(_hognose.elements(args))
    if file is not None:
        file.write(_text)


def issubclass(cls, class_or_tuple, /):
    return _truth


def callable(obj, /):
    return _truth


def id(obj, /):
    return _number


def abs(number, /):
    return number.__abs__()


def round(number, ndigits=None):
    return number.__round__() if ndigits is None else number.__round__(ndigits)


def pow(base, exp, mod=None):
    return base**exp


def divmod(x, y, /):
    return x.__divmod__(y)


def chr(i, /):
    return _text


def ord(character, /):
    return _number


def bin(number, /):
    return _text


def oct(number, /):
    return _text


def hex(number, /):
    return _text


def input(prompt="", /):
    _hognose.text_of(prompt)
    return _text


# ---- namespaces and code ---------------------------------------------------------------------------------------------


def dir(object=None, /):
    object.__dir__()
    names = []
    _hognose.store(names, _text)
    return names


def vars(object=None, /):
    return object.__dict__


globals = _hognose.globals


def locals():
    return _hognose.unmodelled()


def eval(source, /, globals=None, locals=None):
    return _hognose.generated_code(source)


def exec(source, /, globals=None, locals=None, *, closure=None):
    _hognose.generated_code(source)


def compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, _feature_version=-1):
    return _hognose.instance(code)


__import__ = _hognose.import_name


def breakpoint(*args, **kws):
    pass


def exit(code=None):
    raise SystemExit(code)


def quit(code=None):
    raise SystemExit(code)


# ---- exceptions ------------------------------------------------------------------------------------------------------


class BaseException:
    __cause__ = None
    __context__ = None
    __suppress_context__ = _truth
    __traceback__ = traceback()
    args = (_text,)

    def __init__(self, /, *args):
        self.args = args

    def with_traceback(self, tb, /):
        self.__traceback__ = tb
        return self

    def add_note(self, note, /):
        self.__notes__ = [note]

    def __str__(self, /):
        _hognose.text_of(_hognose.elements(self.args))
        return _text

    def __repr__(self, /):
        _hognose.repr_of(_hognose.elements(self.args))
        return _text


class BaseExceptionGroup(BaseException):
    def __init__(self, message, exceptions, /):
        self.message = message
        self.exceptions = tuple(exceptions)
        self.args = (message, self.exceptions)

    def derive(self, excs, /):
        return type(self)(self.message, excs)

    def subgroup(self, matcher_value, /):
        matcher_value(_hognose.elements(self.exceptions))
        return self

    def split(self, matcher_value, /):
        matcher_value(_hognose.elements(self.exceptions))
        return (self, self)


class GeneratorExit(BaseException):
    pass


class KeyboardInterrupt(BaseException):
    pass


class SystemExit(BaseException):
    code = _number

    def __init__(self, /, *args):
        self.args = args
        self.code = _hognose.elements(args)


class Exception(BaseException):
    pass


class ExceptionGroup(BaseExceptionGroup, Exception):
    pass


class ArithmeticError(Exception):
    pass


class FloatingPointError(ArithmeticError):
    pass


class OverflowError(ArithmeticError):
    pass


class ZeroDivisionError(ArithmeticError):
    pass


class AssertionError(Exception):
    pass


class AttributeError(Exception):
    def __init__(self, /, *args, name=None, obj=None):
        self.args = args
        self.name = name
        self.obj = obj


class BufferError(Exception):
    pass


class EOFError(Exception):
    pass


class ImportError(Exception):
    msg = _text
    name_from = None

    def __init__(self, /, *args, name=None, path=None, name_from=None):
        self.args = args
        self.name = name
        self.path = path


class ModuleNotFoundError(ImportError):
    pass


class LookupError(Exception):
    pass


class IndexError(LookupError):
    pass


class KeyError(LookupError):
    pass


class MemoryError(Exception):
    pass


class NameError(Exception):
    def __init__(self, /, *args, name=None):
        self.args = args
        self.name = name


class UnboundLocalError(NameError):
    pass


class OSError(Exception):
    errno = _number
    strerror = _text
    filename = _text
    filename2 = _text
    characters_written = _number


class ReferenceError(Exception):
    pass


class RuntimeError(Exception):
    pass


class NotImplementedError(RuntimeError):
    pass


class PythonFinalizationError(RuntimeError):
    pass


class RecursionError(RuntimeError):
    pass


class StopAsyncIteration(Exception):
    pass


class StopIteration(Exception):
    value = _unknown

    def __init__(self, value=None, /, *args):
        self.args = (value,)
        self.value = value


class SyntaxError(Exception):
    msg = _text
    filename = _text
    text = _text
    lineno = _number
    offset = _number
    end_lineno = _number
    end_offset = _number
    print_file_and_line = None


class IndentationError(SyntaxError):
    pass


class TabError(IndentationError):
    pass


class SystemError(Exception):
    pass


class TypeError(Exception):
    pass


class ValueError(Exception):
    pass


class UnicodeError(ValueError):
    pass


class UnicodeDecodeError(UnicodeError):
    encoding = _text
    object = _data
    start = _number
    end = _number
    reason = _text


class UnicodeEncodeError(UnicodeError):
    encoding = _text
    object = _text
    start = _number
    end = _number
    reason = _text


class UnicodeTranslateError(UnicodeError):
    encoding = _text
    object = _text
    start = _number
    end = _number
    reason = _text


class BlockingIOError(OSError):
    pass


class ChildProcessError(OSError):
    pass


class ConnectionError(OSError):
    pass


class BrokenPipeError(ConnectionError):
    pass


class ConnectionAbortedError(ConnectionError):
    pass


class ConnectionRefusedError(ConnectionError):
    pass


class ConnectionResetError(ConnectionError):
    pass


class FileExistsError(OSError):
    pass


class FileNotFoundError(OSError):
    pass


class InterruptedError(OSError):
    pass


class IsADirectoryError(OSError):
    pass


class NotADirectoryError(OSError):
    pass


class PermissionError(OSError):
    pass


class ProcessLookupError(OSError):
    pass


class TimeoutError(OSError):
    pass


class Warning(Exception):
    pass


class BytesWarning(Warning):
    pass


class DeprecationWarning(Warning):
    pass


class EncodingWarning(Warning):
    pass


class FutureWarning(Warning):
    pass


class ImportWarning(Warning):
    pass


class PendingDeprecationWarning(Warning):
    pass


class ResourceWarning(Warning):
    pass


class RuntimeWarning(Warning):
    pass


class SyntaxWarning(Warning):
    pass


class UnicodeWarning(Warning):
    pass


class UserWarning(Warning):
    pass


EnvironmentError = OSError
IOError = OSError
