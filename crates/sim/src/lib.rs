//! Hosts of any time on a virtual clock: processors, adapters and media around the protocols' own code.
//!
//! A [`World`] is one replication, in one thread. Its hosts have a processor of three levels, an adapter
//! on a medium, and a [`Node`]: the protocol machines. Programs are futures that run on a host and use
//! its node through a [`Host`]. Nothing here reads a clock, opens a socket or starts a thread, and the
//! same plan and seed give the same events, frame by frame.
//!
//! # The way of a frame
//!
//! 1. It arrives, and takes a place in the adapter's ring. Full: it is dropped, and counted.
//! 2. The *interrupt* cost, at interrupt level. Then it takes a place in the receive queue. Full: it is
//!    dropped, and counted.
//! 3. The *protocol* cost, at protocol level. Then the node handles it, in no time, and the programs that
//!    wait for what has changed go on.
//! 4. What programs do costs time at program level, by [`Host::compute`] and [`Host::call`].
//! 5. A frame that the node sends costs the *transmit* cost, at protocol level, waits in the adapter, and
//!    goes onto the medium when the adapter has sent those before it.
//!
//! A level is served before those below it, and interrupts them: what is interrupted goes on later from
//! where it was. Within a level the order is that of arrival. A cost of zero takes no time, and still
//! waits for its turn. Costs are charged around the node, never inside it.
#![allow(clippy::missing_panics_doc, reason = "shared with the engine only")]

mod adapter;
mod address;
mod calls;
mod cpu;
pub mod datagrams;
mod facts;
#[cfg(feature = "services")]
pub mod file_service;
mod frames;
mod host;
mod node;
mod program;
pub mod programs;
mod queue;
mod shared;
mod state;
mod waiters;
mod world;

pub use address::{BROADCAST, HostId, Mac, mac_of};
pub use facts::{CpuFacts, HostFacts, WorldFacts};
pub use lanlab_messages::{SimulatedCost as Cost, SimulatedMachine as Machine};
pub use node::{Key, Node};
pub use program::Host;
pub use world::{BadWorld, Bounds, Ended, World, WorldPlan};
