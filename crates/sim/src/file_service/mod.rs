//! File services on simulated hosts: servers over a processor, a cache and a disk, and their clients.
//!
//! Server and redirector are the same code as for real files. The model covers the rest: the time
//! of a call, the cache, the disk. [`Contents`] stores the data, so that written bytes are read
//! back with any cache and disk.

mod byte_stream;
mod cache;
mod client_disk;
mod contents;
mod disk;
mod message_port;
mod served_files;
mod serving;
mod store;
mod turns;

pub use byte_stream::ByteStream;
pub use client_disk::{ClientDisk, WithDisk};
pub use contents::{Contents, Expected};
pub use disk::{Access, Disk};
pub use message_port::SimulatedPort;
pub use served_files::ServedFiles;
pub use serving::{Carriage, NETBIOS_PORT, Served, connect, serve};
pub use store::Store;
