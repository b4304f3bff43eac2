//! Reads marshal, the serialisation of code objects, into an arena of objects.
//!
//! Vocabulary: an object begins with a *type byte*, whose top bit says that later objects may *refer* to it by number;
//! the number is taken before the members are read, whatever the type. A *container* is an object with members, code
//! objects included; a *frame* is a container whose members are being read. See CPython's `Python/marshal.c`.
//!
//! The reader keeps its frames on a heap of its own, so nesting costs no stack, and checks every length against what is
//! left of the input. References make the data stand for more than it holds (the same tuple a thousand times, or tuples
//! of tuples of tuples); since later stages walk what is referred to, the *expanded* size is bounded as well, and an
//! object can refer to complete objects only, so there are no cycles.

mod code;
mod cursor;

use crate::object::CodeObject;
use crate::{Bytes, CodeIndex, Items, Object, ObjectId, Objects, PythonVersion, ReadError, ReadErrorKind};
use cursor::Cursor;
use hognose_base::IndexVec;

/// Nesting that CPython reads (`MAX_MARSHAL_STACK_DEPTH`).
const MAX_DEPTH: usize = 2000;
/// How many times larger than its data the expanded form of an object, and the sum of all fields of all code objects,
/// may be. What real files reach is below 1.
const MAX_SHARING: u64 = 64;
/// Allowance for small files.
const MIN_SHARING: u64 = 1 << 16;

const FLAG_REF: u8 = 0x80;
const NO_REFERENCE: u32 = u32::MAX;
/// Stands in the reference table for an object that is not complete.
const INCOMPLETE: u32 = u32::MAX;
/// Member count of dictionaries, which end with a mark instead.
const UNTIL_NULL: u32 = u32::MAX;

/// Reads the code object at `start`, in the layout of `version`, which must be supported.
pub(crate) fn read(data: Box<[u8]>, start: usize, version: PythonVersion) -> Result<Objects, ReadError> {
    if data.len() >= u32::MAX as usize {
        return Err(ReadError::new(0, ReadErrorKind::TooLarge(data.len() as u64)));
    }
    let reader = Reader::new(&data, start, version);
    let (objects, children, codes) = reader.run()?;
    Ok(Objects {
        data,
        objects,
        children,
        codes,
    })
}

type Tables = (
    IndexVec<ObjectId, Object>,
    Vec<ObjectId>,
    IndexVec<CodeIndex, CodeObject>,
);

struct Reader<'a> {
    cursor: Cursor<'a>,
    version: PythonVersion,
    objects: IndexVec<ObjectId, Object>,
    /// Nesting and expanded size of each object.
    shapes: IndexVec<ObjectId, Shape>,
    children: Vec<ObjectId>,
    codes: IndexVec<CodeIndex, CodeObject>,
    /// The code object whose fields are being read.
    current: Option<CodeIndex>,
    references: Vec<u32>,
    frames: Vec<Frame>,
    /// Members of all frames that are complete, outermost frame first.
    members: Vec<ObjectId>,
    singletons: [Option<ObjectId>; 5],
    /// What fields of code objects may still add up to.
    sharing_left: u64,
    max_weight: u64,
}

#[derive(Clone, Copy)]
struct Shape {
    depth: u16,
    weight: u32,
}

const LEAF: Shape = Shape { depth: 0, weight: 1 };

struct Frame {
    kind: Container,
    /// Members still to come.
    remaining: u32,
    /// Where its members begin in [`Reader::members`].
    base: u32,
    offset: u32,
    reference: u32,
}

#[derive(Clone, Copy)]
enum Container {
    Tuple,
    List,
    Set,
    FrozenSet,
    Dict,
    FrozenDict,
    Slice,
    Code(CodeIndex),
}

enum Opened {
    Complete(ObjectId),
    Frame,
    Null,
}

impl<'a> Reader<'a> {
    fn new(data: &'a [u8], start: usize, version: PythonVersion) -> Self {
        let allowance = MIN_SHARING.max(data.len() as u64 * MAX_SHARING);
        // Typical data has an object every twenty bytes.
        let expected = data.len() / 20;
        Self {
            cursor: Cursor::new(data, start),
            version,
            objects: IndexVec::with_capacity(expected),
            shapes: IndexVec::with_capacity(expected),
            children: Vec::with_capacity(expected),
            codes: IndexVec::new(),
            current: None,
            references: Vec::with_capacity(expected / 2),
            frames: Vec::new(),
            members: Vec::new(),
            singletons: [None; 5],
            sharing_left: allowance,
            max_weight: allowance.min(u64::from(u32::MAX)),
        }
    }

