"""Names for the classes that the language makes instances of."""

import _hognose
from builtins import (
    async_generator as _async_generator,
    builtin_function_or_method as _builtin_function_or_method,
    code as _code,
    coroutine as _coroutine,
    function as _function,
    generator as _generator,
    method as _method,
    module as _module,
    traceback as _traceback,
)

FunctionType = _function
LambdaType = _function
MethodType = _method
BuiltinFunctionType = _builtin_function_or_method
BuiltinMethodType = _builtin_function_or_method
GeneratorType = _generator
CoroutineType = _coroutine
AsyncGeneratorType = _async_generator
ModuleType = _module
TracebackType = _traceback
CodeType = _code
NoneType = type(None)
EllipsisType = type(...)
NotImplementedType = type(NotImplemented)
GenericAlias = type


class SimpleNamespace:
    """Each attribute may hold any of the values."""

    def __init__(self, mapping_or_iterable=(), /, **kwargs):
        _hognose.setattr(self, _hognose.keys(kwargs), _hognose.elements(kwargs))
        _hognose.setattr(self, _hognose.keys(mapping_or_iterable), _hognose.elements(mapping_or_iterable))


class MappingProxyType:
    def __new__(cls, mapping):
        """A view that changes with the mapping, which stands for it."""
        return mapping


class DynamicClassAttribute(property):
    pass


def new_class(name, bases=(), kwds=None, exec_body=None):
    namespace = {}
    if exec_body is not None:
        exec_body(namespace)
    return type(name, bases, namespace)


def coroutine(func):
    return func


def get_original_bases(cls, /):
    return cls.__bases__


def resolve_bases(bases):
    return bases
