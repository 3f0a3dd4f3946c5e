//! Both ends of historic file services: [`Redirected`] is a client's session, and [`serve`] runs a
//! server's. Both work over any [`MessagePort`] and with any clock.
//!
//! There is no runtime here: the same code runs on the system's sockets and in a simulated world.

mod message_port;
mod redirected;
mod served;
mod why_ended;
mod within;

pub use message_port::MessagePort;
pub use redirected::{Agreed, File, Redirected};
pub use served::{FileAnswers, Logins, serve};
pub use why_ended::why_ended;
pub use within::within;
