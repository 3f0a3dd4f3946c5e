//! File services behind one interface: open, read at, write at, close, remove, list, make directory.
//!
//! A client is a [`Session`]: one connection of one user. What it does for one call is what the
//! protocol does for one operation, so that each can be timed; nothing is retried, cached or read
//! ahead in secret. Its [`TransferCapabilities`] say how it moves a file best. A server that is embedded
//! ([`servers`]) serves one directory until it is told to end.
//!
//! Both ends set `TCP_NODELAY`: a lab that measures its own 40 ms of Nagle's algorithm and delayed
//! acknowledgements (RFC 896, RFC 1122 section 4.2.3.2) measures nothing else.

mod any;
mod below;
mod calendar;
mod clients;
mod ftp;
pub mod hostile;
mod multiplex;
mod nfs3;
mod positioned;
pub mod servers;
mod sftp;
mod sigv4;
mod transport;
mod trust;
mod user_file;

// The interface itself is a crate of its own: the workloads see it, and no protocol.
pub use lanlab_files::{
    Access, BadPath, Class, Credentials, Entry, Facts, Fault, MinimumRate, Result, ServiceKind,
    ServicePath, Session, Target, TransferCapabilities, Trust,
};
use lanlab_files::{fault, minimum_rate, path, session, target};

pub use any::{AnyFile, AnySession, connect};
pub use below::{Below, Found, Kind};
pub use positioned::{read_at, write_all_at};
