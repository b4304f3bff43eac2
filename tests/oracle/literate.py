"""Parser of the literate cases: the Python twin of the `testkit` crate's parser, see tests/cases/README.md.

Works on CPython 3.8 and newer with the standard library alone.
"""
import io
import re
import tokenize

VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14", "source"]
UNRESOLVED = set(
    "dynamic-attribute computed-import external generated-code native-extension entry-parameter protocol unknown-key"
    " unknown-base missing-attribute unbound-name not-callable arity-mismatch unmodelled budget unreadable-code".split()
)
CONFIG = {"python": list, "roots": str, "execute": bool, "bug": str, "bug_in": list, "may": bool, "raises": str}
EDGE_KINDS = {"normal", "true", "false", "exception", "explicit", "implicit", "resume"}
OUTCOMES = {"true", "false", "exception", "resume", "normal", "*"}
IGNORED_FENCES = {"", "text", "console"}

LABEL = r"@[A-Za-z_]\w*"
FACT_FORMS = [
    re.compile(rf"cfg ({LABEL}) -(\w+)-> ({LABEL}|exit)$"),
    re.compile(rf"cfg unreachable ({LABEL})$"),
    re.compile(rf"cdg ({LABEL}) (\S+) ({LABEL})$"),
    re.compile(rf"ddg ({LABEL}) (->|=>) ({LABEL})$"),
    re.compile(rf"ddg unresolved ({LABEL}) (\S+)$"),
    re.compile(r"class (\S+) (mro|subclasses) = (.+)$"),
    re.compile(r"import (\S+) -> (\S+)$"),
]
PATH_PART = r"""(?:\.[A-Za-z_]\w*|\[(?:\*|-?\d+|"[^"]*"|'[^']*')\])"""
PTS = re.compile(rf"([A-Za-z_]\w*{PATH_PART}*) = (.+)$")
COMMENT = re.compile(r"#+\s*(.*)$")
MARKER_START = re.compile(rf"(?:\^below\b|{LABEL}(?:\s|$)|[a-z]+~?:(?:\s|$))")


class Line:
    """The facts written at one source line."""

    def __init__(self):
        self.calls = None  # list of names, [] for "none"
        self.superset = False
        self.unresolved = None
        self.pts = []
        self.where = []  # lines of the Markdown file which hold the markers


class Module:
    def __init__(self, path, text, first_line):
        self.path, self.text, self.first_line = path, text, first_line
        self.name = module_name(path)
        self.lines = {}


class Case:
    def __init__(self, file, topic, name, line):
        self.file, self.topic, self.name, self.line = file, topic, name, line
        self.config = {"python": VERSIONS, "roots": "modules", "execute": True}
        self.modules, self.facts, self.labels = [], [], {}


def module_name(path):
    parts = path[: -len(".py")].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def parse(path, shown):
    """All cases of a file and the list of its errors as text."""
    cases, errors, topic = [], [], None
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    number, seen = 0, set()
    while number < len(lines):
        text, at = lines[number], number + 1
        number += 1
        if text.startswith("~~~"):
            end = number
            while end < len(lines) and lines[end] != "~~~":
                end += 1
            if end == len(lines):
                errors.append(f"{shown}:{at}: block without end")
                break
            body = lines[number:end]
            number = end + 1
            info = text[3:].strip()
            if info in IGNORED_FENCES:
                continue
            if not cases:
                errors.append(f"{shown}:{at}: block before the first case")
                continue
            _block(cases[-1], info, body, at, errors)
        elif text.startswith("```"):
            errors.append(f"{shown}:{at}: blocks are fenced by ~~~")
        elif text.startswith("## "):
            name = text[3:].strip()
            if name in seen:
                errors.append(f"{shown}:{at}: duplicate case name `{name}`")
            seen.add(name)
            cases.append(Case(shown, topic or "", name, at))
        elif text.startswith("# "):
            if topic is not None:
                errors.append(f"{shown}:{at}: second topic heading")
            topic = text[2:].strip()
    if topic is None:
        errors.append(f"{shown}:1: no topic heading (`# Topic`)")
    for case in cases:
        _finish(case, errors)
    return cases, errors


def _block(case, info, body, at, errors):
    where = f"{case.file}:{at}"
    if info == "toml":
        _config(case, body, at, errors)
    elif info == "facts":
        for offset, text in enumerate(body):
            if text.strip() and not text.lstrip().startswith("#"):
                case.facts.append((at + 1 + offset, text.strip()))
    elif info == "py" or info.startswith("py path="):
        path = info[len("py path="):].strip() if info != "py" else "main.py"
        if not re.match(r"(?:[\w.-]+/)*[\w.-]+\.py$", path) or ".." in path:
            errors.append(f"{where}: bad module path `{path}`")
            return
        if any(m.path == path for m in case.modules):
            errors.append(f"{where}: module `{path}` twice")
            return
        case.modules.append(Module(path, "".join(line + "\n" for line in body), at + 1))
    else:
        errors.append(f"{where}: unknown block `{info}`")


def _config(case, body, at, errors):
    for offset, text in enumerate(body):
        where = f"{case.file}:{at + 1 + offset}"
        text = re.sub(r"""\s+#[^"]*$""", "", text).strip()
        if not text or text.startswith("#"):
            continue
        key, eq, value = (part.strip() for part in text.partition("="))
        if key not in CONFIG:
            errors.append(f"{where}: unknown key `{key}`")
            continue
        if value in ("true", "false"):
            value = value == "true"
        elif re.match(r'"[^"]*"$', value):
            value = value[1:-1]
        elif value.startswith("[") and value.endswith("]"):
            value = re.findall(r'"([^"]*)"', value)
        if not isinstance(value, CONFIG[key]):
            errors.append(f"{where}: bad value of `{key}`")
        elif key == "python" and (not value or any(v not in VERSIONS for v in value)):
            errors.append(f"{where}: unknown version in `python`")
        elif key == "roots" and value not in ("modules", "exports"):
            errors.append(f"{where}: `roots` is modules or exports")
        else:
            case.config[key] = value


