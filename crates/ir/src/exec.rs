//! What each operation does to the operand stack, written once for every interpretation of it.
//!
//! The *cell type* `V` of a [`Stack`] is whatever an interpretation tracks: block-local origins when blocks are made, SSA
//! values afterwards. [`execute`] pops operands into `inputs` in the normalised order that [`crate::Ssa`] documents, asks
//! for fresh cells for the outputs, and leaves the stack as it is when control falls through; [`follow_jump`] turns that
//! into the stack on the edge that jumps. Source: `Python/bytecodes.c` and, up to 3.11, `Python/ceval.c`.

use crate::op::{CallLayout, Intrinsic, Keep, KeywordNames, Op};

/// An operand stack that survives underflow and knows how deep it was touched.
pub(crate) struct Stack<V> {
    /// The cells, bottom first.
    pub(crate) items: Vec<V>,
    /// Lowest position that was written or popped since this was last reset.
    pub(crate) low: usize,
    /// Whether more was taken than there was.
    pub(crate) underflow: bool,
    filler: V,
}

impl<V: Copy> Stack<V> {
    /// An empty stack; `filler` stands for what an underflow finds.
    pub(crate) const fn new(filler: V) -> Self {
        Self {
            items: Vec::new(),
            low: usize::MAX,
            underflow: false,
            filler,
        }
    }
    fn push(&mut self, value: V) {
        self.items.push(value);
    }
    fn pop(&mut self) -> V {
        if let Some(value) = self.items.pop() {
            self.low = self.low.min(self.items.len());
            value
        } else {
            self.underflow = true;
            self.filler
        }
    }
    /// The cell `depth` below the top, from 1.
    fn peek(&mut self, depth: usize) -> V {
        match self.position(depth) {
            Some(at) => self.items[at],
            None => self.filler,
        }
    }
    fn position(&mut self, depth: usize) -> Option<usize> {
        let at = self.items.len().checked_sub(depth).filter(|_| depth > 0);
        self.underflow |= at.is_none();
        at
    }
    /// Moves the top `count` cells to `inputs`, deepest first.
    fn take(&mut self, count: usize, inputs: &mut Vec<V>) {
        if count > self.items.len() {
            self.underflow = true;
            return;
        }
        let at = self.items.len() - count;
        self.low = self.low.min(at);
        inputs.extend(self.items.drain(at..));
    }
    fn swap(&mut self, depth: usize) {
        if let (Some(lower), Some(top)) = (self.position(depth), self.position(1)) {
            self.items.swap(lower, top);
            self.low = self.low.min(lower);
        }
    }
    fn rotate(&mut self, depth: usize) {
        if let Some(lower) = self.position(depth) {
            self.items[lower..].rotate_right(1);
            self.low = self.low.min(lower);
        }
    }
}

