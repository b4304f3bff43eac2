//! What can be chosen about a run of the points-to analysis.

/// Which functions are entry points besides the module bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Module bodies only.
    Modules,
    /// Module bodies, and every function that nothing else reaches, called by an unknown caller.
    #[default]
    Exports,
}

/// Configuration of one run.
#[derive(Clone, Debug)]
pub struct PtaConfig {
    /// The root set.
    pub roots: Roots,
    /// Merge all definitions of a local (`--sensitivity insensitive`).
    pub merge_definitions: bool,
    /// Bind defaults even where an argument is passed (the projection of the PyCG benchmark).
    pub always_bind_defaults: bool,
    /// Do not reject calls whose arguments do not fit (the projection of the PyCG benchmark).
    pub ignore_arity: bool,
    /// How many model calls may be cloned inside one another.
    pub model_depth: u32,
    /// Clones that one call may lead to; what it calls beyond shares one activation with all that do.
    pub max_clones: u32,
    /// Objects that the receiver of a call may be before the call makes no more clones.
    pub crowd: usize,
    /// Objects one variable or field may hold before it carries the reason *budget* instead of more; 0 is no limit.
    pub max_objects: usize,
    /// Propagation steps after which the run stops with a partial result.
    pub max_steps: Option<u64>,
    /// Edges of the constraint graph after which the run stops with a partial result: they are what its memory grows with.
    pub max_edges: Option<u64>,
}

impl Default for PtaConfig {
    fn default() -> Self {
        Self {
            roots: Roots::Exports,
            merge_definitions: false,
            always_bind_defaults: false,
            ignore_arity: false,
            model_depth: 6,
            max_clones: 16,
            crowd: 8,
            max_objects: 12,
            max_steps: Some(60_000_000),
            max_edges: Some(40_000_000),
        }
    }
}
