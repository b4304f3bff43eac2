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
use crate::template::Operation;
use hognose_base::ReasonSet;
use smallvec::{SmallVec, smallvec};

/// The classes of the operands that arrived at a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperandClasses {
    /// Each with the node of those right operands that do not come before it, where some may; else [`NO_NODE`].
    lefts: SmallVec<[(ObjId, NodeId); 2]>,
    rights: SmallVec<[ObjId; 2]>,
    /// Classes of right operands whose reflected method is asked first.
    first: SmallVec<[ObjId; 1]>,
}

impl Engine<'_> {
    /// A left operand arrived. Its method is to be asked here and now, unless some right operand may come first: then this
    /// returns false, and it is asked when another one arrives.
    pub(crate) fn left_goes_first(&mut self, site: SiteId, object: ObjId, class: ObjId, operands: &Operands) -> bool {
        let in_place = operands
            .in_place
            .is_some_and(|name| self.class_may_have(class, self.symbol(name)));
        if in_place {
            return true;
        }
        let known = self.operand_classes.get(&site);
        let argument = match known.and_then(|known| known.lefts.iter().find(|&&(left, _)| left == class)) {
            Some(&(_, argument)) => argument,
            None => self.new_left(site, class, known.is_none(), operands),
        };
        if argument == NO_NODE {
            return true;
        }
        let (receiver, _) = self.group(GroupKey::Left(site), class);
        self.add_object(receiver, object);
        false
    }

    fn new_left(&mut self, site: SiteId, class: ObjId, fresh: bool, operands: &Operands) -> NodeId {
        let yields = self
            .with_subclasses(class)
            .into_iter()
            .any(|right| self.outranks(site, right, class, operands, true));
        let argument = if yields { self.solver.node() } else { NO_NODE };
        let known = self.operand_classes.entry(site).or_default();
        known.lefts.push((class, argument));
        let rights = known.rights.clone();
        for right in rights {
            self.rank(site, class, right, operands);
        }
        if fresh {
            self.on(operands.right, Task::RightOperand { site });
        }
        if yields {
            self.on(operands.right, Task::RightAfter { site, class, argument });
        }
        argument
    }

    /// Right operands arrived at a site with left operands that are no builtin scalars.
    pub(crate) fn right_operand(&mut self, objects: &[ObjId], site: SiteId) {
        let Some(operands) = self.operands(site) else { return };
        for &object in objects {
            let Some(class) = self.class_of(object) else { continue };
            let Some(known) = self.operand_classes.get_mut(&site) else {
                continue;
            };
            if self.known.is_scalar(class) || known.rights.contains(&class) {
                continue;
            }
            known.rights.push(class);
            let lefts = known.lefts.clone();
            for (left, _) in lefts {
                self.rank(site, left, class, &operands);
            }
        }
    }

    /// Asks the reflected method of the right operands of a class first, if it comes before the left class.
    fn rank(&mut self, site: SiteId, left: ObjId, right: ObjId, operands: &Operands) {
        if !self.outranks(site, right, left, operands, false) {
            return;
        }
        let known = self.operand_classes.entry(site).or_default();
        if !known.first.contains(&right) {
            known.first.push(right);
            self.on(operands.right, Task::RightFirst { site, class: right });
        }
    }

    /// Whether the reflected method of the right class is asked before the left one's: certainly so, or possibly.
    fn outranks(&mut self, site: SiteId, right: ObjId, left: ObjId, operands: &Operands, certainly: bool) -> bool {
        let compares = matches!(*self.operation(site), Operation::Compare { .. });
        let name = self.compared_by(right, self.symbol(operands.reflected));
        if right == left || !self.class_may_have(right, name) {
            return false;
        }
        if !compares && self.known.is_container(left) {
            return !self.known.is_container(right) && (!certainly || self.certainly_has(right, name));
        }
        let below = if certainly {
            self.classes.certainly_subclass(right, left) && self.certainly_has(right, name)
        } else {
            self.classes.is_subclass(right, left)
        };
        below && (compares || self.shared_lookup(right, name) != self.shared_lookup(left, name))
    }

    /// Right operands arrived of which those of a class are asked first.
    pub(crate) fn right_first(&mut self, objects: &[ObjId], site: SiteId, class: ObjId) {
        let Some(operands) = self.operands(site) else { return };
        let name = self.symbol(operands.reflected);
        for &object in objects {
            if self.class_of(object) == Some(class) {
                self.reflected(&[object], site, name);
            }
        }
    }

    /// Right operands arrived: those that do not come before the left class are given to its method.
    pub(crate) fn right_after(
        &mut self,
        objects: &[ObjId],
        reasons: ReasonSet,
        site: SiteId,
        class: ObjId,
        argument: NodeId,
    ) {
        let Some(operands) = self.operands(site) else { return };
        let mut any = !reasons.is_empty();
        for &object in objects {
            let first = self
                .class_of(object)
                .is_some_and(|right| self.outranks(site, right, class, &operands, true));
            if !first {
                self.add_object(argument, object);
                any = true;
            }
        }
        self.add_reasons(argument, reasons);
        if any {
            self.ask_left(site, class, argument, &operands);
        }
    }

    /// A method at the site declined: the left operands that waited are asked with every right operand.
    pub(crate) fn ask_waiting_lefts(&mut self, site: SiteId, operands: &Operands) {
        let Some(known) = self.operand_classes.get(&site) else {
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
        let name = self.compared_by(class, self.symbol(operands.direct));
        let (receiver, _) = self.group(GroupKey::Left(site), class);
        let partial = self.declining(site, operands.result);
        let kind = CallKind::Protocol(name);
        self.method_call(class, receiver, name, site, smallvec![argument], partial, kind);
        self.questions.push(Question::Fallback {
            class,
            tried: name,
            site,
            then: Fallback::Reflected {
                name: self.symbol(operands.reflected),
                right: operands.right,
            },
        });
    }
}
