//! A station's TCP in this process, on a link of whole Ethernet frames, in bounded memory and real time.
//!
//! Each station has a thread that receives frames and keeps timers. A thread that reads or writes a
//! connection sends the resulting frames itself, under the same lock, and wakes the station's
//! thread only if the next deadline is now earlier.

mod listener;
mod node;
mod plan;
mod registry;
mod shared;
mod stream;

pub use listener::SmallListener;
pub use node::SmallNode;
pub use plan::SmallPlan;
pub use registry::{facts_of, make_way, node_of};
pub use stream::SmallStream;
