//! UDP and TCP over IPv4 and IPv6 on Ethernet: one [`Interface`] with its sockets.
//!
//! TCP is smoltcp's; UDP uses its formats. Addresses and neighbours are configured, so there is neither ARP
//! nor neighbour discovery. Datagrams that do not fit into one frame are refused: nothing is fragmented.
//!
//! # Driving it
//!
//! Change it by one call: [`handle_frame`](Interface::handle_frame),
//! [`handle_timeout`](Interface::handle_timeout), or a program's use of a socket. Then call
//! [`poll_transmit`](Interface::poll_transmit) while the adapter has room, and
//! [`poll_event`](Interface::poll_event) until it returns `None`; then wait for a frame, for room in the
//! adapter, or for [`poll_timeout`](Interface::poll_timeout). Segments are made on demand, so an adapter
//! without room slows TCP down, and UDP through its send buffer.
//!
//! # Behaviour of TCP
//!
//! From the source of smoltcp 0.14.0, except where this module is named:
//!
//! - **Acknowledgements** are sent at once if more than one largest segment of the peer is unacknowledged, as
//!   in Linux and RFC 9293 (SHLD-19), or if data arrives out of order. Only a single segment is delayed by
//!   the profile's delay, which counts from that segment, not by a system-wide tick. With
//!   `TcpProfile::is_modern`, the first segment after a pause and a pushed short one are acknowledged at
//!   once; a pushed full one is acknowledged after 1 ms.
//! - **Blind attacks** (this module): a reset whose number is not exactly the next one, a SYN of an
//!   open connection and an acknowledgement out of range cause at most one acknowledgement per
//!   second (RFC 5961).
//! - **The sequence number of acknowledgements** (this module) is the one after the highest sent, as in
//!   4.4BSD. smoltcp would use a lower one while it resends.
//! - **Window updates** are sent when the window has doubled since it was last advertised. It opens by at
//!   least a segment or half of the buffer (this module; RFC 1122, 4.2.3.3).
//! - **Closed windows** are probed by smoltcp once everything sent is acknowledged. If a window closes over
//!   segments in flight, this module shows it to smoltcp as one byte, so that lost segments are resent;
//!   otherwise smoltcp would wait for ever.
//! - **Silly windows** are avoided by the receiver. smoltcp fills a window of any size, although RFC 9293
//!   (3.8.6.2.1) requires a sender to wait for a segment or half of the window. With `TcpProfile::is_modern`,
//!   it is shown only what whole segments fill of an unscaled window (this module).
//! - **Time** is in whole microseconds. The retransmission time-out starts at 1 s, its minimum (RFC 6298),
//!   doubles, and is at most 60 s. Systems of the 1990s had shorter ones.
//! - **Congestion control** is Reno with an initial window of 2,048 bytes; fast retransmission after three
//!   duplicate acknowledgements. 32 gaps in the received data are remembered.
//! - **Unread data** is kept after both ends have closed (this module). smoltcp discards it after 10 s.
//! - **Options**: each SYN has MSS, window scale and SACK permitted. SACK blocks are sent, but
//!   the sender does not use them. There are no timestamps.
//! - **Segments** are split where smoltcp's send ring wraps. The ring is a few send buffers long
//!   (`TcpProfile::send_rings`) and a multiple of the largest segment, so bulk transfers split few.
//! - **Segments for no connection** are answered by a reset (this module; RFC 9293, 3.10.7.1). A closing
//!   connection forgets the peer after 10 s; without the reset, a peer whose last segment was lost would
//!   resend it for ever.

mod address;
mod connection;
mod device;
mod framed;
mod frames;
mod interface;
pub mod small;
mod station;
mod udp;

pub use address::{Config, Mac, Refusal, TcpProfile};
pub use connection::{ConnectionFacts, Received};
pub use framed::FramedStation;
pub use interface::{ConnectionId, Event, Interface, SocketId};
pub use station::{Reach, Station, StationConfig};
pub use udp::{Datagram, OVERHEAD_BYTES};

pub const ETHERNET_HEADER_BYTES: usize = 14;
pub const MTU_BYTES: usize = 1500;
