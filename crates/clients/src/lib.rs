//! Clients of file services. Each is a [`lanlab_files::Session`], and each of its calls is one
//! operation.

mod any;
mod confined_directory;
mod directory;
pub mod exchanges;
pub mod ftp;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../tests/fuzz_checks/mod.rs"]
pub mod fuzz_checks;
mod http;
mod memory;
mod multiplex;
mod ncp;
mod nfs;
mod nfs4;
mod raw_link;
mod s3;
mod sftp;
pub mod small;
mod smb;
mod smb1;
mod station;
mod tcp_messages;
mod transport;
mod trust;
mod user_file;
mod webdav;

pub use station::CarriedSince;

pub use any::{AnyFile, AnySession, connect, connect_unless_refused, places};
pub use confined_directory::{ConfinedDirectory, Found, Kind};
pub use lanlab_connections::{RECORDER_BYTES, Recorder, wired};
