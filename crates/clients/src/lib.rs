//! Clients of file services: each is a [`lanlab_files::Session`] whose every call is one operation.

mod any;
mod below;
mod directory;
mod ftp;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz_checks;
mod http;
mod kernel_port;
mod memory;
mod multiplex;
mod nfs;
mod port;
mod redirected;
mod s3;
mod sftp;
mod smb;
mod smb1;
mod transport;
mod trust;
mod user_file;
mod webdav;
mod wired_port;

pub use wired_port::CarriedSince;

pub use any::{AnyFile, AnySession, connect};
pub use below::{Below, Found, Kind};
pub use lanlab_connections::wired;
