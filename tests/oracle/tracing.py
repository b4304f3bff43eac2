"""Runs one case and records which functions of the program each line called.

A generator or coroutine function counts where it is called: its frame only starts when it is first resumed, so every such
function is wrapped (innermost, by a change of the syntax tree that keeps all positions) by a function which records the
creation. Lambdas get a code name of their own in the same way, because two of them may share a line. A call made by library
code belongs to the nearest line of the program below it on the stack; threads and executor jobs continue the line which
started or submitted them.
"""
import ast
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
import traceback
import types

GENERATOR_FLAGS = 0x20 | 0x80 | 0x200  # CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR, Include/cpython/code.h
HOOK = "__hognose_%s__"  # Ends in underscores: such names are not mangled in classes.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Scope:
    def __init__(self, prefix):
        self.prefix, self.lambdas, self.inner, self.globals = prefix, [], [], set()

    def join(self, name):
        return f"{self.prefix}.{name}" if self.prefix else name


class Instrument(ast.NodeTransformer):
    """Names every function of a module and wraps generator functions and lambdas."""

    def __init__(self, module, path, recorder):
        self.path, self.recorder = path, recorder
        self.top = Scope("" if module == "main" else module)
        self.scope = self.top

    def run(self, tree):
        tree = self.visit(tree)
        self._number(self.top)
        return ast.fix_missing_locations(tree)

    def _number(self, scope):
        # Numbers come last, when all lambdas of the scope are known: decorators and defaults are visited out of order.
        for number, (node, inner, call) in enumerate(sorted(scope.lambdas, key=lambda item: item[0]), 1):
            inner.prefix = scope.join(f"<lambda{number}>")
            call.args[0] = ast.copy_location(ast.Constant(self.recorder.declare(inner.prefix, self.path, node[0])), call)
            self._number(inner)
        for inner in scope.inner:
            self._number(inner)

    def _enter(self, node, scope, fields):
        outer, self.scope = self.scope, scope
        for field in fields:
            value = getattr(node, field)
            if isinstance(value, list):
                setattr(node, field, [self.visit(item) for item in value])
            else:
                setattr(node, field, self.visit(value))
        self.scope = outer

    def _inner(self, node):
        top = node.name in self.scope.globals
        scope = Scope((self.top if top else self.scope).join(node.name))
        self.scope.inner.append(scope)
        scope.globals = {n for s in ast.walk(node) if isinstance(s, ast.Global) for n in s.names}
        return scope

    def visit_ClassDef(self, node):
        scope = self._inner(node)
        fields = [f for f in node._fields if f not in ("name", "body")]
        self._enter(node, self.scope, fields)
        self._enter(node, scope, ["body"])
        return node

    def visit_FunctionDef(self, node):
        scope = self._inner(node)
        fields = [f for f in ("decorator_list", "args", "returns", "type_params") if getattr(node, f, None)]
        self._enter(node, self.scope, fields)
        generator = isinstance(node, ast.AsyncFunctionDef) or yields(node.body)
        self._enter(node, scope, ["body"])
        first = min([d.lineno for d in node.decorator_list] + [node.lineno])
        ident = self.recorder.declare(scope.prefix, self.path, node.lineno, (first, node.name))
        if generator:
            at = node.lineno, node.col_offset
            hook = ast.Call(name(HOOK % "generator", at), [located(ast.Constant(ident), at)], [])
            node.decorator_list.append(located(hook, at))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        scope = Scope("")
        self._enter(node, self.scope, ["args"])
        kind = "generator_lambda" if yields([node.body]) else "lambda"
        self._enter(node, scope, ["body"])
        at = node.lineno, node.col_offset
        call = located(ast.Call(name(HOOK % kind, at), [located(ast.Constant(0), at), node], []), at)
        self.scope.lambdas.append((at, scope, call))
        return call


class Names:
    """The functions a module declares, without running it."""

    def __init__(self):
        self.names = []

    def declare(self, qualname, path, line, _code=None):
        self.names.append((qualname, path, line))
        return 0


