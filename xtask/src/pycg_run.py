"""Runs main.py of a folder and prints its executed call edges as {caller: [callees]}, named as the PyCG benchmark does.

Python functions are named when their frame starts, whoever calls them: the caller is the next Python frame below.
Comprehension frames (before 3.12) count as the function around them. Builtins come from the call events.
"""

import builtins
import json
import os
import sys

FOLDER = os.path.abspath(sys.argv[1])
BUILTIN_CLASSES = {
    bool: "PyBool", bytes: "PyBytes", dict: "PyDict", float: "PyFloat", int: "PyNum", list: "PyList", set: "PySet",
    str: "PyStr", tuple: "PyTuple",
}
names = {}
edges = {}


def name_codes(code, name):
    """Names a code object and those it makes; lambdas are numbered per scope in source order."""
    names[code] = name
    edges.setdefault(name, set())
    lambdas = 0
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            inner = constant.co_name
            if inner == "<lambda>":
                lambdas += 1
                inner = f"<lambda{lambdas}>"
            name_codes(constant, name if inner.startswith("<") and "lambda" not in inner else f"{name}.{inner}")


def name_of(code):
    if code not in names and code.co_filename.startswith(FOLDER) and code.co_name == "<module>":
        path = os.path.relpath(code.co_filename, FOLDER).removesuffix(".py").replace(os.sep, ".")
        name_codes(code, path.removesuffix(".__init__"))
    return names.get(code)


def started(code, _offset):
    name = name_of(code)
    frame = sys._getframe(1).f_back
    is_class = not code.co_flags & 0x2 and code.co_name != "<module>"
    while frame is not None and name_of(frame.f_code) is None:
        frame = frame.f_back
    if name is not None and frame is not None and code.co_name != "<module>" and not is_class:
        caller = names[frame.f_code]
        if caller != name or code.co_name[0] != "<":
            edges[caller].add(name)


def called(code, _offset, function, _argument):
    caller = name_of(code)
    if caller is None:
        return
    name = getattr(function, "__name__", "")
    holder = getattr(function, "__self__", None)
    if name != "__build_class__" and getattr(builtins, name, None) is function:
        edges[caller].add(f"<builtin>.{name}")
    elif type(function).__name__ in ("builtin_function_or_method", "method_descriptor"):
        owner = getattr(function, "__objclass__", type(holder))
        if owner in BUILTIN_CLASSES:
            edges[caller].add(f"<**{BUILTIN_CLASSES[owner]}**>.{name}")


def main():
    path = os.path.join(FOLDER, "main.py")
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    sys.path.insert(0, FOLDER)
    sys.dont_write_bytecode = True
    name_of(code)
    monitoring = sys.monitoring
    monitoring.use_tool_id(2, "edges")
    monitoring.register_callback(2, monitoring.events.PY_START, started)
    monitoring.register_callback(2, monitoring.events.CALL, called)
    output, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
    monitoring.set_events(2, monitoring.events.PY_START | monitoring.events.CALL)
    try:
        exec(code, {"__name__": "__main__", "__file__": path, "__builtins__": builtins})
    except Exception:
        pass
    monitoring.set_events(2, 0)
    json.dump({caller: sorted(callees) for caller, callees in edges.items()}, output)


main()
