//! Sessions of carriers in frames on a link of whole Ethernet frames, in real time.
//!
//! Each link has a thread that keeps the timers of its node. The thread that has work to do sends under
//! the same lock itself, and wakes the other one only if its next deadline moved forward. A program that
//! waits for a message receives the frames itself, too: a frame wakes one thread, as a datagram of
//! the kernel does. While no program waits, or one is slow, the link's thread receives.

mod frame_link;
mod inboxes;
mod node_thread;
mod plan;
mod port;
mod readable;
mod reader;
mod recording;
mod registry;
mod shared;
mod state;
#[cfg(test)]
mod tests;

pub use frame_link::{Driven, FrameLink, provide};
pub use node_thread::WiredNode;
pub use plan::WiredPlan;
pub use port::WiredPort;
pub use recording::{FrameSink, end_recordings, is_recorded, record};
pub use registry::{counts_of, node_of};
