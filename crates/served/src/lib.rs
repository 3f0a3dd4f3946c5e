//! A served directory that no path can leave, even while other programs replace directories by links.
//!
//! Everything is opened through the handle of its directory (`beneath`). [`Confined`] uses exact paths;
//! [`Directory`] also finds names in any case and short names, and [`Files`] answers a file server's calls in it.

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
pub use directory::{Directory, Known, Place, Unchanged};
pub use unseen::Unseen;
pub use unseen_name::is_unseen;
