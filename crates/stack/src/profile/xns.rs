//! Parameters of stacks with XNS, as data.

use crate::known::{assumed, primary, secondary};

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XnsProfile {
    /// Data bytes per packet, at most 534.
    pub packet_bytes: u16,
    /// Receive buffers: packets that the other end may have in flight.
    pub window: u16,
    pub sessions: u16,
    /// Whether a server answers from a separate socket per session instead of the shared one.
    pub has_session_sockets: bool,
    /// Whether each packet requests acknowledgement, or only one that fills the window.
    pub asks_each: bool,
    pub ack_delay_ns: u64,
    /// Shortest and longest resend time-out, ns; each is twice the one before.
    pub resend_ns: (u64, u64),
    pub resend_count: u32,
    /// Duplicate acknowledgements that trigger an immediate resend.
    pub same_acks: u32,
    /// Time-out of a call, ns.
    pub call_ns: u64,
    /// Shortest and longest interval between probes of a closed window, ns.
    pub probe_ns: (u64, u64),
    /// Silence of the other end after which it is probed, ns.
    pub alive_ns: u64,
    pub alive_count: u32,
    pub end_count: u32,
}

/// 3Com's 3+. Buffers and sessions are the defaults of 3Com's `TechTips`, timers those of 4.3BSD.
pub const THREE_PLUS: XnsProfile = XnsProfile {
    packet_bytes: primary(534),
    window: primary(3),
    sessions: primary(32),
    // SMB packets use the server socket (dissector `spp`).
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
