//! Which operand of an operator is asked first.
//!
//! Data model 3.3.8: "if the right operand's type is a subclass of the left operand's type and that subclass provides a
//! different implementation of the reflected method, this method is called before the left operand's method". Comparisons
//! ask a right operand of a subclass first whatever it overrides (CPython: `Objects/typeobject.c`, `SLOT1BINFULL`;
//! `Objects/object.c`, `do_richcompare`). The left operand's method is asked then only if the first answer is
//! NotImplemented. `+` and `*` of builtin sequences are no numeric methods, so the reflected method of whatever stands on
//! the right comes before them (`Objects/abstract.c`, `PyNumber_Add`); other builtin containers decline what they do not
//! know.

use super::operators::Operands;
use crate::engine::{CallKind, Engine, Fallback, GroupKey, NO_NODE, Question, Task};
use crate::ids::{NodeId, ObjId, SiteId};
use hognose_base::ReasonSet;
use smallvec::SmallVec;

/// What an operator has found out about its operands.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperatorState {
    /// Classes of left operands that are no builtin scalars. Each with the node of those right operands that do not come
    /// before it, where some may; else [`NO_NODE`].
    lefts: SmallVec<[(ObjId, NodeId); 2]>,
    rights: SmallVec<[ObjId; 2]>,
    /// Classes of right operands whose reflected method is asked first.
    first: SmallVec<[ObjId; 1]>,
    /// Whether a left operand is a builtin scalar, which declines what it does not know at once.
    scalar_left: bool,
    /// Whether a method of a left operand may be missing or decline, so that every right one is asked.
    reflects: bool,
    /// Whether right operands are listened to.
    listens: bool,
    /// The answers of operator methods.
    pub(crate) answers: Option<NodeId>,
}

