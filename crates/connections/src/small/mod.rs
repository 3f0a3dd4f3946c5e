//! TCP of a station of this process's own, in bounded memory, at a link of whole Ethernet frames, in real time.
//!
//! Each station has a thread that receives and keeps its timers. Who reads or writes a connection sends what comes
//! of it under the same lock, and wakes the thread only if its next deadline moved forward.

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
