//! UDP and TCP over IPv4 and IPv6 on Ethernet: one [`Interface`] with its sockets.
//!
//! TCP is smoltcp's; UDP uses its formats. Addresses and neighbours are configured, so there is neither ARP nor
//! neighbour discovery. Datagrams that do not fit into one frame are refused: nothing is fragmented.
//!
//! # Driving it
//!
//! Change it by one call: [`handle_frame`](Interface::handle_frame), [`handle_timeout`](Interface::handle_timeout),
//! or what a program does with a socket. Then call [`poll_transmit`](Interface::poll_transmit) while the adapter
//! has room, and [`poll_event`](Interface::poll_event) until it gives `None`; then wait for a frame, for room in
//! the adapter, or for [`poll_timeout`](Interface::poll_timeout). Segments are made on demand, so an adapter
//! without room slows TCP down, and UDP through its send buffer.
//!
//! # What TCP does and does not
//!
//! Behaviour of smoltcp 0.14.0, from its source, and of this module:
//!
//! - **Acknowledgements** are sent at once when more than one segment of the peer's largest size waits for one, as
//!   Linux does and RFC 9293 (SHLD-19) allows; out of order likewise. The delay of a profile is for a single
//!   segment. It counts from that segment, not by a system-wide tick. With `TcpProfile::acknowledges_pushed`, a
//!   pushed segment and the first after a pause do not wait.
//! - **Blind attacks** are answered as RFC 5961 has it, by at most one acknowledgement a second: a reset that is
//!   not exactly the next byte, a SYN of an open connection, an acknowledgement out of range. That is done here.
//! - **Their sequence number** is the one after the highest that was sent, as of 4.4BSD: that is done here. smoltcp
//!   goes back with it when it sends again.
//! - **Window updates** are sent when the window has doubled since it was last advertised. It opens by a segment or
//!   half of the buffer at least (RFC 1122, 4.2.3.3): that is done here, not by smoltcp.
//! - **Closed windows** are probed by smoltcp, where all that was sent is acknowledged. One that closes over
//!   segments on their way is shown to it as a byte, so that it sends again what was lost; as it is, it would wait
//!   for ever.
//! - **Silly windows** are avoided by the receiver alone: a sender fills a window of any size, where RFC 9293
//!   (3.8.6.2.1) has it wait for a segment or half of the window.
//! - **Time** is in whole microseconds. The retransmission time-out is 1 s at least and at first (RFC 6298),
//!   doubles, and is 60 s at most. Systems of the 1990s had shorter ones.
//! - **Congestion control** is Reno with an initial window of 2,048 bytes; fast retransmission after three
//!   duplicate acknowledgements. 32 gaps in the received data are remembered.
//! - **What was not read** when both ends have closed stays until it is: that is done here. smoltcp forgets it
//!   after 10 s.
//! - **Options**: largest segment, window scale and SACK permitted are in each SYN. SACK blocks are sent, but the
//!   sender does not use them. No time stamps.
//! - **Segments** are cut where smoltcp's ring of octets to send begins anew. The ring is some send buffers long
//!   (`TcpProfile::send_rings`) and a multiple of the largest segment: of a bulk transfer hardly one is cut.
//! - **Segments for no connection** are answered by a reset (RFC 9293, 3.10.7.1): that is done here. A connection
//!   that waits for the end has forgotten the peer after 10 s, and else each end of it that was lost would be sent
//!   for ever.

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
