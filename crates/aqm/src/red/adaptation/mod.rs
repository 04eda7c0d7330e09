//! Adaptation: how parameters move while the queue runs.

/// The rules to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adaptation {
    /// Parameters stay as they are.
    #[default]
    None,
}
