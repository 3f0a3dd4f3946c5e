//! Names of files that no client sees.

pub const UNSEEN: &str = ".lanlab-unseen-";

pub fn is_unseen(name: &str) -> bool {
    name.starts_with(UNSEEN)
}
