//! Each rule of discovery, loading and following, on small trees.

#![allow(clippy::unwrap_used)]

use hognose_base::{Diagnostic, DiagnosticKind, Severity};
use hognose_compile::{Embedded, Threads};
use hognose_project::{
    DiscoverOptions, FileFormat, ImportRef, Project, ProjectFile, discover, follow, is_identifier, load, resolve,
};
use hognose_pyc::{CompiledModule, Object};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with these files; a name with a trailing `/` is an empty folder.
fn tree(files: &[&str]) -> TempDir {
    let files: Vec<_> = files.iter().map(|&file| (file, "")).collect();
    tree_of(&files)
}

fn tree_of(files: &[(&str, &str)]) -> TempDir {
    let top = tempfile::tempdir().unwrap();
    for (file, text) in files {
        write(top.path(), file, text.as_bytes());
    }
    top
}

fn write(top: &Path, file: &str, bytes: &[u8]) {
    let path = top.join(file);
    if file.ends_with('/') {
        std::fs::create_dir_all(path).unwrap();
    } else {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn find(paths: &[PathBuf]) -> Project {
    discover(paths, DiscoverOptions::default())
}

fn found(top: &TempDir) -> Project {
    find(&[top.path().to_owned()])
}

/// `module path` of each file.
fn list(project: &Project) -> Vec<String> {
    project
        .files
        .iter()
        .map(|file| format!("{} {}", file.module, file.path))
        .collect()
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn modules_packages_and_namespace_packages() {
    let top = tree(&[
        "b.py",
        "a/__init__.py",
        "a/z.py",
        "a/sub/__init__.py",
        "space/x.py",
        "space/in/y.py",
        "data/x.txt",
    ]);
    let project = found(&top);
    let expected = [
        "a a/__init__.py",
        "a.sub a/sub/__init__.py",
        "a.z a/z.py",
        "b b.py",
        "space.in.y space/in/y.py",
        "space.x space/x.py",
    ];
    assert_eq!(list(&project), expected);
    assert_eq!(project.files.iter().filter(|file| file.is_package).count(), 2);
    assert_eq!(
        messages(&project.diagnostics),
        ["space/in: note[project]: \"in\" is no name that can be imported; analysed as `in`"]
    );
    assert_eq!(
        project.module("a.z").map(|id| project.files[id].package().to_owned()),
        Some("a".to_owned())
    );
    assert_eq!(
        project.module("a.sub").map(|id| project.files[id].package().to_owned()),
        Some("a.sub".to_owned())
    );
    assert!(project.is_package_name("space") && project.is_package_name("a") && !project.is_package_name("b"));
}

#[test]
fn a_given_package_names_itself_and_its_parents() {
    let top = tree(&[
        "lib/shop/__init__.py",
        "lib/shop/tax/__init__.py",
        "lib/shop/tax/vat.py",
    ]);
    let project = find(&[top.path().join("lib/shop")]);
    assert_eq!(
        list(&project),
        [
            "shop __init__.py",
            "shop.tax tax/__init__.py",
            "shop.tax.vat tax/vat.py"
        ]
    );
    assert!(project.roots[0].ends_with("lib"), "{:?}", project.roots);
    assert_eq!(
        list(&find(&[top.path().join("lib/shop/tax")])),
        ["shop.tax __init__.py", "shop.tax.vat vat.py"]
    );
    assert_eq!(list(&find(&[top.path().join("lib/shop/../shop/tax/.")])).len(), 2);
}

#[test]
fn src_layouts() {
    let modules = |files: &[&str]| {
        let top = tree(files);
        found(&top)
            .modules()
            .map(|(name, _)| name.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(modules(&["src/shop/__init__.py", "tests/t.py"]), ["shop", "tests.t"]);
    assert_eq!(modules(&["src/shop.py", "pyproject.toml"]), ["shop"]);
    assert_eq!(modules(&["src/shop.py", "main.py"]), ["main", "src.shop"]);
    assert_eq!(
        modules(&["src/__init__.py", "src/shop.py", "setup.py"]),
        ["setup", "src", "src.shop"]
    );
}

#[test]
fn several_roots_in_order() {
    let top = tree(&["one/a.py", "two/a.py", "two/b.py"]);
    let project = find(&[top.path().join("two"), top.path().join("one")]);
    assert_eq!(list(&project), ["a a.py", "b b.py"]);
    assert_eq!(project.files.iter().map(|file| file.source).collect::<Vec<_>>(), [0, 0]);
    assert_eq!(project.diagnostics[0].severity, Severity::Warning);
    assert_eq!(project.diagnostics[0].kind, DiagnosticKind::Project);
    // The same file given twice is one file.
    let project = find(&[top.path().join("two"), top.path().join("two/b.py")]);
    assert_eq!(
        (list(&project), project.diagnostics.len()),
        (vec!["a a.py".to_owned(), "b b.py".to_owned()], 0)
    );
}

#[test]
fn a_package_counts_before_the_module_of_its_name() {
    let top = tree(&["shop.py", "shop/__init__.py", "shop/x.py", "other/shop.py"]);
    let project = found(&top);
    assert_eq!(
        list(&project),
        ["other.shop other/shop.py", "shop shop/__init__.py", "shop.x shop/x.py"]
    );
    assert_eq!(project.diagnostics[0].path, "shop.py");
}

#[test]
fn names_that_cannot_be_imported_are_stated() {
    let top = tree(&[
        "my-script.py",
        "v1.2.py",
        "tools-dir/x.py",
        "tools-dir/y.py",
        "__main__.py",
    ]);
    let project = found(&top);
    assert_eq!(
        list(&project),
        [
            "__main__ __main__.py",
            "my-script my-script.py",
            "tools-dir.x tools-dir/x.py",
            "tools-dir.y tools-dir/y.py",
            "v1_2 v1.2.py"
        ]
    );
    let paths: Vec<_> = project
        .diagnostics
        .iter()
        .map(|diagnostic| (&*diagnostic.path, diagnostic.severity))
        .collect();
    let note = Severity::Note;
    assert_eq!(paths, [("my-script.py", note), ("tools-dir", note), ("v1.2.py", note)]);
    assert!(
        project
            .files
            .iter()
            .all(|file| file.is_script == (file.module == "__main__"))
    );
}

#[test]
fn what_is_passed_over() {
    let files = [
        "a.py",
        ".git/x.py",
        ".hidden.py",
        "node_modules/x/y.py",
        "env/pyvenv.cfg",
        "env/lib/z.py",
    ];
    let top = tree(&files);
    assert_eq!(list(&found(&top)), ["a a.py"]);
    let options = DiscoverOptions {
        include_hidden: true,
        include_environments: true,
    };
    assert_eq!(discover(&[top.path().to_owned()], options).files.len(), 5);
    // What is given is analysed, whatever it is.
    assert_eq!(list(&find(&[top.path().join("env")])), ["lib.z lib/z.py"]);
}

#[test]
fn source_less_code() {
    let top = tree(&[
        "legacy.pyc",
        "both.py",
        "both.pyc",
        "__pycache__/gone.cpython-310.pyc",
        "__pycache__/gone.cpython-312.pyc",
        "__pycache__/gone.cpython-313.opt-1.pyc",
        "__pycache__/both.cpython-312.pyc",
        "p/__pycache__/__init__.cpython-312.pyc",
    ]);
    let project = found(&top);
    let compiled = |file: &ProjectFile| file.format == FileFormat::Compiled;
    let names: Vec<_> = project
        .files
        .iter()
        .map(|file| (&*file.module, &*file.path, compiled(file)))
        .collect();
    assert_eq!(
        names,
        [
            ("both", "both.py", false),
            ("gone", "__pycache__/gone.cpython-312.pyc", true),
            ("legacy", "legacy.pyc", true),
            ("p", "p/__pycache__/__init__.cpython-312.pyc", true),
        ]
    );
    assert_eq!(
        project.files[project.module("both").unwrap()].beside,
        ["__pycache__/both.cpython-312.pyc", "both.pyc"]
    );
    assert!(project.files[project.module("p").unwrap()].is_package);
}

#[test]
fn single_files() {
    let top = tree(&[
        "a.py",
        "p/__init__.py",
        "p/m.py",
        "p/__pycache__/m.cpython-312.pyc",
        "my-run",
        "x.pyc",
        "d.toml",
    ]);
    let one = |file: &str| {
        let project = find(&[top.path().join(file)]);
        (list(&project), messages(&project.diagnostics).len())
    };
    assert_eq!(one("a.py"), (vec!["a a.py".to_owned()], 0));
    assert_eq!(one("p/m.py"), (vec!["p.m p/m.py".to_owned()], 0));
    assert_eq!(one("p/__init__.py"), (vec!["p p/__init__.py".to_owned()], 0));
    assert_eq!(
        one("p/__pycache__/m.cpython-312.pyc"),
        (vec!["p.m p/__pycache__/m.cpython-312.pyc".to_owned()], 0)
    );
    assert_eq!(one("my-run"), (vec!["my-run my-run".to_owned()], 1));
    assert_eq!(one("x.pyc"), (vec!["x x.pyc".to_owned()], 0));
    assert_eq!(one("d.toml"), (vec![], 1));
    assert_eq!(one("absent.py"), (vec![], 1));
}

#[test]
fn a_folder_may_look_like_a_file() {
    let top = tree(&["x.py/inner.py", "y.pyc/"]);
    assert_eq!(list(&found(&top)), ["x_py.inner x.py/inner.py"]);
}

#[cfg(unix)]
#[test]
fn links() {
    use std::os::unix::fs::symlink;
    let top = tree(&["a/m.py", "z/n.py"]);
    symlink("..", top.path().join("a/up")).unwrap();
    symlink("../z", top.path().join("a/other")).unwrap();
    symlink("nowhere", top.path().join("a/dangling.py")).unwrap();
    symlink("nowhere", top.path().join("a/notes")).unwrap();
    symlink("m.py", top.path().join("a/same.py")).unwrap();
    let project = found(&top);
    assert_eq!(list(&project), ["a.m a/m.py", "a.same a/same.py", "z.n z/n.py"]);
    assert_eq!(
        messages(&project.diagnostics),
        [
            "a/dangling.py: error[io]: does not exist",
            "a/other: note[io]: is the same folder as z, and analysed there",
            "a/up: warning[io]: directory loop: links back to .",
        ]
    );
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_and_things_that_are_not_files() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let top = tree(&["a.py"]);
    std::fs::write(top.path().join(OsStr::from_bytes(b"b\xff.py")), "").unwrap();
    std::fs::write(top.path().join(OsStr::from_bytes(b"b\xff.txt")), "").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(top.path().join("s.py")).unwrap();
    let project = found(&top);
    assert_eq!(list(&project), ["a a.py"]);
    let expected = [
        "b\u{fffd}.py: error[io]: the name is not UTF-8",
        "s.py: error[io]: is not a regular file",
    ];
    assert_eq!(messages(&project.diagnostics), expected);
    let given = find(&[top.path().join("s.py")]);
    assert_eq!((given.files.len(), given.diagnostics.len()), (0, 1));
}

#[test]
fn loading_gives_a_module_or_a_diagnostic_for_each_file() {
    let top = tree(&["empty.py", "empty_compiled.pyc"]);
    write(top.path(), "bad.py", b"x = = 1\n");
    write(top.path(), "latin.py", b"x = '\xe9'\n");
    write(top.path(), "magic.pyc", &[0xFF; 40]);
    write(top.path(), "good.py", b"x = 1\n");
    let project = found(&top);
    let loaded = load(&project, &Embedded::default(), Threads::new(3));
    let outcome: Vec<_> = loaded
        .iter()
        .map(|loaded| {
            (
                &*project.files[loaded.file].path,
                loaded.module.is_some(),
                loaded.diagnostics.first().map(|d| d.kind),
            )
        })
        .collect();
    assert_eq!(
        outcome,
        [
            ("bad.py", false, Some(DiagnosticKind::Syntax)),
            ("empty.py", true, None),
            ("empty_compiled.pyc", false, Some(DiagnosticKind::Malformed)),
            ("good.py", true, None),
            ("latin.py", false, Some(DiagnosticKind::Encoding)),
            (
                "magic.pyc",
                false,
                loaded[5].diagnostics.first().map(|diagnostic| diagnostic.kind)
            ),
        ]
    );
    assert!(loaded[5].diagnostics[0].path == "magic.pyc");
}

#[test]
fn a_compiled_file_beside_a_source_is_not_trusted_silently() {
    // Magic of 3.12, flags, then time and size or a hash (PEP 552).
    let header = |flags: u32, rest: [u8; 8]| [&[0xCB, 0x0D, 0x0D, 0x0A][..], &flags.to_le_bytes(), &rest].concat();
    let stale = |file: &str, bytes: &[u8]| {
        let top = tree_of(&[("m.py", "x = 1\n")]);
        write(top.path(), file, bytes);
        let project = found(&top);
        let loaded = load(&project, &Embedded::default(), Threads::ONE);
        assert!(loaded[0].module.is_some());
        loaded[0]
            .diagnostics
            .iter()
            .map(|diagnostic| (diagnostic.kind, diagnostic.severity))
            .collect::<Vec<_>>()
    };
    let note = vec![(DiagnosticKind::Stale, Severity::Note)];
    assert_eq!(stale("m.pyc", &header(0, [1; 8])), note);
    assert_eq!(stale("__pycache__/m.cpython-312.pyc", &header(0, [1; 8])), note);
    assert_eq!(stale("__pycache__/m.cpython-312.pyc", &header(1, [1; 8])), note);
    assert_eq!(stale("__pycache__/m.cpython-312.pyc", &header(3, [1; 8])), []);
    assert_eq!(stale("__pycache__/n.cpython-312.txt", &header(0, [1; 8])), []);

    let top = tree_of(&[("m.py", "x = 1\n")]);
    let metadata = std::fs::metadata(top.path().join("m.py")).unwrap();
    let time = metadata
        .modified()
        .unwrap()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let rest = [(time as u32).to_le_bytes(), 6u32.to_le_bytes()].concat();
    write(
        top.path(),
        "__pycache__/m.cpython-312.pyc",
        &header(0, rest.try_into().unwrap()),
    );
    assert_eq!(
        load(&found(&top), &Embedded::default(), Threads::ONE)[0].diagnostics,
        []
    );
}

/// Imports as a test can read them: every tuple of strings and every name stands for an import of it.
fn imports_by_comment(module: &CompiledModule) -> Vec<ImportRef> {
    let objects = &module.objects;
    let texts = objects.objects().iter().filter_map(|object| match object {
        Object::Str(bytes) => std::str::from_utf8(objects.bytes(*bytes)).ok(),
        _ => None,
    });
    texts
        .filter_map(|text| text.strip_prefix("import "))
        .map(parse_import)
        .collect()
}

/// `..module:name,name`
fn parse_import(text: &str) -> ImportRef {
    let (module, names) = text.split_once(':').unwrap_or((text, ""));
    let names = names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let level = module.len() - module.trim_start_matches('.').len();
    ImportRef {
        level: level as u32,
        module: module.trim_start_matches('.').to_owned(),
        names,
    }
}

#[test]
fn a_script_is_followed_to_the_modules_of_its_folder() {
    let top = tree_of(&[
        (
            "main.py",
            "a = 'import os'; b = 'import p.q:r,attribute'; c = 'import space.m'; d = 'import broken'",
        ),
        ("p/__init__.py", "a = 'import .init_only'"),
        ("p/init_only.py", ""),
        ("p/q/__init__.py", ""),
        (
            "p/q/r.py",
            "a = 'import ..sibling:*'; b = 'import .:s'; c = 'import ....beyond'",
        ),
        ("p/q/s.py", "a = 'import main'"),
        ("p/sibling.py", ""),
        ("p/unused.py", ""),
        ("space/m.py", ""),
        ("broken.py", "def"),
        ("unused.py", ""),
        ("p.py", ""),
    ]);
    let project = find(&[top.path().join("main.py")]);
    for threads in [1, 3] {
        let (followed, loaded) = follow(
            project.clone(),
            &Embedded::default(),
            Threads::new(threads),
            imports_by_comment,
        );
        let names: Vec<_> = followed.modules().map(|(name, _)| name).collect();
        let expected = [
            "broken",
            "main",
            "p",
            "p.init_only",
            "p.q",
            "p.q.r",
            "p.q.s",
            "p.sibling",
            "space.m",
        ];
        assert_eq!(names, expected);
        assert!(loaded.iter().map(|loaded| loaded.file).eq(followed.files.ids()));
        let failed: Vec<_> = loaded
            .iter()
            .filter(|loaded| loaded.module.is_none())
            .map(|loaded| loaded.file)
            .collect();
        assert_eq!(failed, [followed.module("broken").unwrap()]);
        assert_eq!(followed.files[followed.module("p").unwrap()].path, "p/__init__.py");
    }
    assert_eq!(load(&project, &Embedded::default(), Threads::ONE).len(), 1);
}

#[test]
fn a_script_in_a_package_is_followed_from_the_root() {
    let top = tree_of(&[
        ("lib/p/__init__.py", ""),
        ("lib/p/__main__.py", "a = 'import .m'; b = 'import other'"),
        ("lib/p/m.py", ""),
        ("lib/other.py", ""),
    ]);
    let project = find(&[top.path().join("lib/p/__main__.py")]);
    let (project, _) = follow(project, &Embedded::default(), Threads::ONE, imports_by_comment);
    assert_eq!(
        list(&project),
        [
            "other other.py",
            "p p/__init__.py",
            "p.__main__ p/__main__.py",
            "p.m p/m.py"
        ]
    );
}

#[test]
fn what_an_import_may_run() {
    let importer = |module: &str, is_package| {
        let top = tree(&[if is_package { "x/__init__.py" } else { "x.py" }]);
        let file = found(&top).files.into_raw().remove(0);
        ProjectFile {
            module: module.to_owned(),
            ..file
        }
    };
    let run = |module, is_package, import| resolve(&importer(module, is_package), &parse_import(import));
    assert_eq!(run("m", false, "a.b.c"), ["a", "a.b", "a.b.c"]);
    assert_eq!(run("m", false, "a:b,*"), ["a", "a.b"]);
    assert_eq!(run("m", false, ".:b"), Vec::<String>::new());
    assert_eq!(run("p.m", false, ".:b"), ["p", "p.b"]);
    assert_eq!(run("p.q", true, ".b"), ["p", "p.q", "p.q.b"]);
    assert_eq!(run("p.q.m", false, "..b:c"), ["p", "p.b", "p.b.c"]);
    assert_eq!(run("p.m", false, "...b"), Vec::<String>::new());
    // A damaged file may ask for any level and any name.
    let import = |level, module: &str| ImportRef {
        level,
        module: module.to_owned(),
        names: Vec::new(),
    };
    let package = importer("p.q", true);
    assert_eq!(resolve(&package, &import(u32::MAX, "b")), Vec::<String>::new());
    assert_eq!(
        resolve(&package, &import(0, &"a.".repeat(1 << 20))),
        Vec::<String>::new()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The order in which files are made (and perhaps listed) does not matter, and the order is that of the names.
    #[test]
    fn canonical_order(mut files in proptest::collection::btree_set("[abc](/[abc]){0,2}", 1..12).prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()) {
        files.iter_mut().for_each(|file| file.push_str(".py"));
        let names: Vec<_> = files.iter().map(String::as_str).collect();
        let project = found(&tree(&names));
        let modules: Vec<_> = project.files.iter().map(|file| file.module.clone()).collect();
        let mut expected: Vec<_> = files.iter().map(|file| file.trim_end_matches(".py").replace('/', ".")).collect();
        expected.sort();
        prop_assert_eq!(modules, expected);
    }

    #[test]
    fn identifiers_have_no_dots_or_blanks(name in ".{0,4}") {
        prop_assert!(!is_identifier(&name) || !name.contains(['.', ' ', '-']));
    }
}

/// The modules that a project has with dependencies, `module path` of each.
fn with_dependencies(project: &TempDir, folders: &[PathBuf], passed_over: &[&str]) -> Vec<String> {
    let mut all = found(project);
    all.add_dependencies(folders, passed_over.iter().map(ToString::to_string));
    let run = |threads| {
        follow(
            all.clone(),
            &Embedded::default(),
            Threads::new(threads),
            imports_by_comment,
        )
    };
    let (followed, loaded) = run(1);
    assert_eq!(list(&run(3).0), list(&followed));
    assert!(loaded.iter().map(|one| one.file).eq(followed.files.ids()));
    for file in &followed.files {
        assert_eq!(file.is_dependency, file.path.starts_with("<deps>/"), "{file:?}");
    }
    list(&followed)
}

#[test]
fn dependencies_give_what_is_imported_of_them() {
    let project = tree_of(&[
        (
            "app/m.py",
            "a = 'import web:Server'; b = 'import space.part'; c = 'import missing.part'; d = 'import app.n'",
        ),
        ("app/n.py", "def f():\n    'import lazy'\n"),
        ("own/__init__.py", "a = 'import own.inner'; b = 'import own.absent'"),
        ("own/inner.py", ""),
    ]);
    let deps = tree_of(&[
        ("web/__init__.py", "a = 'import .serve'"),
        ("web/serve.py", "a = 'import base'"),
        ("web/unused.py", ""),
        ("space/part.py", ""),
        ("base.py", ""),
        ("lazy.py", ""),
        // The project has these packages, so Python looks for their modules there alone.
        ("own/__init__.py", ""),
        ("own/absent.py", ""),
        // A namespace package of the project goes on here.
        ("app/n.py", ""),
    ]);
    let expected = [
        "app.m app/m.py",
        "app.n app/n.py",
        "base <deps>/base.py",
        "lazy <deps>/lazy.py",
        "own own/__init__.py",
        "own.inner own/inner.py",
        "space.part <deps>/space/part.py",
        "web <deps>/web/__init__.py",
        "web.serve <deps>/web/serve.py",
    ];
    assert_eq!(with_dependencies(&project, &[deps.path().to_owned()], &[]), expected);
    // What is answered from elsewhere is not looked for, nor what lies below it.
    let mut without = expected.to_vec();
    without.retain(|file| !file.starts_with("web") && !file.starts_with("base"));
    assert_eq!(
        with_dependencies(&project, &[deps.path().to_owned()], &["web"]),
        without
    );
}

#[test]
fn a_package_has_its_modules_in_one_folder_and_a_namespace_in_all() {
    let project = tree_of(&[(
        "main.py",
        "a = 'import p.two'; b = 'import space.one'; c = 'import space.two'; d = 'import single.m'",
    )]);
    let first = tree(&["p/__init__.py", "space/one.py", "single.py", "single/m.py"]);
    let second = tree(&["p/__init__.py", "p/two.py", "space/one.py", "space/two.py"]);
    let folders = [first.path().to_owned(), second.path().to_owned()];
    assert_eq!(
        with_dependencies(&project, &folders, &[]),
        [
            "main main.py",
            "p <deps>/p/__init__.py",
            "single <deps>/single.py",
            "space.one <deps>/space/one.py",
            "space.two <deps>/space/two.py",
        ]
    );
}

#[test]
fn environments_are_known_by_their_layout() {
    let project = tree_of(&[("main.py", "a = 'import dep'")]);
    let cases: [(&str, &[&str], bool); 5] = [
        ("a plain folder", &["dep.py"], true),
        ("posix", &["pyvenv.cfg", "lib/python3.12/site-packages/dep.py"], true),
        ("windows", &["pyvenv.cfg", "Lib/site-packages/dep.py"], true),
        (
            "the newest of two",
            &["lib/python3.9/site-packages/", "lib/python3.10/site-packages/dep.py"],
            true,
        ),
        ("nothing installed", &["pyvenv.cfg", "dep.py"], false),
    ];
    for (what, files, is_there) in cases {
        let environment = tree(files);
        let modules = with_dependencies(&project, &[environment.path().to_owned()], &[]);
        assert_eq!(modules.len(), 1 + usize::from(is_there), "{what}: {modules:?}");
    }
    let mut project = found(&project);
    let (absent, bare) = (project_path_that_is_absent(), tree(&["pyvenv.cfg"]));
    project.add_dependencies(&[absent, bare.path().to_owned()], []);
    assert!(!project.has_dependencies());
    let texts = messages(&project.diagnostics);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("is no folder with dependencies")));
    assert!(texts.iter().any(|text| text.contains("without site-packages")));
}

fn project_path_that_is_absent() -> PathBuf {
    tree(&[]).path().join("absent")
}
