//! Dense ids of the points-to analysis.

use hognose_base::define_id;

define_id! {
    /// A module of the program, in canonical order.
    pub struct ModuleId = "m";
}
define_id! {
    /// A code object of the program: modules in canonical order, each in preorder.
    pub struct CodeId = "c";
}
define_id! {
    /// A node of the constraint graph: holds a points-to set.
    pub struct NodeId = "n";
}
define_id! {
    /// An abstract object.
    pub struct ObjId = "o";
}
define_id! {
    /// An activation: a code object under one context.
    pub struct ActId = "a";
}
define_id! {
    /// A site: one operation of one activation that the solver subscribes to receivers for.
    pub struct SiteId = "t";
}
define_id! {
    /// A symbolic external value.
    pub struct ChainId = "x";
}
define_id! {
    /// A receiver group: the receivers of one class at one site.
    pub struct GroupId = "g";
}
