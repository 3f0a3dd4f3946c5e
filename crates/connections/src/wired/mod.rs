//! Carrier sessions on a link of whole Ethernet frames, in real time.
//!
//! Each link has a thread that keeps the timers of its node. Other threads send their own frames,
//! under the same lock, and wakes the link's thread only if the next deadline is now earlier. A program that
//! waits for a message also receives the frames itself: a frame wakes one thread, like a datagram of the
//! kernel. The link's thread receives while no program waits or the waiting one is slow.

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
pub use recording::{end_recordings, is_recorded, record};
pub use registry::{counts_of, node_of};
