//! Programs of simulated hosts: `stream` and `echo` around the workloads' own cores, over UDP and TCP.
//!
//! They decide as the engine's real drivers do, by the same state machines. What real drivers do only because
//! their ends are apart is left out: no session is set up over the wire, no end says that it is alive, and
//! what a sender has to tell its receiver at the end ([`stream::Agreement`]) takes no frame. All frames are the
//! workload's own.

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
