//! A directory that is served to others, which no name leads out of, also while other programs of this host
//! put links in the place of directories.
//!
//! Everything is opened by a handle of the directory that it is in (`beneath`). [`Confined`] takes paths as
//! they are written; [`Directory`] finds names in any case and by short ones, and [`Files`] answers the
//! calls of a file server in it.

pub mod beneath;
mod calls;
pub mod changes;
mod confined;
mod directory;
pub mod free_name;
mod unseen;
mod unseen_name;

pub use calls::{Files, Served};
pub use confined::{Confined, Entries, Entry, Found, MAX_DEPTH, Names};
pub use directory::{Directory, Known, Place};
pub use unseen::Unseen;
pub use unseen_name::is_unseen;
