//! Sessions of historic carriers on a link of whole Ethernet frames, in real time.
//!
//! A thread of each link receives frames and keeps the timers of its node. The thread that has work to
//! do sends under the same lock itself, and wakes the other one only if its next deadline moved
//! forward: a round trip takes one change of threads, not two.

mod ended;
mod inboxes;
mod node_thread;
mod port;
mod state;
mod used;

pub use ended::why_ended;
pub use node_thread::{WiredNode, WiredPlan};
pub use port::WiredPort;
pub use state::LinkCounts;
pub use used::node_of;