def _finish(case, errors):
    where = f"{case.file}:{case.line}"
    if not case.modules:
        errors.append(f"{where}: case without a module")
    elif case.config["execute"] and all(m.path != "main.py" for m in case.modules):
        errors.append(f"{where}: case without main.py cannot be executed")
    for module in case.modules:
        _markers(case, module, errors)
    for at, fact in case.facts:
        _check_fact(case, f"{case.file}:{at}", fact, errors)


def decorated_lines(text):
    """Maps every line of a decorated header, first decorator to `def` or `class`, to the last one: see "One line"."""
    result, open_group, fresh = {}, [], True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                continue
            if token.type == tokenize.NEWLINE:
                fresh = True
                continue
            if fresh:
                if token.string == "@":
                    open_group.append(token.start[0])
                elif open_group:
                    for line in range(open_group[0], token.start[0]):
                        result[line] = token.start[0]
                    open_group = []
            fresh = False
    except (tokenize.TokenError, SyntaxError):
        pass
    return result


def _comments(module):
    """The comments of a module: (line, text, alone on its line)."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            if token.type == tokenize.COMMENT:
                match = COMMENT.match(token.string)
                found.append((token.start[0], match.group(1).rstrip(), not token.line[: token.start[1]].strip()))
    except (tokenize.TokenError, SyntaxError):
        pass  # The compiler reports it.
    return found


def _markers(case, module, errors):
    merged = decorated_lines(module.text)
    for line, text, alone in _comments(module):
        where = f"{case.file}:{module.first_line + line - 1}"
        if not MARKER_START.match(text):
            continue
        target = line
        if text.startswith("^below"):
            if not alone:
                errors.append(f"{where}: `^below` stands in a comment of its own line")
                continue
            text = text[len("^below"):].strip()
            target = line + 1
            source = module.text.split("\n")
            while target <= len(source) and source[target - 1].lstrip().startswith("#"):
                target += 1
        elif alone:
            errors.append(f"{where}: a marker on a line of its own needs `^below`")
            continue
        target = merged.get(target, target)
        facts = module.lines.setdefault(target, Line())
        facts.where.append(module.first_line + line - 1)
        for segment in re.split(r"\s{2,}", text):
            if segment.startswith("--"):
                break
            _segment(case, module, facts, target, segment, where, errors)


def _segment(case, module, facts, target, segment, where, errors):
    labels = segment.split()
    if all(re.match(LABEL + "$", label) for label in labels):
        for label in labels:
            if label[1:] in case.labels:
                errors.append(f"{where}: duplicate label `{label}`")
            case.labels[label[1:]] = (module.path, target)
        return
    key, colon, value = segment.partition(":")
    value = value.strip()
    if not colon or key not in ("calls", "calls~", "unresolved", "pts"):
        errors.append(f"{where}: unknown marker `{segment}` (markers are separated by two spaces)")
    elif not value:
        errors.append(f"{where}: empty marker `{key}:`")
    elif key in ("calls", "calls~"):
        names = [] if value == "none" else [name.strip() for name in value.split(",")]
        for name in names:
            if not re.match(rf"[\w.<>]+({LABEL}|@\d+)?$", name):
                errors.append(f"{where}: bad function name `{name}`")
        facts.calls = (facts.calls or []) + names
        facts.superset |= key == "calls~"
    elif key == "unresolved":
        kinds = [] if value == "none" else [kind.strip() for kind in value.split(",")]
        for kind in kinds:
            if kind not in UNRESOLVED:
                errors.append(f"{where}: unknown kind `{kind}`")
        facts.unresolved = (facts.unresolved or []) + kinds
    else:
        match = PTS.match(value)
        if match:
            facts.pts.append((match.group(1), [o.strip() for o in match.group(2).split("|")]))
        else:
            errors.append(f"{where}: bad points-to marker `{segment}`, expected `pts: x.f = A | B`")


def _check_fact(case, where, fact, errors):
    if fact.startswith("not "):
        fact = fact[len("not "):].strip()
    match = next((m for m in (form.match(fact) for form in FACT_FORMS) if m), None)
    if not match:
        errors.append(f"{where}: unknown fact `{fact}`")
        return
    words = fact.split()
    if words[0] == "cfg" and words[1] != "unreachable" and match.group(2) not in EDGE_KINDS:
        errors.append(f"{where}: unknown edge kind `{match.group(2)}`")
    if words[0] == "cdg" and match.group(2) not in OUTCOMES:
        errors.append(f"{where}: unknown outcome `{match.group(2)}`")
    if words[:2] == ["ddg", "unresolved"] and match.group(2) not in UNRESOLVED:
        errors.append(f"{where}: unknown kind `{match.group(2)}`")
    if words[0] in ("cfg", "cdg", "ddg"):
        for group in match.groups():
            if group and re.match(LABEL + "$", group) and group[1:] not in case.labels:
                errors.append(f"{where}: unknown label `{group}`")
    names = {module.name for module in case.modules}
    if words[0] == "import" and match.group(1) not in names:
        errors.append(f"{where}: unknown module `{match.group(1)}`")
