//! Prefix of file names that clients cannot see.

pub const UNSEEN: &str = ".lanlab-unseen-";

pub fn is_unseen(name: &str) -> bool {
    name.starts_with(UNSEEN)
}
