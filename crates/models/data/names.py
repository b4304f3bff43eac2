"""Prints the names that CPython has in the modules given, as JSON: module -> name -> members of a class, else null.

Members that every object has are listed with `object` alone. Classes that `builtins` does not name are listed in
`<hidden>` by their `__name__`.

    node names.mjs PYODIDE > names.json      (CPython 3.14: npm package pyodide@314.0.7)
"""

import importlib
import json
import sys
import threading
import types


async def _async_generator():
    yield


class Plain:
    def method(self):
        pass


def instances():
    """Classes whose instances have attributes that the class has not."""
    return {
        object: dir(Plain()),
        # Those of the function.
        types.MethodType: dir(Plain.method),
        types.ModuleType: [name for name in dir(importlib) if name.startswith("__")],
        threading.Condition: dir(threading.Condition()),
        # Not on every platform.
        threading.Thread: ["native_id"],
    }


INSTANCES = instances()


def members(cls):
    names = {name for base in cls.__mro__ if base is not object or cls is object for name in vars(base)}
    return sorted(names | set(INSTANCES.get(cls, ())))


def names(module):
    found = {}
    for name in {*vars(module), *getattr(module, "__all__", ())}:
        try:
            value = getattr(module, name)
        except ImportError:
            # Loaded on demand, and not on this platform.
            value = None
        found[name] = members(value) if isinstance(value, type) else None
    return found


def hidden():
    classes = [getattr(types, name) for name in types.__all__]
    classes += [type(view) for view in ({}.keys(), {}.values(), {}.items())]
    classes.append(type(_async_generator()))
    return {cls.__name__: members(cls) for cls in classes if isinstance(cls, type)} | {
        "iterator": members(type(iter([])))
    }


def all_names(modules):
    # `site` adds `exit` and `quit` to every ordinary run.
    found = {name: names(importlib.import_module(name)) for name in modules}
    found["builtins"] |= {"exit": None, "quit": None}
    found["threading"].setdefault("get_native_id", None)
    found["concurrent.futures"].setdefault("InterpreterPoolExecutor", None)
    found["<hidden>"] = hidden()
    return json.dumps(found, sort_keys=True, separators=(",", ":")).replace("},", "},\n")


if __name__ == "__main__":
    print(all_names(sys.argv[1:]))
