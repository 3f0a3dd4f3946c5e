//! Names of files that no client sees.

/// Prefix of such a name.
pub const UNSEEN: &str = ".lanlab-unseen-";

/// Whether no client sees a file of this name.
pub fn is_unseen(name: &str) -> bool {
    name.starts_with(UNSEEN)
}