impl Engine<'_> {
    /// A left operand arrived. Its method is to be asked here and now, unless some right operand may come first: then this
    /// returns false, and it is asked when another one arrives.
    pub(crate) fn left_goes_first(&mut self, site: SiteId, object: ObjId, class: ObjId, operands: &Operands) -> bool {
        let in_place = operands.in_place.is_some_and(|name| self.class_may_have(class, name));
        if in_place {
            return true;
        }
        let known = self.operators.get(&site);
        let argument = match known.and_then(|known| known.lefts.iter().find(|&&(left, _)| left == class)) {
            Some(&(_, argument)) => argument,
            None => self.new_left(site, class, operands),
        };
        if argument == NO_NODE {
            return true;
        }
        let (receiver, _) = self.group(GroupKey::Left(site), class);
        self.add_object(receiver, object);
        false
    }

    fn new_left(&mut self, site: SiteId, class: ObjId, operands: &Operands) -> NodeId {
        let yields = self.may_yield(class, operands);
        let argument = if yields { self.solver.node() } else { NO_NODE };
        let known = self.operators.entry(site).or_default();
        known.lefts.push((class, argument));
        for right in known.rights.clone() {
            self.rank(site, class, right, operands);
        }
        // Those that are there already have been handed out, or will be.
        if self.listens_right(site, operands) {
            if self.operators[&site].rights.is_empty() {
                // The first left operand that is no builtin scalar arrived after some right ones.
                let rights = self.rights(operands);
                self.rank_rights(&rights, site, operands);
            }
            if yields {
                let rights = self.rights(operands);
                let reasons = match operands.right {
                    NO_NODE => ReasonSet::EMPTY,
                    right => self.solver.reasons(right),
                };
                self.right_after(&rights, reasons, site, class, argument, operands);
            }
        }
        argument
    }

    /// Whether some subclass of the class, as a right operand, may come before it.
    fn may_yield(&mut self, class: ObjId, operands: &Operands) -> bool {
        let key = (class, operands.reflected, operands.compares);
        let state = self.classes.generation;
        if let Some(&(known, answer)) = self.yielding.get(&key)
            && known == state
        {
            return answer;
        }
        let answer = self
            .with_subclasses(class)
            .into_iter()
            .any(|right| self.outranks(right, class, operands, true));
        self.yielding.insert(key, (state, answer));
        answer
    }

    /// The right operands so far.
    fn rights(&self, operands: &Operands) -> SmallVec<[ObjId; 6]> {
        if operands.right == NO_NODE {
            return SmallVec::new();
        }
        self.solver.set(operands.right).members()
    }

    /// Listens to the right operands of a site. Whether that was done before.
    fn listens_right(&mut self, site: SiteId, operands: &Operands) -> bool {
        let known = self.operators.entry(site).or_default();
        let before = std::mem::replace(&mut known.listens, true);
        if !before {
            self.on(operands.right, Task::RightOperand { site });
        }
        before
    }

    /// A left operand is a builtin scalar.
    pub(crate) fn scalar_left(&mut self, site: SiteId, operands: &Operands) {
        let known = self.operators.entry(site).or_default();
        if !std::mem::replace(&mut known.scalar_left, true) && self.listens_right(site, operands) {
            let rights = self.rights(operands);
            self.reflected_scalar(&rights, site, operands);
        }
    }

    /// Asks the reflected method of whatever stands on the right.
    pub(crate) fn ask_reflected(&mut self, site: SiteId, operands: &Operands) {
        let known = self.operators.entry(site).or_default();
        if !std::mem::replace(&mut known.reflects, true) && self.listens_right(site, operands) {
            let rights = self.rights(operands);
            self.reflected(&rights, site, operands);
        }
    }

    /// Right operands arrived.
    pub(crate) fn right_operand(&mut self, objects: &[ObjId], reasons: ReasonSet, site: SiteId) {
        let Some(operands) = self.operands(site) else { return };
        let Some(known) = self.operators.get(&site) else { return };
        if known.scalar_left {
            self.reflected_scalar(objects, site, &operands);
        }
        self.rank_rights(objects, site, &operands);
        let known = &self.operators[&site];
        if known.reflects {
            self.reflected(objects, site, &operands);
        } else if !known.first.is_empty() {
            let first = known.first.clone();
            for &object in objects {
                if self.class_of(object).is_some_and(|class| first.contains(&class)) {
                    self.reflected(&[object], site, &operands);
                }
            }
        }
        for (class, argument) in self.operators[&site].lefts.clone() {
            if argument != NO_NODE {
                self.right_after(objects, reasons, site, class, argument, &operands);
            }
        }
    }

    /// Compares the classes of right operands with those of the left ones that are no builtin scalars.
    fn rank_rights(&mut self, objects: &[ObjId], site: SiteId, operands: &Operands) {
        for &object in objects {
            let Some(class) = self.class_of(object) else { continue };
            let Some(known) = self.operators.get_mut(&site) else {
                continue;
            };
            if known.lefts.is_empty() || self.known.is_scalar(class) || known.rights.contains(&class) {
                continue;
            }
            known.rights.push(class);
            for (left, _) in known.lefts.clone() {
                self.rank(site, left, class, operands);
            }
        }
    }

    /// Asks the reflected method of the right operands of a class first, if it comes before the left class.
    fn rank(&mut self, site: SiteId, left: ObjId, right: ObjId, operands: &Operands) {
        if !self.outranks(right, left, operands, false) {
            return;
        }
        let known = self.operators.entry(site).or_default();
        if known.first.contains(&right) {
            return;
        }
        known.first.push(right);
        if !known.reflects {
            let rights = self.rights(operands);
            for object in rights {
                if self.class_of(object) == Some(right) {
                    self.reflected(&[object], site, operands);
                }
            }
        }
    }

    /// Whether the reflected method of the right class is asked before the left one's: certainly so, or possibly.
    fn outranks(&mut self, right: ObjId, left: ObjId, operands: &Operands, certainly: bool) -> bool {
        let name = self.compared_by(right, operands.reflected);
        if right == left || !self.class_may_have(right, name) {
            return false;
        }
        if !operands.compares && self.known.is_container(left) {
            return !self.known.is_container(right) && (!certainly || self.certainly_has(right, name));
        }
        let below = if certainly {
            self.classes.certainly_subclass(right, left) && self.certainly_has(right, name)
        } else {
            self.classes.is_subclass(right, left)
        };
        below && (operands.compares || self.shared_lookup(right, name) != self.shared_lookup(left, name))
    }

    /// Right operands arrived: those that do not come before the left class are given to its method.
    fn right_after(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        site: SiteId,
        class: ObjId,
        argument: NodeId,
        operands: &Operands,
    ) {
        let mut any = !reasons.is_empty();
        for &object in objects {
            let first = self
                .class_of(object)
                .is_some_and(|right| self.outranks(right, class, operands, true));
            if !first {
                self.add_object(argument, object);
                any = true;
            }
        }
        self.add_reasons(argument, reasons);
        if any {
            self.ask_left(site, class, argument, operands);
        }
    }

    /// A method at the site declined: the left operands that waited are asked with every right operand.
    pub(crate) fn ask_waiting_lefts(&mut self, site: SiteId, operands: &Operands) {
        let Some(known) = self.operators.get(&site) else {
            return;
        };
        for (class, argument) in known.lefts.clone() {
            if argument != NO_NODE {
                self.add_edge(operands.right, argument);
                self.ask_left(site, class, argument, operands);
            }
        }
    }

    /// Asks the method of left operands of a class, once.
    fn ask_left(&mut self, site: SiteId, class: ObjId, argument: NodeId, operands: &Operands) {
        if !self.asked_lefts.insert(argument) {
            return;
        }
        let name = self.compared_by(class, operands.direct);
        let (receiver, _) = self.group(GroupKey::Left(site), class);
        let partial = self.declining(site, operands.result);
        let kind = CallKind::Protocol(name);
        self.method_call(class, receiver, name, site, &[argument], partial, kind);
        self.questions.push(Question::Fallback {
            class,
            tried: name,
            site,
            then: Fallback::Reflected,
        });
    }
}
