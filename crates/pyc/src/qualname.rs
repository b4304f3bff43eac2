//! Qualified names of code objects.
//!
//! From 3.11 on a code object carries its `co_qualname`. Before, the name was an operand of `MAKE_FUNCTION`; here it is
//! computed as the compiler does (`compiler_set_qualname` in CPython's `Python/compile.c`, PEP 3155): the name of the
//! enclosing code, `.<locals>` if that is a function, and the own name. One case cannot be seen in a code object: a
//! function or class whose name is declared `global` in the enclosing one is qualified here, and not by CPython.

use crate::{CodeIndex, CodeObject, CompiledModule, Objects, flags};
use hognose_base::IndexVec;

/// Longest qualified name that is built from parents' names; nesting is bounded but names may be shared and long.
const MAX_COMPUTED: usize = 4096;

/// Qualified names of all code objects: `co_qualname` where there is one, else computed.
#[must_use]
pub fn qualnames(module: &CompiledModule) -> IndexVec<CodeIndex, Box<str>> {
    let objects = &module.objects;
    let mut names: IndexVec<CodeIndex, Box<str>> = IndexVec::with_capacity(objects.code_count());
    for code in objects.codes() {
        let name = match code.qualname.and_then(|id| objects.text(id)) {
            Some(name) => name.into(),
            None => {
                let own = objects.text(code.name).unwrap_or_default();
                match code.parent {
                    // Preorder: the parent's name is there already.
                    Some(parent) if parent.raw() != 0 => join(&names[parent], objects, objects.code(parent), &own),
                    _ => own.into(),
                }
            }
        };
        names.push(name);
    }
    names
}

fn join(base: &str, objects: &Objects, parent: &CodeObject, own: &str) -> Box<str> {
    let locals = if is_function_scope(objects, parent) {
        ".<locals>."
    } else {
        "."
    };
    if base.len() + own.len() > MAX_COMPUTED {
        return format!("...{locals}{own}").into();
    }
    format!("{base}{locals}{own}").into()
}

/// Whether names inside get `<locals>`: functions and lambdas do, classes and comprehensions do not.
fn is_function_scope(objects: &Objects, code: &CodeObject) -> bool {
    const COMPREHENSIONS: [&str; 4] = ["<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"];
    code.flags & flags::OPTIMIZED != 0
        && objects
            .text(code.name)
            .is_some_and(|name| !COMPREHENSIONS.contains(&name.as_ref()))
}
