//! `metadata`: names that are created, looked up, listed, opened, renamed and removed at a file
//! service, in a tree of directories for each client. All clients do one kind of operation, then all
//! do the next.

mod phases;
#[cfg(test)]
mod tests;
mod tree;

pub use phases::{Done, OPERATIONS, Operation, Stage, perform, verify};
pub use tree::{Tree, directory_count};
