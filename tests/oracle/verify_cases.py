"""Executes literate cases and checks their facts against what Python does.

    python tests/oracle/verify_cases.py [file.md ...] [--case NAME] [--show]

Runs under any CPython of the matrix and checks the cases which name its version. `--show` prints the calls of every
line, marked or not: a help for writing cases. The exit status is 1 if a case is malformed or a fact is wrong.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import literate  # noqa: E402
import tracing  # noqa: E402

VERSION = "%d.%d" % sys.version_info[:2]
TIMEOUT = 60
# Threads, and event loops that block, do not exist there.
NOT_ON_WEBASSEMBLY = ("can't start new thread", "stack switching", "run_until_complete", "asyncio.run")


def execute(case):
    """The record of a run of the case in a fresh process (in this one where there are no processes)."""
    modules = [{"path": m.path, "name": m.name} for m in case.modules]
    with tempfile.TemporaryDirectory(prefix="case") as root:
        folder = os.path.join(root, "program")
        for module in case.modules:
            file = os.path.join(folder, *module.path.split("/"))
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(module.text)
        if sys.platform == "emscripten":
            return tracing.run_case(folder, modules)
        request = os.path.join(root, "request.json")
        with open(request, "w", encoding="utf-8") as stream:
            json.dump({"folder": folder, "modules": modules}, stream)
        output = os.path.join(root, "output.txt")
        run = forked if hasattr(os, "fork") else spawned
        if not run(request, output):
            return {"raised": "Timeout", "detail": f"no end within {TIMEOUT} seconds"}
        try:
            with open(request + ".out", encoding="utf-8") as stream:
                return json.load(stream)
        except (OSError, ValueError):
            with open(output, encoding="utf-8", errors="replace") as stream:
                return {"raised": "Crash", "detail": stream.read()}


def forked(request, output):
    """Runs a case in a copy of this process, much faster than a new one. False if it did not end in time."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        signal.alarm(TIMEOUT)
        with open(os.devnull) as nothing, open(output, "w") as stream:
            os.dup2(nothing.fileno(), 0)
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        try:
            tracing.child(request)
        finally:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(process, 0)
    return not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM)


def spawned(request, output):
    """Runs a case in a new process. False if it did not end in time."""
    command = [sys.executable, "-s", os.path.abspath(__file__), "--child", request]
    with open(output, "w") as stream:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return False
    return True


class Checker:
    def __init__(self, case, record):
        self.case, self.record = case, record
        self.errors, self.facts, self.exact = [], 0, True
        self.functions = [tuple(f) for f in record["functions"]]
        self.declared = set()
        for module in case.modules:
            try:
                self.declared.update(tracing.declared(module.name, module.path, module.text))
            except SyntaxError:
                pass  # The program imports it and handles the error, or the run has failed.

    def error(self, at, text):
        self.errors.append(f"{self.case.file}:{at}: [{VERSION}] {self.case.name}: {text}")

    def run(self):
        for module in self.case.modules:
            merged = literate.decorated_lines(module.text)
            executed = {}
            for path, line, ident in self.record["calls"]:
                if path == module.path:
                    executed.setdefault(merged.get(line, line), set()).add(self.functions[ident])
            lines = {line for path, line in self.record["lines"] if path == module.path}
            for line, facts in sorted(module.lines.items()):
                if facts.calls is not None:
                    self.check_calls(module, line, facts, executed.get(line, set()))
            for label, (path, line) in self.case.labels.items():
                if path == module.path:
                    self.check_unreachable(label, line in lines)
        for at, fact in self.case.facts:
            self.check_class(at, fact)

    def check_calls(self, module, line, facts, executed):
        at = module.first_line + line - 1
        source = module.text.split("\n")[line - 1].strip()
        self.facts += 1
        listed = []
        for name in facts.calls:
            matches = self.matching(name)
            if not matches:
                self.error(at, f"`{name}` is no function of the program\n    {source}")
            listed.append((name, matches))
        for function in sorted(executed):
            if all(function not in matches for _, matches in listed):
                self.error(at, f"executed but not listed: {function[0]} ({function[1]}:{function[2]})\n    {source}")
        missing = [name for name, matches in listed if not matches & executed]
        if missing and not facts.superset and not self.case.config.get("may"):
            self.error(at, f"listed but not executed: {', '.join(missing)}\n    {source}")
        elif missing:
            self.exact = False

    def matching(self, name):
        name, _, place = name.partition("@")
        path, line = self.case.labels.get(place, (None, int(place) if place.isdigit() else None))
        return {
            f for f in self.declared
            if f[0] == name and (line is None or f[2] == line) and (path is None or f[1] == path)
        }

    def check_unreachable(self, label, executed):
        for at, fact in self.case.facts:
            if fact == f"cfg unreachable @{label}":
                self.facts += 1
                if executed:
                    self.error(at, f"@{label} is executed")

    def check_class(self, at, fact):
        match = re.match(r"(not )?class (\S+) (mro|subclasses) = (.+)$", fact)
        if not match:
            return
        self.facts += 1
        known = self.record["classes"].get(match.group(2))
        wanted = [] if match.group(4) == "none" else [c.strip() for c in match.group(4).split(",")]
        if known is None:
            # A class whose creation fails, or one no name leads to, cannot be looked at.
            if not self.case.config.get("raises") and "." not in match.group(2):
                self.error(at, f"no class `{match.group(2)}` at the end of the run")
            return
        found = known[match.group(3)]
        same = found == wanted if match.group(3) == "mro" else sorted(found) == sorted(wanted)
        if same == bool(match.group(1)):
            self.error(at, f"{match.group(3)} of {match.group(2)} is {', '.join(found) or 'none'}")


