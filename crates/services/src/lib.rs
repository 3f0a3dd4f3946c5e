//! File services behind one interface: open, read at, write at, close, remove, list, make directory.
//!
//! A client is a [`Session`]: one connection of one user. What it does for one call is what the
//! protocol does for one operation, so that each can be timed; nothing is retried, cached or read
//! ahead in secret. A [`Manner`] says how a file is best moved by it. A server that is embedded
//! ([`servers`]) serves one directory until it is told to end.
//!
//! Both ends set `TCP_NODELAY`: a lab that measures its own 40 ms of Nagle's algorithm and delayed
//! acknowledgements (RFC 896, RFC 1122 section 4.2.3.2) measures nothing else.

mod any;
mod below;
mod calendar;
mod clients;
mod fault;
mod ftp;
pub mod hostile;
mod multiplex;
mod nfs3;
mod path;
mod positioned;
pub mod servers;
mod session;
mod sftp;
mod sigv4;
mod target;
mod transport;
mod trust;
mod user_file;

pub use any::{AnyFile, AnySession, connect};
pub use below::{Below, Found, Kind};
pub use fault::{Class, Fault, Result};
pub use path::{BadPath, ServicePath};
pub use positioned::{read_at, write_all_at};
pub use session::{Access, Entry, Facts, Manner, Session};
pub use target::{Credentials, ServiceKind, Target, Trust};
pub use transport::Pace;
