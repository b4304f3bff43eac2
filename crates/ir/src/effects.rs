//! What operations do to the operand stack, whether they may raise, where they jump.
//!
//! Effects follow the `inputs -> outputs` comments of [`Op`]: only what is named there is popped and pushed; what stands
//! behind `...` stays untouched and is counted by [`Op::reach`] alone.

use crate::op::{CallLayout, Intrinsic, Keep, KeywordNames, Op, Raises, StackEffect, Target, Test};
use hognose_pyc::PythonVersion;

const fn effect(pops: u32, pushes: u32) -> StackEffect {
    StackEffect { pops, pushes }
}

/// Up to 3.10 an exception on the stack is three values.
const fn exception_parts(version: PythonVersion) -> u32 {
    if version.minor <= 10 { 3 } else { 1 }
}

/// Values of a call besides its arguments and keyword names.
const fn callee(layout: CallLayout) -> u32 {
    match layout {
        CallLayout::Callable => 1,
        CallLayout::NullBelow | CallLayout::NullAbove => 2,
    }
}

impl Op {
    /// What it takes from the stack and leaves there, when it goes on (`jumping` is false) or goes to its target.
    ///
    /// The stack at a handler is not an effect of the instruction; see [`crate::Region`].
    #[must_use]
    pub const fn stack_effect(self, version: PythonVersion, jumping: bool) -> StackEffect {
        match self {
            Self::Nop
            | Self::Swap { .. }
            | Self::Rotate { .. }
            | Self::DeleteLocal(_)
            | Self::MakeCell(_)
            | Self::DeleteDeref(_)
            | Self::CopyFreeVars
            | Self::DeleteName(_)
            | Self::DeleteGlobal(_)
            | Self::SetupAnnotations
            | Self::Jump { .. }
            | Self::Resume(_)
            | Self::SetupBlock
            | Self::PopBlock
            | Self::Unsupported(_) => effect(0, 0),
            Self::Copy { .. }
            | Self::PushNull
            | Self::Const(_)
            | Self::SmallInt(_)
            | Self::CommonConst(_)
            | Self::LoadBuildClass
            | Self::LoadLocal { .. }
            | Self::LoadLocalAndClear(_)
            | Self::LoadCell(_)
            | Self::LoadDeref(_)
            | Self::LoadClassDeref(_)
            | Self::LoadLocals
            | Self::LoadName(_)
            | Self::LoadGlobal(_)
            | Self::ReturnGenerator
            | Self::WithExceptStart => effect(0, 1),
            Self::Pop
            | Self::StoreLocal(_)
            | Self::StoreDeref(_)
            | Self::StoreName(_)
            | Self::StoreGlobal(_)
            | Self::DeleteAttr(_)
            | Self::ListAppend { .. }
            | Self::SetAdd { .. }
            | Self::ListExtend { .. }
            | Self::SetUpdate { .. }
            | Self::DictUpdate { .. }
            | Self::DictMerge { .. }
            | Self::Return => effect(1, 0),
            Self::LoadFromDictOrDeref(_)
            | Self::LoadFromDictOrGlobals(_)
            | Self::LoadAttr(_)
            | Self::Unary(_)
            | Self::Convert(_)
            | Self::GetIter
            | Self::GetYieldFromIter
            | Self::GetAsyncIter
            | Self::GetAwaitable
            | Self::Yield => effect(1, 1),
            Self::LoadMethod(_)
            | Self::GetAsyncNext
            | Self::GetLen
            | Self::MatchMapping
            | Self::MatchSequence
            | Self::ImportFrom(_)
            | Self::PushExcInfo
            | Self::EnterContext
            | Self::EnterAsyncContext
            | Self::LoadSpecial(_) => effect(1, 2),
            Self::StoreAttr(_) | Self::DeleteItem | Self::MapAdd { .. } | Self::BranchNotExceptionMatch { .. } => {
                effect(2, 0)
            }
            Self::LoadItem
            | Self::Binary { .. }
            | Self::Compare { .. }
            | Self::Is { .. }
            | Self::Contains { .. }
            | Self::BuildTemplate
            | Self::SetFunctionPart(_)
            | Self::ImportName(_)
            | Self::YieldFrom
            | Self::EndSend => effect(2, 1),
            Self::CopyDictWithoutKeys | Self::CheckExceptionMatch | Self::CheckGroupMatch => effect(2, 2),
            Self::StoreItem => effect(3, 0),
            Self::LoadSuperAttr { .. } | Self::LoadSlice => effect(3, 1),
            Self::LoadSuperMethod { .. } | Self::CleanupThrow => effect(3, 2),
            Self::StoreSlice => effect(4, 0),
            Self::BuildTuple(count)
            | Self::BuildList(count)
            | Self::BuildSet(count)
            | Self::BuildString(count)
            | Self::BuildSlice(count) => effect(count, 1),
            Self::BuildMap(pairs) => effect(pairs.saturating_mul(2), 1),
            Self::BuildConstKeyMap(count) => effect(count.saturating_add(1), 1),
            Self::BuildInterpolation { format, .. } => effect(2 + format as u32, 1),
            Self::FormatValue { spec, .. } => effect(1 + spec as u32, 1),
            Self::UnpackSequence(count) => effect(1, count),
            Self::UnpackStar { before, after } => effect(1, before.saturating_add(after).saturating_add(1)),
            Self::ForIter { pops_iterator, .. } => match (jumping, pops_iterator) {
                (false, _) => effect(1, 2),
                (true, true) => effect(1, 0),
                (true, false) => effect(1, 1),
            },
            // 3.12 has one for both the iterator and the item that a specialised generator left.
            Self::EndFor => effect(if version.minor == 12 { 2 } else { 1 }, 0),
            Self::EndAsyncFor => effect(if version.minor <= 10 { 7 } else { 2 }, 0),
            Self::MatchKeys { pushes_bool } => effect(2, 3 + pushes_bool as u32),
            Self::MatchClass { pushes_bool, .. } => effect(3, 1 + pushes_bool as u32),
            Self::Call { argc, keywords, layout } => {
                let names = matches!(keywords, KeywordNames::OnStack) as u32;
                effect(argc.saturating_add(callee(layout) + names), 1)
            }
            Self::CallStar {
                mapping,
                mapping_or_null,
                layout,
            } => effect(callee(layout) + 1 + (mapping || mapping_or_null) as u32, 1),
            Self::MakeFunction(parts) => {
                let attached = parts.defaults as u32
                    + parts.keyword_defaults as u32
                    + parts.annotations as u32
                    + parts.closure as u32
                    + parts.qualname as u32;
                effect(1 + attached, 1)
            }
            Self::Intrinsic(intrinsic) => effect(intrinsic.arguments(), 1),
            Self::Branch { keep, .. } => match (keep, jumping) {
                (Keep::WhenJumping, true) => effect(1, 1),
                (Keep::WhenJumping, false) | (Keep::Never, _) => effect(1, 0),
            },
            Self::Send { pops_receiver, .. } => effect(2, if jumping && pops_receiver { 1 } else { 2 }),
            Self::Raise(count) => effect(count, 0),
            Self::Reraise { .. } | Self::PopExcept => effect(exception_parts(version), 0),
        }
    }