/// Stack effect of the operations that take so many operands and push so many outputs, in stack order.
const fn simple(op: Op) -> Option<(usize, usize)> {
    Some(match op {
        Op::Nop
        | Op::SetupBlock
        | Op::PopBlock
        | Op::Jump { .. }
        | Op::Resume(_)
        | Op::CopyFreeVars
        | Op::SetupAnnotations
        | Op::MakeCell(_)
        | Op::DeleteLocal(_)
        | Op::DeleteDeref(_)
        | Op::DeleteName(_)
        | Op::DeleteGlobal(_)
        | Op::Unsupported(_) => (0, 0),
        Op::Const(_)
        | Op::SmallInt(_)
        | Op::CommonConst(_)
        | Op::LoadBuildClass
        | Op::LoadLocal { .. }
        | Op::LoadLocalAndClear(_)
        | Op::LoadCell(_)
        | Op::LoadDeref(_)
        | Op::LoadClassDeref(_)
        | Op::LoadLocals
        | Op::LoadName(_)
        | Op::LoadGlobal(_)
        | Op::ReturnGenerator => (0, 1),
        Op::StoreLocal(_)
        | Op::StoreDeref(_)
        | Op::StoreName(_)
        | Op::StoreGlobal(_)
        | Op::DeleteAttr(_)
        | Op::Branch { .. }
        | Op::Return => (1, 0),
        Op::LoadFromDictOrDeref(_)
        | Op::LoadFromDictOrGlobals(_)
        | Op::LoadAttr(_)
        | Op::Unary(_)
        | Op::Convert(_)
        | Op::GetIter
        | Op::GetYieldFromIter
        | Op::GetAsyncIter
        | Op::GetAwaitable
        | Op::Yield => (1, 1),
        Op::LoadMethod(_) | Op::EnterContext | Op::EnterAsyncContext | Op::LoadSpecial(_) => (1, 2),
        Op::LoadSuperAttr { .. } | Op::LoadSlice => (3, 1),
        Op::LoadSuperMethod { .. } => (3, 2),
        Op::StoreAttr(_) | Op::DeleteItem | Op::BranchNotExceptionMatch { .. } => (2, 0),
        Op::LoadItem
        | Op::Binary { .. }
        | Op::Compare { .. }
        | Op::Is { .. }
        | Op::Contains { .. }
        | Op::BuildTemplate
        | Op::SetFunctionPart(_)
        | Op::ImportName(_)
        | Op::YieldFrom => (2, 1),
        Op::StoreItem => (3, 0),
        Op::StoreSlice => (4, 0),
        Op::BuildTuple(n) | Op::BuildList(n) | Op::BuildSet(n) | Op::BuildString(n) | Op::BuildSlice(n) => {
            (n as usize, 1)
        }
        Op::BuildMap(n) => (2 * n as usize, 1),
        Op::BuildConstKeyMap(n) => (n as usize + 1, 1),
        Op::BuildInterpolation { format, .. } => (2 + format as usize, 1),
        Op::FormatValue { spec, .. } => (1 + spec as usize, 1),
        Op::UnpackSequence(n) => (1, n as usize),
        Op::UnpackStar { before, after } => (1, before as usize + 1 + after as usize),
        Op::MatchClass { pushes_bool, .. } => (3, 1 + pushes_bool as usize),
        Op::CheckGroupMatch => (2, 2),
        Op::CleanupThrow => (3, 2),
        Op::Raise(n) => (n as usize, 0),
        Op::Intrinsic(intrinsic) => (intrinsic_operands(intrinsic), 1),
        _ => return None,
    })
}

const fn intrinsic_operands(intrinsic: Intrinsic) -> usize {
    match intrinsic {
        Intrinsic::PrepReraiseStar
        | Intrinsic::TypeVarWithBound
        | Intrinsic::TypeVarWithConstraints
        | Intrinsic::SetFunctionTypeParams
        | Intrinsic::SetTypeParamDefault => 2,
        Intrinsic::Print
        | Intrinsic::ImportStar
        | Intrinsic::StopIterationError
        | Intrinsic::AsyncGenWrap
        | Intrinsic::ListToTuple
        | Intrinsic::TypeVar
        | Intrinsic::ParamSpec
        | Intrinsic::TypeVarTuple
        | Intrinsic::SubscriptGeneric
        | Intrinsic::TypeAlias => 1,
    }
}

/// Number of cells that an operation pushes at most; known before it is run, so that a limit can stop it.
pub(crate) fn pushes(op: Op) -> usize {
    simple(op).map_or(2, |(_, pushed)| pushed)
}

