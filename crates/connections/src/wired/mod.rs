//! Sessions of historic carriers on a link of whole Ethernet frames, in real time.
//!
//! A thread of each link receives frames and keeps the timers of its node. The thread that has work to
//! do sends under the same lock itself, and wakes the other one only if its next deadline moved
//! forward: a round trip takes one change of threads, not two.

mod frame_link;
mod inboxes;
mod node_thread;
mod port;
mod recording;
mod shared;
mod state;
mod used;

pub use frame_link::{Driven, FrameLink, provide};
pub use node_thread::{NodeCounts, WiredNode, WiredPlan};
pub use port::WiredPort;
pub use recording::{FrameSink, end_recordings, is_recorded, record};
pub use state::LinkCounts;
pub use used::{counts_of, node_of};