    /// How many values must lie on the stack: what is popped, or a value deeper down that is looked at or moved.
    #[must_use]
    pub const fn reach(self, version: PythonVersion) -> u32 {
        match self {
            Self::Copy { depth } | Self::Swap { depth } | Self::Rotate { depth } => depth as u32,
            Self::ListAppend { depth }
            | Self::SetAdd { depth }
            | Self::ListExtend { depth }
            | Self::SetUpdate { depth }
            | Self::DictUpdate { depth } => depth as u32 + 1,
            Self::MapAdd { depth } => depth as u32 + 2,
            // The callee lies below the mapping and the positional arguments; it is looked at for messages only.
            Self::DictMerge { depth } => depth as u32 + 1,
            Self::WithExceptStart => match version.minor {
                ..=10 => 7,
                11..=13 => 4,
                _ => 5,
            },
            Self::Reraise { lasti } if version.minor >= 11 => lasti as u32 + 1,
            _ => {
                let (on, jumping) = (self.stack_effect(version, false), self.stack_effect(version, true));
                if on.pops > jumping.pops { on.pops } else { jumping.pops }
            }
        }
    }

    /// Whether it may raise by itself.
    ///
    /// A branch on truth may call `__bool__`; it cannot raise when its operand is the result of [`crate::UnaryOp::ToBool`] or
    /// [`crate::UnaryOp::Not`], of [`Op::Is`], [`Op::Contains`], a match test or a comparison converted to bool, which the caller
    /// knows. A suspended frame can have an exception thrown in, so `Yield` may raise.
    #[must_use]
    pub const fn raises(self) -> Raises {
        match self {
            Self::Raise(_) | Self::Reraise { .. } => Raises::Always,
            Self::LoadLocal { may_be_unbound, .. } => {
                if may_be_unbound { Raises::May } else { Raises::Never }
            }
            Self::Branch { test, .. } => match test {
                Test::Truth(_) => Raises::May,
                Test::IsNone(_) => Raises::Never,
            },
            Self::Intrinsic(intrinsic) => intrinsic.raises(),
            Self::Nop
            | Self::Pop
            | Self::Copy { .. }
            | Self::Swap { .. }
            | Self::Rotate { .. }
            | Self::PushNull
            | Self::Const(_)
            | Self::SmallInt(_)
            | Self::CommonConst(_)
            | Self::LoadBuildClass
            | Self::LoadLocalAndClear(_)
            | Self::StoreLocal(_)
            | Self::MakeCell(_)
            | Self::LoadCell(_)
            | Self::StoreDeref(_)
            | Self::CopyFreeVars
            | Self::LoadLocals
            | Self::StoreGlobal(_)
            | Self::Is { .. }
            | Self::BuildTuple(_)
            | Self::BuildList(_)
            | Self::BuildConstKeyMap(_)
            | Self::BuildString(_)
            | Self::BuildSlice(_)
            | Self::BuildTemplate
            | Self::BuildInterpolation { .. }
            | Self::ListAppend { .. }
            | Self::EndFor
            | Self::MatchMapping
            | Self::MatchSequence
            | Self::MakeFunction(_)
            | Self::SetFunctionPart(_)
            | Self::SetupAnnotations
            | Self::Jump { .. }
            | Self::Return
            | Self::ReturnGenerator
            | Self::Resume(_)
            | Self::EndSend
            | Self::PushExcInfo
            | Self::PopExcept
            | Self::SetupBlock
            | Self::PopBlock => Raises::Never,
            // An empty one hashes nothing.
            Self::BuildSet(0) | Self::BuildMap(0) => Raises::Never,
            Self::BuildSet(_)
            | Self::BuildMap(_)
            | Self::DeleteLocal(_)
            | Self::LoadDeref(_)
            | Self::DeleteDeref(_)
            | Self::LoadClassDeref(_)
            | Self::LoadFromDictOrDeref(_)
            | Self::LoadFromDictOrGlobals(_)
            | Self::LoadName(_)
            // The namespace of a class body may be any mapping (`__prepare__`).
            | Self::StoreName(_)
            | Self::DeleteName(_)
            | Self::LoadGlobal(_)
            | Self::DeleteGlobal(_)
            | Self::LoadAttr(_)
            | Self::LoadMethod(_)
            | Self::LoadSuperAttr { .. }
            | Self::LoadSuperMethod { .. }
            | Self::StoreAttr(_)
            | Self::DeleteAttr(_)
            | Self::LoadItem
            | Self::StoreItem
            | Self::DeleteItem
            | Self::LoadSlice
            | Self::StoreSlice
            | Self::Unary(_)
            | Self::Binary { .. }
            | Self::Compare { .. }
            | Self::Contains { .. }
            | Self::SetAdd { .. }
            | Self::MapAdd { .. }
            | Self::ListExtend { .. }
            | Self::SetUpdate { .. }
            | Self::DictUpdate { .. }
            | Self::DictMerge { .. }
            | Self::FormatValue { .. }
            | Self::Convert(_)
            | Self::UnpackSequence(_)
            | Self::UnpackStar { .. }
            | Self::GetIter
            | Self::GetYieldFromIter
            | Self::ForIter { .. }
            | Self::GetAsyncIter
            | Self::GetAsyncNext
            | Self::EndAsyncFor
            | Self::GetAwaitable
            | Self::GetLen
            | Self::MatchKeys { .. }
            | Self::MatchClass { .. }
            | Self::CopyDictWithoutKeys
            | Self::Call { .. }
            | Self::CallStar { .. }
            | Self::ImportName(_)
            | Self::ImportFrom(_)
            | Self::BranchNotExceptionMatch { .. }
            | Self::Yield
            | Self::Send { .. }
            | Self::YieldFrom
            | Self::CleanupThrow
            | Self::CheckExceptionMatch
            | Self::CheckGroupMatch
            | Self::EnterContext
            | Self::EnterAsyncContext
            | Self::LoadSpecial(_)
            | Self::WithExceptStart
            | Self::Unsupported(_) => Raises::May,
        }
    }

