//! Simulates hosts in virtual time: processors, adapters and media around the real protocol code.
//!
//! A [`World`] is one replication in one thread. Its hosts have a processor with three levels, an
//! adapter on a medium, and a [`Node`] with the protocol machines. Programs are futures that run on
//! a host and use its node through a [`Host`]. Nothing here reads a clock, opens a socket or starts
//! a thread. The same plan and seed give the same events, frame by frame.
//!
//! # The path of a frame
//!
//! 1. It arrives in the adapter's ring. If the ring is full, it is dropped and counted.
//! 2. It costs *interrupt* time at interrupt level, and moves to the receive queue. If the queue is
//!    full, it is dropped and counted.
//! 3. It costs *protocol* time at protocol level. Then the node handles it in zero time, and
//!    programs that wait for a change continue.
//! 4. Programs spend time at program level, by [`Host::compute`] and [`Host::call`].
//! 5. A frame that the node sends costs *transmit* time at protocol level, waits in the adapter,
//!    and is sent when the adapter has sent all earlier frames.
//!
//! A higher level interrupts lower ones, which continue later. Within a level, work runs in order
//! of arrival. Work of zero cost takes no time but still waits for its turn. Costs are charged
//! around the node, never inside it.
#![allow(clippy::missing_panics_doc, reason = "shared with the engine only")]

mod adapter;
mod address;
mod calls;
mod cpu;
mod facts;
pub mod file_service;
mod frames;
mod host;
mod node;
mod program;
pub mod programs;
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
