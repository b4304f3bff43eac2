// Runs a Python script under CPython 3.14 compiled to WebAssembly: node pyodide.mjs script.py [argument ...]
// The host's file system is mounted; absolute paths among the arguments are translated.
import path from "node:path";
import process from "node:process";
import { loadPyodide } from "pyodide";

const HOST = "/host";
const inside = (argument) => (path.isAbsolute(argument) ? HOST + argument : argument);
const [script, ...rest] = process.argv.slice(2);
const pyodide = await loadPyodide({ args: ["-B"], stdout: console.log, stderr: console.error });
pyodide.FS.mkdirTree(HOST);
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: "/" }, HOST);
pyodide.FS.chdir(inside(process.cwd()));
const file = inside(path.resolve(script));
pyodide.globals.set("_arguments", pyodide.toPy([file, ...rest.map(inside)]));
const status = pyodide.runPython(`
import runpy, sys, traceback
sys.argv = list(_arguments)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
    status = 0
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
except BaseException:
    traceback.print_exc()
    status = 70
status
`);
process.exit(Number(status));