    /// Where it may jump to.
    #[must_use]
    pub const fn target(self) -> Option<Target> {
        match self {
            Self::ForIter { exhausted: target, .. }
            | Self::Send { exhausted: target, .. }
            | Self::Jump { target }
            | Self::Branch { target, .. }
            | Self::BranchNotExceptionMatch { target } => Some(target),
            _ => None,
        }
    }

    /// Changes where it may jump to; nothing happens if it does not jump.
    pub const fn set_target(&mut self, to: Target) {
        match self {
            Self::ForIter { exhausted: target, .. }
            | Self::Send { exhausted: target, .. }
            | Self::Jump { target }
            | Self::Branch { target, .. }
            | Self::BranchNotExceptionMatch { target } => *target = to,
            _ => {}
        }
    }

    /// Whether control may go on at the next instruction (behind a suspension, too).
    #[must_use]
    pub const fn falls_through(self) -> bool {
        !matches!(
            self,
            Self::Jump { .. } | Self::Return | Self::Raise(_) | Self::Reraise { .. } | Self::Unsupported(_)
        )
    }

    /// Whether a basic block ends behind it: it jumps, leaves the frame, or suspends it.
    #[must_use]
    pub const fn is_terminator(self) -> bool {
        self.target().is_some() || !self.falls_through() || matches!(self, Self::Yield | Self::YieldFrom)
    }
}

