"""The oracle's own tests: python tests/oracle/test_verify.py"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import literate  # noqa: E402
import verify_cases  # noqa: E402

CALLS = '''\
from pkg import util
def f(cb):
    return cb()           # calls: g
def g():
    return 1
x = f(g)                  # calls: f  pts: x = int  @src
def deco(n):
    return lambda fn: fn  # calls: none
@deco(1)                  # calls: deco
@deco(
  2)
def h():                  # calls: deco.<lambda1>
    yield g()             # calls: g
pair = [(lambda: 1), (lambda: 1)]
pair[1]()                 # calls: <lambda2>
made = h()                # calls: h  -- made here, resumed below
y = list(made)            # calls: none
class A:
    def __init__(self): pass
    def gen(self):
        class Inner(A):
            def m(self): return (lambda: 3)()  # calls: A.gen.Inner.m.<lambda1>
        yield Inner().m() # calls: A.__init__, A.gen.Inner.m
    z = property(lambda s: g())  # calls: g
for q in A().gen(): pass  # calls: A.__init__, A.gen
A().z                     # calls: A.__init__, A.<lambda1>
util.go(lambda: 1)        # calls: pkg.util.go
# ^below calls: A.__init__
many = [A() for _ in range(2)]
sorted([3, 1], key=lambda q: -q)  # calls: <lambda4>
def dead():
    return 1
    return 2              # @dead
dead()                    # calls~: dead, g
def dead(): pass          # @second
dead()                    # calls: dead@second
'''
PACKAGE = '~~~py path=pkg/__init__.py\n~~~\n~~~py path=pkg/util.py\ndef go(f): return f()  # calls: <lambda3>\n~~~\n'
FACTS = '~~~facts\nddg @src -> @dead\ncfg unreachable @dead\nclass A mro = A, object\nimport main -> pkg.util\n~~~\n'
THREADS = '''\
import threading
from concurrent.futures import ThreadPoolExecutor
def g(): pass
t = threading.Thread(target=g)
t.start()                 # calls: g
t.join()                  # calls: none
with ThreadPoolExecutor(1) as e:
    e.submit(g)           # calls: g
'''


def errors(program, rest="", config=""):
    text = f"# T\n## Case\n~~~toml\n{config}\n~~~\n~~~py\n{program}~~~\n{rest}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.md")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        cases, malformed = literate.parse(path, "t.md")
    if malformed:
        return malformed
    checker = verify_cases.check(cases[0], False)
    return checker.errors if checker else ["not executed"]


class Right(unittest.TestCase):
    def test_calls(self):
        self.assertEqual(errors(CALLS, PACKAGE + FACTS), [])

    @unittest.skipIf(sys.platform == "emscripten", "has no threads")
    def test_threads(self):
        self.assertEqual(errors(THREADS), [])

    @unittest.skipIf(sys.platform == "emscripten", "has no blocking event loop")
    def test_coroutines(self):
        run = "import asyncio\nasync def a(): pass\nasync def b():\n    await a()  # calls: a\nasyncio.run(b())  # calls: b\n"
        self.assertEqual(errors(run), [])

    def test_expected_exception(self):
        self.assertEqual(errors("raise KeyError\n", config='raises = "KeyError"'), [])


class Wrong(unittest.TestCase):
    def check(self, message, line, rest="", config=""):
        found = errors("def f(): pass\ndef g(): pass\n" + line + "\n", rest, config)
        self.assertTrue(any(message in error for error in found), found)

    def test_facts(self):
        self.check("listed but not executed: g", "f()  # calls: f, g")
        self.check("executed but not listed: f", "f()  # calls~: g")
        self.check("executed but not listed: f", "f()  # calls: none")
        self.check("`h` is no function", "f()  # calls: f, h")
        self.check("`f@2` is no function", "f()  # calls: f@2")
        self.check("@here is executed", "f()  # @here", "~~~facts\ncfg unreachable @here\n~~~\n")
        self.check("mro of A is A, object", "class A: pass", "~~~facts\nclass A mro = object, A\n~~~\n")
        self.check("failed with KeyError", "raise KeyError")
        self.check("should end with KeyError", "f()", config='raises = "KeyError"')

    def test_form(self):
        self.check("unknown marker `call: f`", "f()  # call: f")
        self.check("unknown label `@x`", "f()", "~~~facts\nddg @x -> @x\n~~~\n")
        self.check("duplicate label `@x`", "f()  # @x\nf()  # @x")
        self.check("unknown kind `magic`", "f()  # unresolved: magic")
        self.check("unknown key `foo`", "f()", config="foo = 1")
        self.check("unknown edge kind `maybe`", "f()  # @x", "~~~facts\ncfg @x -maybe-> exit\n~~~\n")


if __name__ == "__main__":
    unittest.main()