def check(case, show):
    record = execute(case)
    wanted = case.config.get("raises")
    checker = Checker(case, dict({"functions": [], "calls": [], "lines": [], "classes": {}}, **record))
    if sys.platform == "emscripten" and any(text in record["detail"] for text in NOT_ON_WEBASSEMBLY):
        return None
    if record["raised"] != wanted:
        if wanted:
            checker.error(case.line, f"should end with {wanted}, ended with {record['raised']}\n{record['detail']}")
        else:
            checker.error(case.line, f"failed with {record['raised']}\n{record['detail']}")
    if "calls" in record and not checker.errors:
        checker.run()
    if show:
        for module in case.modules:
            print(f"== {case.name}: {module.path}")
            for number, text in enumerate(module.text.split("\n"), 1):
                calls = sorted({checker.functions[i][0] for p, l, i in record.get("calls", []) if (p, l) == (module.path, number)})
                print(f"{number:4} {text}" + (f"    <- {', '.join(calls)}" if calls else ""))
    return checker


def main():
    if sys.argv[1:2] == ["--child"]:
        sys.path.remove(HERE)
        tracing.child(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--case")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    folder = os.path.join(os.path.dirname(HERE), "cases")
    files = arguments.files or sorted(
        os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(".md") and name != "README.md"
    )
    errors, counts = [], dict.fromkeys(("cases", "executed", "exact", "not executed", "facts"), 0)
    names = {}
    for file in files:
        cases, malformed = literate.parse(file, os.path.relpath(file))
        errors += malformed
        for case in cases:
            if names.setdefault((case.topic, case.name), case) is not case:
                errors.append(f"{case.file}:{case.line}: duplicate case `{case.topic} / {case.name}`")
            if arguments.case and arguments.case != case.name:
                continue
            counts["cases"] += 1
            if malformed or not case.config["execute"] or VERSION not in case.config["python"]:
                counts["not executed"] += 1
                continue
            checker = check(case, arguments.show)
            if checker is None:
                counts["not executed"] += 1
                continue
            errors += checker.errors
            counts["executed"] += 1
            counts["exact"] += checker.exact and not checker.errors
            counts["facts"] += checker.facts
    for error in errors:
        print(error)
    summary = ", ".join(f"{value} {key}" for key, value in counts.items())
    print(f"Python {VERSION}: {summary}, {len(errors)} errors")
    sys.exit(int(bool(errors)))


if __name__ == "__main__":
    main()
