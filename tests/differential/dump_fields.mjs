// Runs dump_fields.py under a CPython compiled to WebAssembly.
//
//     node dump_fields.mjs PYODIDE OUT TREE...
//
// PYODIDE is the folder of an installed npm package `pyodide` (3.14: pyodide@314.0.7, 3.15: pyodide@315.0.0-alpha.2).
// The tree `@stdlib` is the interpreter's own library.
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [pyodideFolder, out, ...trees] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(resolve(pyodideFolder), "pyodide.mjs")));
const python = await loadPyodide({ indexURL: resolve(pyodideFolder) + "/" });
const mount = (host, name) => {
  python.FS.mkdirTree(name);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: resolve(host) }, name);
  return name;
};
mkdirSync(out, { recursive: true });
const inside = ["/host-out"];
mount(out, "/host-out");
for (const [number, tree] of trees.entries()) {
  if (tree === "@stdlib") {
    python.runPython(`
import glob, os, sys, zipfile
for zipped in [p for p in sys.path if p.endswith(".zip") and os.path.exists(p)]:
    zipfile.ZipFile(zipped).extractall("/stdlib")
`);
    inside.push("/stdlib");
  } else {
    inside.push(mount(tree, `/host-${number}/${resolve(tree).split("/").pop()}`));
  }
}
const script = join(dirname(fileURLToPath(import.meta.url)), "dump_fields.py");
python.FS.writeFile("/dump_fields.py", readFileSync(script));
python.globals.set("arguments", python.toPy(["/dump_fields.py", ...inside]));
python.runPython(`
import runpy, sys
sys.argv = arguments
runpy.run_path("/dump_fields.py", run_name="__main__")
`);