    fn run(mut self) -> Result<Tables, ReadError> {
        self.check_root()?;
        loop {
            let offset = self.cursor.position();
            let done = match self.open()? {
                Opened::Complete(id) => self.deliver(id, offset)?,
                Opened::Frame => false,
                Opened::Null => self.end_dictionary(offset)?,
            };
            if done {
                return Ok((self.objects, self.children, self.codes));
            }
        }
    }

    fn check_root(&self) -> Result<(), ReadError> {
        let offset = self.cursor.position();
        let byte = self.cursor.peek()?;
        match type_name(byte & !FLAG_REF) {
            "code" => Ok(()),
            "" => Err(ReadError::new(offset, ReadErrorKind::UnknownType(byte))),
            found => Err(ReadError::new(offset, ReadErrorKind::RootIsNotCode { found })),
        }
    }

    /// Reads a type byte and what follows, up to the first member.
    fn open(&mut self) -> Result<Opened, ReadError> {
        let offset = self.cursor.position();
        let byte = self.cursor.byte()?;
        let is_referable = byte & FLAG_REF != 0;
        let unknown = || ReadError::new(offset, ReadErrorKind::UnknownType(byte));
        match byte & !FLAG_REF {
            b'0' => Ok(Opened::Null),
            b'N' => Ok(self.singleton(0, Object::None)),
            b'T' => Ok(self.singleton(1, Object::True)),
            b'F' => Ok(self.singleton(2, Object::False)),
            b'.' => Ok(self.singleton(3, Object::Ellipsis)),
            b'S' => Ok(self.singleton(4, Object::StopIteration)),
            b'r' => self.back_reference(offset),
            kind @ (b'i' | b'l' | b'f' | b'g' | b'x' | b'y' | b's' | b't' | b'u' | b'a' | b'A' | b'z' | b'Z') => {
                let reference = self.reserve(is_referable);
                let object = self.cursor.scalar(kind, offset)?;
                let id = self.push(object, LEAF);
                self.complete(reference, id);
                Ok(Opened::Complete(id))
            }
            b')' => {
                let count = u32::from(self.cursor.byte()?);
                self.container(Container::Tuple, count, offset, is_referable)
            }
            b'(' => self.counted(Container::Tuple, offset, is_referable),
            b'[' => self.counted(Container::List, offset, is_referable),
            b'<' => self.counted(Container::Set, offset, is_referable),
            b'>' => self.counted(Container::FrozenSet, offset, is_referable),
            b'{' => self.container(Container::Dict, UNTIL_NULL, offset, is_referable),
            b'}' if self.version.at_least(15) => {
                self.container(Container::FrozenDict, UNTIL_NULL, offset, is_referable)
            }
            b':' if self.version.at_least(14) => self.container(Container::Slice, 3, offset, is_referable),
            b'c' => self.open_code(offset, is_referable),
            _ => Err(unknown()),
        }
    }

    fn singleton(&mut self, at: usize, object: Object) -> Opened {
        let id = match self.singletons[at] {
            Some(id) => id,
            None => self.push(object, LEAF),
        };
        self.singletons[at] = Some(id);
        Opened::Complete(id)
    }

    fn back_reference(&mut self, offset: usize) -> Result<Opened, ReadError> {
        let index = self.cursor.word()?;
        match self.references.get(index as usize) {
            Some(&raw) if raw != INCOMPLETE => Ok(Opened::Complete(ObjectId::new(raw))),
            _ => Err(ReadError::new(offset, ReadErrorKind::InvalidReference(index))),
        }
    }

    fn counted(&mut self, kind: Container, offset: usize, is_referable: bool) -> Result<Opened, ReadError> {
        // Every member takes a byte at least.
        let count = self.cursor.length(1)?;
        self.container(kind, count, offset, is_referable)
    }

    fn container(
        &mut self,
        kind: Container,
        count: u32,
        offset: usize,
        is_referable: bool,
    ) -> Result<Opened, ReadError> {
        let reference = self.reserve(is_referable);
        if count == 0 {
            let id = self.finish_container(kind, self.members.len(), offset)?;
            self.complete(reference, id);
            return Ok(Opened::Complete(id));
        }
        self.push_frame(kind, count, offset, reference)?;
        Ok(Opened::Frame)
    }

