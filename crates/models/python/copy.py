"""Copies are told apart from their originals for builtin containers only."""

import _hognose
from builtins import _truth


class Error(Exception):
    pass


error = Error

_containers = _hognose.elements((list, tuple, dict, set, frozenset))


def _copy(x):
    """Builtin containers get a container of the same class; all else is its own copy."""
    container = _hognose.only(x, _containers)
    result = _hognose.instance(_hognose.type_of(container))
    _hognose.copy_items(result, container)
    return result


def copy(x):
    return (_copy(x) if _truth else x) if _truth else x.__copy__()


def deepcopy(x, memo=None, _nil=[]):
    return (_copy(x) if _truth else x) if _truth else x.__deepcopy__(memo)


def replace(obj, /, **changes):
    return obj.__replace__(**changes) if _truth else obj
