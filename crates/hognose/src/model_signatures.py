"""Says which parameters library functions have.

Input: a JSON list of [module, dotted name]. Output: a JSON list in the same order; [[name, kind], ...] for each function, null
where Python does not know, false where there is no such thing.
"""
import importlib
import inspect
import json
import sys

answers = sys.stdout
# What modules print when they are imported is no answer.
sys.stdout = sys.stderr
GENERIC = [["self", 0], ["args", 2], ["kwargs", 4]]


def find(module, dotted):
    found = importlib.import_module(module)
    for name in dotted.split("."):
        found = inspect.getattr_static(found, name) if inspect.isclass(found) else getattr(found, name)
    while True:
        if isinstance(found, (classmethod, staticmethod)):
            found = found.__func__
        elif isinstance(found, property):
            found = found.fget
        else:
            return found


def parameters(module, dotted):
    try:
        found = find(module, dotted)
    except (ImportError, AttributeError):
        return False
    if not callable(found) or inspect.isclass(found):
        return None
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None
    shown = [[parameter.name, int(parameter.kind)] for parameter in signature.parameters.values()]
    # What slots of builtin classes say of themselves.
    return None if shown == GENERIC else shown


def main():
    answer = []
    for module, dotted in json.load(sys.stdin):
        try:
            answer.append(parameters(module, dotted))
        except Exception:
            answer.append(None)
    json.dump(answer, answers)


main()