    fn push_frame(&mut self, kind: Container, remaining: u32, offset: usize, reference: u32) -> Result<(), ReadError> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(ReadError::new(offset, ReadErrorKind::TooDeep));
        }
        self.frames.push(Frame {
            kind,
            remaining,
            base: narrow(self.members.len()),
            offset: narrow(offset),
            reference,
        });
        Ok(())
    }

    /// Hands a complete object to the frame that waits for it, and closes frames that are complete with it. Whether the
    /// root is complete.
    fn deliver(&mut self, id: ObjectId, offset: usize) -> Result<bool, ReadError> {
        let (mut id, mut offset) = (id, offset);
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(true);
            };
            frame.remaining -= 1;
            let (kind, remaining) = (frame.kind, frame.remaining);
            self.members.push(id);
            if let Container::Code(index) = kind {
                self.check_field(index, remaining, id, offset)?;
            }
            if remaining > 0 {
                return Ok(false);
            }
            let Some(closed) = self.close()? else {
                return Ok(true);
            };
            (id, offset) = closed;
        }
    }

    /// Turns the innermost frame into an object.
    fn close(&mut self) -> Result<Option<(ObjectId, usize)>, ReadError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(None);
        };
        let (base, offset) = (frame.base as usize, frame.offset as usize);
        let id = match frame.kind {
            Container::Code(index) => self.finish_code(index, base, offset)?,
            kind => self.finish_container(kind, base, offset)?,
        };
        self.complete(frame.reference, id);
        Ok(Some((id, offset)))
    }

    fn end_dictionary(&mut self, offset: usize) -> Result<bool, ReadError> {
        let missing = || ReadError::new(offset, ReadErrorKind::MissingObject);
        let frame = self.frames.last().ok_or_else(missing)?;
        let is_dictionary = matches!(frame.kind, Container::Dict | Container::FrozenDict);
        let count = self.members.len() - frame.base as usize;
        if !is_dictionary || !count.is_multiple_of(2) {
            return Err(missing());
        }
        match self.close()? {
            Some((id, offset)) => self.deliver(id, offset),
            None => Err(missing()),
        }
    }

    fn finish_container(&mut self, kind: Container, base: usize, offset: usize) -> Result<ObjectId, ReadError> {
        let members = &self.members[base..];
        let shape = self.shape_of(members, offset)?;
        let object = if let (Container::Slice, &[start, stop, step]) = (kind, members) {
            Object::Slice([start, stop, step])
        } else {
            let items = Items {
                start: narrow(self.children.len()),
                len: narrow(members.len()),
            };
            self.children.extend_from_slice(members);
            match kind {
                Container::List => Object::List(items),
                Container::Set => Object::Set(items),
                Container::FrozenSet => Object::FrozenSet(items),
                Container::Dict => Object::Dict(items),
                Container::FrozenDict => Object::FrozenDict(items),
                Container::Tuple | Container::Slice | Container::Code(_) => Object::Tuple(items),
            }
        };
        self.members.truncate(base);
        Ok(self.push(object, shape))
    }

    fn shape_of(&self, members: &[ObjectId], offset: usize) -> Result<Shape, ReadError> {
        let mut depth = 0;
        let mut weight = 1_u64;
        for &member in members {
            let shape = self.shapes[member];
            depth = depth.max(shape.depth);
            weight += u64::from(shape.weight);
        }
        if usize::from(depth) >= MAX_DEPTH {
            return Err(ReadError::new(offset, ReadErrorKind::TooDeep));
        }
        if weight > self.max_weight {
            return Err(ReadError::new(offset, ReadErrorKind::TooMuchSharing));
        }
        Ok(Shape {
            depth: depth + 1,
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
        })
    }

    fn reserve(&mut self, is_referable: bool) -> u32 {
        if !is_referable {
            return NO_REFERENCE;
        }
        self.references.push(INCOMPLETE);
        narrow(self.references.len() - 1)
    }

    fn complete(&mut self, reference: u32, id: ObjectId) {
        if let Some(slot) = self.references.get_mut(reference as usize) {
            *slot = id.raw();
        }
    }

    fn push(&mut self, object: Object, shape: Shape) -> ObjectId {
        self.shapes.push(shape);
        self.objects.push(object)
    }

    fn text_bytes(&self, id: ObjectId) -> &'a [u8] {
        match self.objects[id] {
            Object::Str(bytes) | Object::Bytes(bytes) => self.cursor.slice(bytes),
            _ => &[],
        }
    }
}

/// Positions and counts are below the size of the data, which has been checked to fit.
fn narrow(number: usize) -> u32 {
    debug_assert!(u32::try_from(number).is_ok());
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What a type byte stands for, in words; empty if nothing.
fn type_name(byte: u8) -> &'static str {
    match byte {
        b'0' => "nothing",
        b'N' => "None",
        b'T' | b'F' => "a bool",
        b'.' => "an ellipsis",
        b'S' => "StopIteration",
        b'i' | b'l' => "an int",
        b'f' | b'g' => "a float",
        b'x' | b'y' => "a complex",
        b's' => "bytes",
        b't' | b'u' | b'a' | b'A' | b'z' | b'Z' => "a str",
        b'(' | b')' => "a tuple",
        b'[' => "a list",
        b'{' => "a dict",
        b'}' => "a frozendict",
        b'<' => "a set",
        b'>' => "a frozenset",
        b':' => "a slice",
        b'r' => "a reference",
        b'c' => "code",
        _ => "",
    }
}
