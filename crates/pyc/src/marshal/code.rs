//! The fields of code objects in both layouts, and the frame slots made of them.
//!
//! Up to 3.10 a code object names its locals, cells and free variables in three tuples, where an argument that is also
//! a cell stands in two of them (`cell2arg` in CPython's `Objects/codeobject.c`). From 3.11 on one tuple with a byte of
//! kind bits each says the same (`localsplusnames`, `localspluskinds`; `_PyCode_Validate`).

use super::{Container, Object, ObjectId, Opened, Reader, Shape, narrow};
use crate::object::{Bytes, CodeObject, FrameName, Items, LocalKind, flags};
use crate::{CodeIndex, ReadError, ReadErrorKind};
use std::collections::HashMap;

#[derive(Clone, Copy)]
enum FieldType {
    Bytes,
    Str,
    Tuple,
    TupleOfStr,
}

type Fields = &'static [(&'static str, FieldType)];

const UP_TO_3_10: Fields = &[
    ("co_code", FieldType::Bytes),
    ("co_consts", FieldType::Tuple),
    ("co_names", FieldType::TupleOfStr),
    ("co_varnames", FieldType::TupleOfStr),
    ("co_freevars", FieldType::TupleOfStr),
    ("co_cellvars", FieldType::TupleOfStr),
    ("co_filename", FieldType::Str),
    ("co_name", FieldType::Str),
    // Here stands the first line.
    ("co_linetable", FieldType::Bytes),
];

const FROM_3_11: Fields = &[
    ("co_code", FieldType::Bytes),
    ("co_consts", FieldType::Tuple),
    ("co_names", FieldType::TupleOfStr),
    ("co_localsplusnames", FieldType::TupleOfStr),
    ("co_localspluskinds", FieldType::Bytes),
    ("co_filename", FieldType::Str),
    ("co_name", FieldType::Str),
    ("co_qualname", FieldType::Str),
    // Here stands the first line.
    ("co_linetable", FieldType::Bytes),
    ("co_exceptiontable", FieldType::Bytes),
];

/// Number of fields before the first line, in both layouts.
const BEFORE_FIRST_LINE: usize = 8;

/// Kind bits that say how a name is kept; the lower ones (3.14+) repeat how an argument is passed.
const STORAGE_BITS: u8 = 0xf0;