def declared(module_name, path, text):
    """All functions of a module: (qualified name, path, line of `def` or `lambda`)."""
    names = Names()
    Instrument(module_name, path, names).run(ast.parse(text))
    return names.names


def name(text, at):
    return located(ast.Name(text, ast.Load()), at)


def located(node, at):
    node.lineno, node.col_offset = at
    node.end_lineno, node.end_col_offset = at
    return node


def yields(body):
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, FUNCTIONS + (ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
    return False


class Recorder:
    def __init__(self, modules):
        self.files = {os.path.abspath(m["file"]): m for m in modules}
        self.names, self.by_code = [], {}
        self.calls, self.lines = set(), set()
        self.origin = threading.local()

    def declare(self, qualname, path, line, code=None):
        self.names.append((qualname, path, line))
        if code is not None:
            self.by_code[(path, *code)] = len(self.names) - 1
        return len(self.names) - 1

    def compile(self, text, file):
        module = self.files[file]
        self.by_code = {key: value for key, value in self.by_code.items() if key[0] != module["path"]}
        tree = Instrument(module["name"], module["path"], self).run(ast.parse(text, file))
        return compile(tree, file, "exec", dont_inherit=True)

    def place(self, frame):
        while frame is not None:
            module = self.files.get(frame.f_code.co_filename)
            if module is not None:
                return module["path"], frame.f_lineno
            frame = frame.f_back
        return getattr(self.origin, "place", None)

    def record(self, ident, frame):
        self.calls.add((self.place(frame), ident))

    def trace(self, frame, event, _argument):
        code = frame.f_code
        module = self.files.get(code.co_filename)
        if module is None:
            return None
        if event == "call" and not code.co_flags & GENERATOR_FLAGS:
            if code.co_name.startswith("<lambda:"):
                ident = int(code.co_name[len("<lambda:"):-1])
            else:
                ident = self.by_code.get((module["path"], code.co_firstlineno, code.co_name))
            if ident is not None:
                self.record(ident, frame.f_back)
        return self.trace_line

    def trace_line(self, frame, event, _argument):
        if event == "line":
            self.lines.add((self.files[frame.f_code.co_filename]["path"], frame.f_lineno))
        return self.trace_line

    def hook_lambda(self, ident, function):
        function.__code__ = function.__code__.replace(co_name=f"<lambda:{ident}>")
        return function

    def hook_generator(self, ident):
        return lambda function: self.wrap(ident, function)

    def wrap(self, ident, function):
        record = self.record

        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            record(ident, sys._getframe(1))
            return result

        for attribute in ("__module__", "__name__", "__qualname__", "__doc__", "__dict__"):
            setattr(wrapper, attribute, getattr(function, attribute))
        wrapper.__wrapped__ = function
        if function.__code__.co_flags & 0x80:
            import asyncio.coroutines

            wrapper._is_coroutine = getattr(asyncio.coroutines, "_is_coroutine", None)
        return wrapper


class Loader(importlib.machinery.SourceFileLoader):
    recorder = None

    def source_to_code(self, data, path, **_options):
        return self.recorder.compile(importlib.util.decode_source(data), path)

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def continue_origins(recorder):
    """Lets the calls of a thread or job belong to the line which started it."""
    start = threading.Thread.start

    def traced_start(thread):
        thread._hognose_place = recorder.place(sys._getframe(1))
        run = thread.run

        def run_at_place():
            recorder.origin.place = thread._hognose_place
            sys.settrace(recorder.trace)
            run()

        thread.run = run_at_place
        start(thread)

    threading.Thread.start = traced_start
    try:
        from concurrent.futures import thread as pool
    except ImportError:
        return
    item = pool._WorkItem
    init, work = item.__init__, item.run

    def traced_init(self, *args, **kwargs):
        self.hognose_place = recorder.place(sys._getframe(1))
        init(self, *args, **kwargs)

    def traced_work(self, *args, **kwargs):
        recorder.origin.place = self.hognose_place
        work(self, *args, **kwargs)

    item.__init__, item.run = traced_init, traced_work


def class_facts(modules, names):
    """Method resolution orders and direct subclasses of the classes of the program that names reach from their modules."""
    classes, stack = {}, []
    for module in modules:
        loaded = sys.modules.get("__main__" if module["name"] == "main" else module["name"])
        if loaded is not None:
            stack.extend(vars(loaded).values())
    seen = set()
    while stack:
        value = stack.pop()
        if isinstance(value, type) and id(value) not in seen and value.__module__ in names:
            seen.add(id(value))
            classes[class_name(value, names)] = value
            stack.extend(vars(value).values())
            stack.extend(type.__subclasses__(value))
    return {
        key: {
            "mro": [class_name(c, names) for c in value.__mro__],
            "subclasses": sorted(class_name(c, names) for c in type.__subclasses__(value)),
        }
        for key, value in classes.items()
    }


def class_name(cls, names):
    qualname = cls.__qualname__.replace("<locals>.", "")
    if cls.__module__ in ("__main__", "builtins"):
        return qualname
    return f"{cls.__module__}.{qualname}"


def run_case(folder, modules):
    """Executes main.py of a case; returns the record as data that JSON can hold."""
    folder = os.path.abspath(folder)
    recorder = Recorder([dict(m, file=os.path.join(folder, *m["path"].split("/"))) for m in modules])
    Loader.recorder = recorder
    hook = importlib.machinery.FileFinder.path_hook((Loader, [".py"]))

    def only_here(path):
        if not os.path.abspath(path).startswith(folder):
            raise ImportError
        return hook(path)

    before = os.getcwd(), list(sys.path_hooks), list(sys.path), sys.modules["__main__"]
    sys.path_hooks.insert(0, only_here)
    sys.path.insert(0, folder)
    sys.path_importer_cache.clear()
    import builtins

    builtins.__dict__[HOOK % "lambda"] = recorder.hook_lambda
    builtins.__dict__[HOOK % "generator"] = recorder.hook_generator
    builtins.__dict__[HOOK % "generator_lambda"] = recorder.wrap
    if sys.platform != "emscripten":
        continue_origins(recorder)
    main_file = os.path.join(folder, "main.py")
    main = types.ModuleType("__main__")
    main.__file__ = main_file
    sys.modules["__main__"] = main
    os.chdir(folder)
    raised, detail = None, ""
    try:
        with open(main_file, "rb") as stream:
            code = recorder.compile(importlib.util.decode_source(stream.read()), main_file)
        threading.settrace(recorder.trace)
        sys.settrace(recorder.trace)
        try:
            exec(code, main.__dict__)
        finally:
            sys.settrace(None)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
    except SystemExit:
        pass
    except BaseException as error:
        raised, detail = type(error).__name__, traceback.format_exc()
    finally:
        threading.settrace(None)
    names = {m["name"] for m in modules} - {"main"} | {"__main__"}
    result = {
        "functions": recorder.names,
        "calls": sorted([*place, ident] for place, ident in recorder.calls if place is not None),
        "lines": sorted(recorder.lines),
        "classes": class_facts(modules, names),
        "raised": raised,
        "detail": detail,
    }
    # Where there are no processes, the next case runs in this one.
    os.chdir(before[0])
    sys.path_hooks[:], sys.path[:] = before[1:3]
    sys.path_importer_cache.clear()
    for name in list(sys.modules):
        if name.split(".")[0] in {m["name"].split(".")[0] for m in modules}:
            del sys.modules[name]
    sys.modules["__main__"] = before[3]
    return result


def child(request):
    """The child process: reads the request, writes the record next to it."""
    with open(request, encoding="utf-8") as stream:
        data = json.load(stream)
    result = run_case(data["folder"], data["modules"])
    with open(request + ".out", "w", encoding="utf-8") as stream:
        json.dump(result, stream)
    sys.stdout.flush()
    os._exit(0)  # Daemon threads and exit handlers of the program do not matter any more.
