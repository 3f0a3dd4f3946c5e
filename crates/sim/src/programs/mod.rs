//! Programs of simulated hosts: `stream` and `echo` around the workloads' own cores, over UDP and TCP.
//!
//! The programs use the same state machines as the engine's real drivers. They omit what only
//! separate machines need: there is no session setup over the wire, no keep-alive, and no frame for
//! a sender's final report to its receiver ([`stream::Agreement`]). All frames belong to the
//! workload.

pub(crate) mod connection;
mod cpu_meter;
pub mod echo;
mod either;
pub(crate) mod keys;
mod node;
mod station;
pub mod stream;
#[cfg(test)]
mod tests;

pub use connection::tcp_facts;
pub use cpu_meter::HostCpuMeter;
pub use keys::datagram_key;
pub use node::{HostNode, IpNode, addresses_of};
pub use station::Station;

pub const SERVER_PORT: u16 = 5201;
pub const CLIENT_PORT: u16 = 49_152;
