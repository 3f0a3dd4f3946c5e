//! Numbers of stacks with XNS, as data.

use crate::known::{Known, assumed, observed, primary, secondary};

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XnsProfile {
    /// Octets of data in a packet, at most 534.
    pub packet_bytes: Known<u16>,
    /// Packets that the other end may have on their way: buffers to receive them.
    pub window: Known<u16>,
    pub sessions: Known<u16>,
    /// Whether a server answers from a socket of its own for each session, and not from that of all.
    pub has_session_sockets: Known<bool>,
    /// Whether each packet asks for its acknowledgement, and not only one after which nothing more may be sent.
    pub asks_each: Known<bool>,
    pub ack_delay_ns: Known<u64>,
    /// Shortest and longest time to wait for an acknowledgement, ns; each wait is twice the one before.
    pub resend_ns: Known<(u64, u64)>,
    pub resend_count: Known<u32>,
    /// Equal acknowledgements after which what they ask for is sent again at once.
    pub same_acks: Known<u32>,
    /// Time after which a call is given up, ns.
    pub call_ns: Known<u64>,
    /// Shortest and longest time between questions whether a closed window is open again, ns.
    pub probe_ns: Known<(u64, u64)>,
    /// Time without a packet of the other end after which it is asked whether it is there, ns.
    pub alive_ns: Known<u64>,
    pub alive_count: Known<u32>,
    pub end_count: Known<u32>,
}

/// 3Com's 3+. Buffers and sessions are the defaults of 3Com's `TechTips`, times those of 4.3BSD.
pub const THREE_PLUS: XnsProfile = XnsProfile {
    packet_bytes: primary(534),
    window: primary(3),
    sessions: primary(32),
    // Packets of SMB have the socket of servers (dissector `spp`).
    has_session_sockets: secondary(false),
    asks_each: assumed(false),
    ack_delay_ns: assumed(SECOND_NS / 5),
    resend_ns: secondary((SECOND_NS, 64 * SECOND_NS)),
    resend_count: secondary(12),
    same_acks: secondary(3),
    call_ns: secondary(75 * SECOND_NS),
    probe_ns: secondary((5 * SECOND_NS, 60 * SECOND_NS)),
    alive_ns: secondary(75 * SECOND_NS),
    alive_count: secondary(8),
    end_count: assumed(4),
};

/// XNS as Xerox has it: its file servers' window, and a socket for each session, were seen in Dodo's services.
pub const XEROX: XnsProfile = XnsProfile {
    window: observed(8),
    has_session_sockets: observed(true),
    asks_each: secondary(true),
    ..THREE_PLUS
};
