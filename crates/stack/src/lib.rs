//! Historic network protocols without a clock or a socket.
//!
//! Between carriers below and redirectors and file servers above there is one line: whole messages
//! of numbered sessions. So the same code runs over TCP, over raw Ethernet and in the simulator.

pub mod carrier;
pub mod redirector;
pub mod smb;
