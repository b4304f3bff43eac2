// Runs names.py under a CPython compiled to WebAssembly: node names.mjs PYODIDE > names.json
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: folder + "/" });
const modules = readdirSync(join(here, "../python"), { recursive: true })
  .filter((path) => path.endsWith(".py"))
  .map((path) => path.replace(/(\/__init__)?\.py$/, "").replaceAll("/", "."))
  .sort();
python.FS.writeFile("/names.py", readFileSync(join(here, "names.py")));
python.globals.set("modules", modules.join(" "));
console.log(
  python.runPython(`
import sys
sys.path.insert(0, "/")
import names
names.all_names(modules.split())
`),
);