/// Runs one operation as when control falls through. Appends its operands to `inputs`; returns the cell with the names of
/// a call's keyword arguments, if they were on the stack.
pub(crate) fn execute<V: Copy + PartialEq>(
    op: Op,
    minor: u8,
    null: V,
    stack: &mut Stack<V>,
    inputs: &mut Vec<V>,
    fresh: &mut impl FnMut() -> V,
) -> Option<V> {
    if let Some((taken, pushed)) = simple(op) {
        stack.take(taken, inputs);
        for _ in 0..pushed {
            let value = fresh();
            stack.push(value);
        }
        return None;
    }
    match op {
        Op::Call { argc, keywords, layout } => return call(argc, keywords, layout, null, stack, inputs, fresh),
        Op::CallStar {
            mapping,
            mapping_or_null,
            layout,
        } => {
            let mapping = if mapping || mapping_or_null { stack.pop() } else { null };
            let iterable = stack.pop();
            callee(layout, null, stack, inputs);
            inputs.extend([iterable, mapping]);
            stack.push(fresh());
        }
        Op::MakeFunction(parts) => {
            if parts.qualname {
                stack.pop();
            }
            let count = [parts.defaults, parts.keyword_defaults, parts.annotations, parts.closure];
            stack.take(1 + count.into_iter().filter(|&part| part).count(), inputs);
            stack.push(fresh());
        }
        _ => execute_peeking(op, minor, null, stack, inputs, fresh),
    }
    None
}

/// Operations that shuffle cells, or look at operands that stay.
fn execute_peeking<V: Copy + PartialEq>(
    op: Op,
    minor: u8,
    null: V,
    stack: &mut Stack<V>,
    inputs: &mut Vec<V>,
    fresh: &mut impl FnMut() -> V,
) {
    match op {
        Op::Pop | Op::EndFor => {
            stack.pop();
        }
        Op::Copy { depth } => {
            let value = stack.peek(depth.into());
            stack.push(value);
        }
        Op::Swap { depth } => stack.swap(depth.into()),
        Op::Rotate { depth } => stack.rotate(depth.into()),
        Op::PushNull => stack.push(null),
        Op::ForIter { .. }
        | Op::GetAsyncNext
        | Op::GetLen
        | Op::MatchMapping
        | Op::MatchSequence
        | Op::ImportFrom(_) => {
            inputs.push(stack.peek(1));
            stack.push(fresh());
        }
        Op::MatchKeys { pushes_bool } => {
            inputs.extend([stack.peek(2), stack.peek(1)]);
            for _ in 0..=usize::from(pushes_bool) {
                stack.push(fresh());
            }
        }
        Op::CopyDictWithoutKeys => {
            let keys = stack.pop();
            inputs.extend([stack.peek(1), keys]);
            stack.push(fresh());
        }
        Op::Send { .. } => {
            inputs.extend([stack.peek(2), stack.peek(1)]);
            stack.pop();
            let _returned = fresh();
            stack.push(fresh());
        }
        Op::EndSend => {
            let value = stack.pop();
            stack.pop();
            stack.push(value);
        }
        _ if add_to_container(op, stack, inputs) => {}
        _ => execute_exceptional(op, minor, null, stack, inputs, fresh),
    }
}

/// Operations that add items to a container below them; whether `op` is one.
fn add_to_container<V: Copy>(op: Op, stack: &mut Stack<V>, inputs: &mut Vec<V>) -> bool {
    match op {
        Op::ListAppend { depth }
        | Op::SetAdd { depth }
        | Op::ListExtend { depth }
        | Op::SetUpdate { depth }
        | Op::DictUpdate { depth }
        | Op::DictMerge { depth } => {
            let item = stack.pop();
            let container = stack.peek(depth.into());
            inputs.extend([container, item]);
        }
        Op::MapAdd { depth } => {
            let value = stack.pop();
            let key = stack.pop();
            let container = stack.peek(depth.into());
            inputs.extend([container, key, value]);
        }
        _ => return false,
    }
    true
}