impl Intrinsic {
    /// How many values it takes; it always leaves one.
    #[must_use]
    pub const fn arguments(self) -> u32 {
        match self {
            Self::Print
            | Self::ImportStar
            | Self::StopIterationError
            | Self::AsyncGenWrap
            | Self::ListToTuple
            | Self::TypeVar
            | Self::ParamSpec
            | Self::TypeVarTuple
            | Self::SubscriptGeneric
            | Self::TypeAlias => 1,
            Self::PrepReraiseStar
            | Self::TypeVarWithBound
            | Self::TypeVarWithConstraints
            | Self::SetFunctionTypeParams
            | Self::SetTypeParamDefault => 2,
        }
    }

    const fn raises(self) -> Raises {
        match self {
            // `sys.displayhook`, the import system, `typing` and the methods of exception groups run Python code.
            Self::Print | Self::ImportStar | Self::SubscriptGeneric | Self::PrepReraiseStar => Raises::May,
            Self::StopIterationError
            | Self::AsyncGenWrap
            | Self::ListToTuple
            | Self::TypeVar
            | Self::ParamSpec
            | Self::TypeVarTuple
            | Self::TypeAlias
            | Self::TypeVarWithBound
            | Self::TypeVarWithConstraints
            | Self::SetFunctionTypeParams
            | Self::SetTypeParamDefault => Raises::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::InstId;

    fn all() -> Vec<Op> {
        let mut at = 0_u32;
        Op::samples(&mut |below| {
            at = at.wrapping_mul(0x9E37_79B1).wrapping_add(7);
            at % below
        })
    }

    #[test]
    fn only_jumps_have_a_target_and_they_end_a_block() {
        let mut jumps = Vec::new();
        for mut op in all() {
            let before = op;
            op.set_target(InstId::new(77));
            match op.target() {
                Some(target) => {
                    assert_eq!(target, InstId::new(77));
                    assert!(op.is_terminator(), "{op}");
                    jumps.push(op.mnemonic());
                }
                None => assert_eq!(op, before),
            }
            assert!(op.falls_through() || op.is_terminator(), "{op}");
        }
        assert_eq!(jumps, ["ForIter", "Jump", "Branch", "BranchNotExceptionMatch", "Send"]);
    }

    #[test]
    fn no_effect_overflows_and_what_is_taken_is_reached() {
        for minor in 8..=15 {
            let version = PythonVersion::new(minor);
            for op in all() {
                for jumping in [false, true] {
                    assert!(op.stack_effect(version, jumping).pops <= op.reach(version), "{op}");
                }
            }
        }
        assert_eq!(Op::BuildMap(u32::MAX).reach(PythonVersion::new(12)), u32::MAX);
    }

    #[test]
    fn moving_values_around_never_raises() {
        let never = all()
            .into_iter()
            .filter(|op| op.raises() == Raises::Never)
            .map(Op::mnemonic)
            .collect::<Vec<_>>();
        for name in [
            "Nop",
            "Pop",
            "Copy",
            "Swap",
            "Rotate",
            "PushNull",
            "Const",
            "StoreLocal",
            "BuildTuple",
            "Is",
            "Return",
        ] {
            assert!(never.contains(&name), "{name}");
        }
        for name in [
            "LoadName",
            "LoadAttr",
            "Call",
            "Binary",
            "ForIter",
            "UnpackSequence",
            "ImportName",
            "FormatValue",
            "Yield",
        ] {
            assert!(!never.contains(&name), "{name}");
        }
        assert_eq!(Op::Raise(0).raises(), Raises::Always);
    }
}
