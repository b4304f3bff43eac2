//! Walks everything that can be asked of a module.

use hognose_pyc::{CompiledModule, PositionTable, display_constant, exception_table, positions, qualnames};

pub fn walk(module: &CompiledModule) {
    let objects = &module.objects;
    assert_eq!(qualnames(module).len(), objects.code_count());
    for id in objects.objects().ids() {
        assert!(display_constant(objects, id, 100).len() < 2000);
    }
    for (index, code) in objects.codes().iter_enumerated() {
        assert!(objects.inner_codes(index).all(|inner| inner > index));
        let table = PositionTable::of(objects, code, module.version);
        for range in positions(objects, code, module.version) {
            assert!(range.start < range.end && range.end <= code.code.len);
            assert_eq!(table.span_at(range.start), range.span);
        }
        if let Ok(entries) = exception_table(objects, code) {
            assert!(entries.iter().all(|entry| entry.end <= code.code.len));
        }
    }
}