/// Operations of handlers, whose layout changed with 3.11 (one item instead of three) and 3.14 (`__exit__` and self).
fn execute_exceptional<V: Copy + PartialEq>(
    op: Op,
    minor: u8,
    null: V,
    stack: &mut Stack<V>,
    inputs: &mut Vec<V>,
    fresh: &mut impl FnMut() -> V,
) {
    let items_per_exception = if minor >= 11 { 1 } else { 3 };
    match op {
        Op::PushExcInfo => {
            let exception = stack.pop();
            inputs.push(exception);
            stack.push(fresh());
            stack.push(exception);
        }
        Op::PopExcept => {
            for _ in 0..items_per_exception {
                stack.pop();
            }
        }
        Op::Reraise { lasti } => {
            if minor >= 11 {
                // The saved offset has to be there.
                stack.peek(usize::from(lasti) + 1);
            }
            inputs.push(stack.pop());
            for _ in 1..items_per_exception {
                stack.pop();
            }
        }
        Op::EndAsyncFor => {
            let exception = stack.pop();
            for _ in 2..2 * items_per_exception {
                stack.pop();
            }
            if items_per_exception > 1 {
                stack.pop();
            }
            let iterator = stack.pop();
            inputs.extend([iterator, exception]);
        }
        Op::CheckExceptionMatch => {
            let class = stack.pop();
            inputs.extend([stack.peek(1), class]);
            stack.push(fresh());
        }
        Op::WithExceptStart => {
            let exception = stack.peek(1);
            let (exit, receiver) = match minor {
                14.. => (stack.peek(5), stack.peek(4)),
                11..14 => (stack.peek(4), null),
                _ => (stack.peek(7), null),
            };
            inputs.extend([exit, receiver, exception]);
            stack.push(fresh());
        }
        _ => {}
    }
}

fn call<V: Copy + PartialEq>(
    argc: u32,
    keywords: KeywordNames,
    layout: CallLayout,
    null: V,
    stack: &mut Stack<V>,
    inputs: &mut Vec<V>,
    fresh: &mut impl FnMut() -> V,
) -> Option<V> {
    let names = (keywords == KeywordNames::OnStack).then(|| stack.pop());
    let Some(first_argument) = stack.items.len().checked_sub(argc as usize) else {
        stack.underflow = true;
        return None;
    };
    // The callee lies below the arguments but comes before them.
    let start = inputs.len();
    let arguments = first_argument..stack.items.len();
    inputs.extend([null, null]);
    inputs.extend_from_slice(&stack.items[arguments]);
    stack.items.truncate(first_argument);
    stack.low = stack.low.min(first_argument);
    let (callable, receiver) = callee_cells(layout, null, stack);
    inputs[start] = callable;
    inputs[start + 1] = receiver;
    stack.push(fresh());
    names
}

fn callee<V: Copy + PartialEq>(layout: CallLayout, null: V, stack: &mut Stack<V>, inputs: &mut Vec<V>) {
    let (callable, receiver) = callee_cells(layout, null, stack);
    inputs.extend([callable, receiver]);
}

/// Pops `callable, self-or-NULL` in whatever order the layout has them.
fn callee_cells<V: Copy + PartialEq>(layout: CallLayout, null: V, stack: &mut Stack<V>) -> (V, V) {
    let upper = stack.pop();
    match layout {
        CallLayout::Callable => (upper, null),
        CallLayout::NullAbove => (stack.pop(), upper),
        CallLayout::NullBelow => {
            let lower = stack.pop();
            if lower == null { (upper, null) } else { (lower, upper) }
        }
    }
}

/// Turns the stack that [`execute`] left into the one on the edge that jumps. `operand` is the operation's first input,
/// `first_output` its first output.
pub(crate) fn follow_jump<V: Copy>(op: Op, operand: Option<V>, first_output: Option<V>, stack: &mut Stack<V>) {
    match op {
        Op::ForIter { pops_iterator, .. } => {
            stack.pop();
            if pops_iterator {
                stack.pop();
            }
        }
        Op::Branch {
            keep: Keep::WhenJumping,
            ..
        } => {
            if let Some(operand) = operand {
                stack.push(operand);
            }
        }
        Op::Send { pops_receiver, .. } => {
            stack.pop();
            if pops_receiver {
                stack.pop();
            }
            if let Some(returned) = first_output {
                stack.push(returned);
            }
        }
        _ => {}
    }
}