impl Reader<'_> {
    fn fields(&self) -> Fields {
        if self.version.at_least(11) {
            FROM_3_11
        } else {
            UP_TO_3_10
        }
    }

    /// Reads the numbers that a code object begins with, and reserves its place in preorder.
    pub(super) fn open_code(&mut self, offset: usize, is_referable: bool) -> Result<Opened, ReadError> {
        let reference = self.reserve(is_referable);
        let inconsistent = |problem| ReadError::new(offset, ReadErrorKind::InconsistentCode(problem));
        let argcount = self.cursor.word()?;
        let posonlyargcount = self.cursor.word()?;
        let kwonlyargcount = self.cursor.word()?;
        let nlocals = if self.version.at_least(11) {
            0
        } else {
            self.cursor.word()?
        };
        let stacksize = self.cursor.word()?;
        let flags = self.cursor.word()?;
        let numbers = [argcount, posonlyargcount, kwonlyargcount, nlocals, stacksize, flags];
        if numbers.iter().any(|&number| i32::try_from(number).is_err()) {
            return Err(inconsistent("a count is negative"));
        }
        if posonlyargcount > argcount {
            return Err(inconsistent("more positional-only than positional parameters"));
        }
        let nothing = Bytes { start: 0, len: 0 };
        let no_items = Items { start: 0, len: 0 };
        let index = self.codes.push(CodeObject {
            argcount,
            posonlyargcount,
            kwonlyargcount,
            stacksize,
            flags,
            code: nothing,
            consts: no_items,
            names: no_items,
            frame: Box::default(),
            // Keeps the number of locals until the names are there.
            deref_slots: if self.version.at_least(11) {
                Box::default()
            } else {
                Box::new([nlocals])
            },
            filename: ObjectId::new(0),
            name: ObjectId::new(0),
            qualname: None,
            firstlineno: 0,
            linetable: nothing,
            exceptiontable: nothing,
            file_offset: narrow(offset),
            parent: self.current,
        });
        self.push_frame(Container::Code(index), narrow(self.fields().len()), offset, reference)?;
        self.current = Some(index);
        Ok(Opened::Frame)
    }

    /// Checks the type of the field that has just been read, and reads the first line when it is due.
    pub(super) fn check_field(
        &mut self,
        index: CodeIndex,
        remaining: u32,
        id: ObjectId,
        offset: usize,
    ) -> Result<(), ReadError> {
        let fields = self.fields();
        let read = fields.len() - remaining as usize;
        let (field, expected) = fields[read - 1];
        let object = &self.objects[id];
        let size = match (expected, object) {
            (FieldType::Bytes, Object::Bytes(bytes)) => bytes.len,
            (FieldType::Str, Object::Str(_)) => 0,
            (FieldType::Tuple | FieldType::TupleOfStr, Object::Tuple(items)) => items.len,
            _ => return Err(field_error(field, expected, object, offset)),
        };
        // Counted before the members are looked at, which are many times the same perhaps.
        self.sharing_left = (self.sharing_left.checked_sub(size.into()))
            .ok_or_else(|| ReadError::new(offset, ReadErrorKind::TooMuchSharing))?;
        if let (FieldType::TupleOfStr, &Object::Tuple(items)) = (expected, object) {
            let members = self.members_of(items);
            if let Some(&other) = members
                .iter()
                .find(|&&member| !matches!(self.objects[member], Object::Str(_)))
            {
                return Err(field_error(field, expected, &self.objects[other], offset));
            }
        }
        if read == BEFORE_FIRST_LINE {
            self.codes[index].firstlineno = self.cursor.word()?.cast_signed();
        }
        Ok(())
    }

    /// Makes the code object of its fields, which have been checked.
    pub(super) fn finish_code(&mut self, index: CodeIndex, base: usize, offset: usize) -> Result<ObjectId, ReadError> {
        let inconsistent = |problem| ReadError::new(offset, ReadErrorKind::InconsistentCode(problem));
        let mut fields = [ObjectId::new(0); 10];
        for (field, &member) in fields.iter_mut().zip(&self.members[base..]) {
            *field = member;
        }
        self.members.truncate(base);
        let (frame, deref_slots) = if self.version.at_least(11) {
            (
                self.frame_of_kinds(index, fields[3], fields[4]).map_err(inconsistent)?,
                Box::default(),
            )
        } else {
            self.frame_of_tuples(index, fields[3], fields[5], fields[4])
                .map_err(inconsistent)?
        };
        let is_modern = self.version.at_least(11);
        let (code, linetable) = (self.run_of(fields[0]), self.run_of(fields[8]));
        let exceptiontable = if is_modern {
            self.run_of(fields[9])
        } else {
            Bytes { start: 0, len: 0 }
        };
        if code.len % 2 != 0 {
            return Err(inconsistent("co_code is no sequence of two-byte units"));
        }
        let (consts, names) = (self.items_of(fields[1]), self.items_of(fields[2]));
        let object = &mut self.codes[index];
        object.code = code;
        object.consts = consts;
        object.names = names;
        object.frame = frame;
        object.deref_slots = deref_slots;
        (object.filename, object.name) = if is_modern {
            (fields[5], fields[6])
        } else {
            (fields[6], fields[7])
        };
        object.qualname = is_modern.then_some(fields[7]);
        object.linetable = linetable;
        object.exceptiontable = exceptiontable;
        self.current = object.parent;
        Ok(self.push(Object::Code(index), Shape { depth: 0, weight: 1 }))
    }

    /// The frame of a 3.11+ code object.
    fn frame_of_kinds(
        &self,
        index: CodeIndex,
        names: ObjectId,
        kinds: ObjectId,
    ) -> Result<Box<[FrameName]>, &'static str> {
        let names = self.members_of(self.items_of(names));
        let kinds = self.text_bytes(kinds);
        if names.len() != kinds.len() {
            return Err("not as many kinds as names of locals");
        }
        let slots = names.iter().zip(kinds);
        let frame: Box<[FrameName]> = slots
            .map(|(&name, &kind)| FrameName {
                name,
                kind: LocalKind(kind & STORAGE_BITS),
            })
            .collect();
        if frame
            .iter()
            .any(|slot| !(slot.kind.is_local() || slot.kind.is_cell() || slot.kind.is_free()))
        {
            return Err("a name is neither local, cell nor free");
        }
        let arguments = total_arguments(&self.codes[index]);
        let leading = frame.iter().take_while(|slot| slot.kind.is_local()).count();
        if arguments > leading as u64 {
            return Err("fewer names of locals than arguments");
        }
        Ok(frame)
    }

    /// The frame of an older code object, and the slot of each number of `*_DEREF`.
    #[allow(clippy::type_complexity)]
    fn frame_of_tuples(
        &self,
        index: CodeIndex,
        locals: ObjectId,
        cells: ObjectId,
        free: ObjectId,
    ) -> Result<(Box<[FrameName]>, Box<[u32]>), &'static str> {
        let [locals, cells, free] = [locals, cells, free].map(|id| self.members_of(self.items_of(id)));
        let code = &self.codes[index];
        let arguments = total_arguments(code);
        if code
            .deref_slots
            .first()
            .is_none_or(|&nlocals| nlocals as usize != locals.len())
        {
            return Err("co_nlocals is not the number of co_varnames");
        }
        if arguments > locals.len() as u64 {
            return Err("fewer names of locals than arguments");
        }
        let slot = |kind| {
            move |&name| FrameName {
                name,
                kind: LocalKind(kind),
            }
        };
        let mut frame = Vec::with_capacity(locals.len() + cells.len() + free.len());
        let mut deref_slots = Vec::with_capacity(cells.len() + free.len());
        frame.extend(locals.iter().map(slot(LocalKind::LOCAL)));
        let mut argument_slots: HashMap<&[u8], u32> = HashMap::new();
        if !cells.is_empty() {
            let arguments = usize::try_from(arguments).unwrap_or(usize::MAX);
            for (number, &name) in (0..).zip(locals.iter().take(arguments)) {
                argument_slots.entry(self.text_bytes(name)).or_insert(number);
            }
        }
        for cell in cells {
            if let Some(&number) = argument_slots.get(self.text_bytes(*cell)) {
                frame[number as usize].kind.0 |= LocalKind::CELL;
                deref_slots.push(number);
            } else {
                deref_slots.push(narrow(frame.len()));
                frame.push(slot(LocalKind::CELL)(cell));
            }
        }
        for name in free {
            deref_slots.push(narrow(frame.len()));
            frame.push(slot(LocalKind::FREE)(name));
        }
        Ok((frame.into_boxed_slice(), deref_slots.into_boxed_slice()))
    }

    fn members_of(&self, items: Items) -> &[ObjectId] {
        &self.children[items.start as usize..(items.start + items.len) as usize]
    }

    fn items_of(&self, id: ObjectId) -> Items {
        match self.objects[id] {
            Object::Tuple(items) => items,
            _ => Items { start: 0, len: 0 },
        }
    }

    fn run_of(&self, id: ObjectId) -> Bytes {
        match self.objects[id] {
            Object::Bytes(bytes) => bytes,
            _ => Bytes { start: 0, len: 0 },
        }
    }
}

fn total_arguments(code: &CodeObject) -> u64 {
    u64::from(code.argcount)
        + u64::from(code.kwonlyargcount)
        + u64::from(code.flags & flags::VARARGS != 0)
        + u64::from(code.flags & flags::VARKEYWORDS != 0)
}

fn field_error(field: &'static str, expected: FieldType, found: &Object, offset: usize) -> ReadError {
    let expected = match expected {
        FieldType::Bytes => "bytes",
        FieldType::Str => "a str",
        FieldType::Tuple => "a tuple",
        FieldType::TupleOfStr => "a tuple of str",
    };
    ReadError::new(
        offset,
        ReadErrorKind::FieldType {
            field,
            expected,
            found: found.type_name(),
        },
    )
}
