//! Timers, windows and behaviour of period NetBIOS stacks, as data.
//!
//! Each number has its certainty. Sources: IBM, Local Area Network Technical Reference (SC30-3587); Microsoft
//! Knowledge Base, articles Q90180, Q99745, Q102998, Q177654, Q192496; net/llc of Linux 6.1.

pub mod netware;
pub mod xns;

use crate::known::{assumed, observed, primary, secondary};
use xns::{THREE_PLUS, XnsProfile};

const MS: u64 = 1_000_000;

/// Parameters of LLC type 2 links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkProfile {
    /// T1: reply time-out, ns.
    pub t1_ns: u64,
    /// Growth of each further time-out, percent of the one before; rounded down to whole ticks.
    pub t1_growth_percent: u64,
    /// Unit of T1 when it grows, ns.
    pub tick_ns: u64,
    /// T2: longest delay of an acknowledgement, ns; zero for none.
    pub t2_ns: u64,
    /// Ti: idle time after which the other end is polled, ns.
    pub ti_ns: u64,
    /// N2: attempts before the link fails.
    pub n2: u32,
    /// N3: I frames after which an acknowledgement is sent at once.
    pub n3: u8,
    /// k: most I frames in flight, 1 to 127.
    pub window: u8,
    /// Nw: acknowledged I frames per growth of the window by one, after a loss reduced it to one. Zero: losses do
    /// not reduce it.
    pub window_growth: u8,
    pub polls_after_connect: bool,
    /// Duration of RNR after which the link fails, ns.
    pub longest_busy_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpxProfile {
    /// Connection attempts, and their interval, ns.
    pub connect_count: u32,
    pub connect_interval_ns: u64,
    pub longest_data: u16,
    pub times: [u16; 2],
    pub window: u16,
    /// Packets within a message after which an acknowledgement is sent at once, on slow networks.
    pub ack_window: u16,
    /// Round-trip time from which a network counts as slow, ns.
    pub slow_ns: u64,
    pub ack_delay_ns: u64,
    /// Initial resend time-out, ns.
    pub resend_ns: u64,
    /// Growth of each further time-out, percent of the one before.
    pub resend_growth_percent: u64,
    pub resend_count: u32,
    /// Interval between probes of a closed window, ns.
    pub probe_ns: u64,
    /// Silence of the other end after which it is probed, ns.
    pub alive_ns: u64,
    pub alive_count: u32,
}

/// `NWNBLink` of Windows NT 3.5 and 4.0. Values from Q99745 and from one published capture.
const NWNBLINK: IpxProfile = IpxProfile {
    connect_count: primary(5),
    connect_interval_ns: primary(1_000 * MS),
    longest_data: secondary(0x05ac),
    times: secondary([0x15, 0x09]),
    window: primary(4),
    ack_window: primary(2),
    slow_ns: primary(500 * MS),
    ack_delay_ns: primary(250 * MS),
    resend_ns: primary(500 * MS),
    resend_growth_percent: assumed(150),
    resend_count: primary(8),
    probe_ns: secondary(600 * MS),
    alive_ns: primary(30_000 * MS),
    alive_count: primary(8),
};

/// Windows 9x: NT's values where its own are unknown.
const IPX_9X: IpxProfile =
    IpxProfile { longest_data: secondary(0x05a0), times: secondary([0x25, 0x0d]), ..NWNBLINK };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "habits of a stack that it has each alone")]
pub struct Profile {
    pub name: &'static str,
    pub link: LinkProfile,
    pub ipx: &'static IpxProfile,
    /// Sessions over XNS; stacks without XNS use 3Com's 3+.
    pub xns: &'static XnsProfile,
    /// Number of queries when a name is claimed or looked up.
    pub query_count: u32,
    pub query_interval_ns: u64,
    pub queries_name_first: bool,
    pub piggybacks: bool,
    /// How long an acknowledgement waits to ride on data, ns.
    pub piggyback_wait_ns: u64,
    pub send_no_ack_able: bool,
    pub asks_receive_continue: bool,
    pub session_wait_ns: u64,
    /// Idle time after which SESSION ALIVE is sent, ns. Zero: never.
    pub alive_ns: u64,
    /// Maximum incoming sessions over NetBIOS frames; further calls are refused.
    pub sessions: u16,
}

const MOST_SESSIONS: u16 = 254;

/// IBM's NetBIOS on the LAN Support Program and its adapters.
pub const IBM: Profile = Profile {
    name: "ibm",
    link: LinkProfile {
        t1_ns: primary(1_000 * MS),
        t1_growth_percent: primary(100),
        tick_ns: primary(40 * MS),
        t2_ns: primary(80 * MS),
        ti_ns: primary(3_000 * MS),
        n2: primary(8),
        n3: primary(1),
        window: primary(2),
        window_growth: primary(1),
        polls_after_connect: secondary(true),
        longest_busy_ns: assumed(60_000 * MS),
    },
    ipx: &NWNBLINK,
    xns: &THREE_PLUS,
    query_count: primary(6),
    query_interval_ns: primary(500 * MS),
    queries_name_first: primary(false),
    piggybacks: primary(true),
    piggyback_wait_ns: assumed(80 * MS),
    send_no_ack_able: primary(true),
    asks_receive_continue: primary(true),
    session_wait_ns: primary(3_000 * MS),
    alive_ns: primary(30_000 * MS),
    sessions: primary(MOST_SESSIONS),
};

/// PC Network, whose adapters had fewer sessions: the profile of the PC LAN Program.
pub const PC_NETWORK: Profile = Profile { name: "pc-network", sessions: secondary(32), ..IBM };

/// NBF of Windows NT 3.5 and 4.0.
pub const WINDOWS_NT: Profile = Profile {
    name: "nt",
    link: LinkProfile {
        // Q177654: 400 ms at least, and a trace with 450, 651, 952 and 1402 ms: 9, 13, 19 and 28 ticks.
        t1_ns: primary(450 * MS),
        t1_growth_percent: primary(150),
        tick_ns: primary(50 * MS),
        t2_ns: primary(150 * MS),
        ti_ns: primary(30_000 * MS),
        n2: secondary(8),
        n3: secondary(2),
        window: secondary(10),
        window_growth: secondary(2),
        polls_after_connect: secondary(true),
        longest_busy_ns: assumed(60_000 * MS),
    },
    ipx: &NWNBLINK,
    xns: &THREE_PLUS,
    query_count: primary(3),
    query_interval_ns: primary(500 * MS),
    queries_name_first: secondary(true),
    piggybacks: primary(true),
    // Q90180: the acknowledgement waits until T2 expires.
    piggyback_wait_ns: primary(150 * MS),
    send_no_ack_able: secondary(true),
    asks_receive_continue: primary(true),
    session_wait_ns: primary(3_000 * MS),
    alive_ns: secondary(0),
    sessions: assumed(MOST_SESSIONS),
};

/// Time in which a program on a modern host answers a message, ns.
const ANSWER_NS: u64 = assumed(2 * MS);

/// Packets in flight on a modern host, over IPX and over XNS, whose packets are shorter. The 4 of Windows NT leave a fast
/// link idle between windows. An acknowledgement may take as long as half a window: 0.8 ms at 100 Mbit/s.
const WINDOWS: [u16; 2] = [assumed(16), assumed(32)];

/// lanlab's own profile on a real network: Windows NT, but acknowledgements wait for data no longer than a program
/// takes to answer (NT waits 150 to 250 ms for each message without an answer), and windows over IPX and XNS are
/// longer.
pub const OWN: Profile = Profile {
    name: "lanlab",
    ipx: &IpxProfile { ack_delay_ns: ANSWER_NS, window: WINDOWS[0], ..NWNBLINK },
    xns: &XnsProfile {
        window: WINDOWS[1],
        sessions: assumed(MOST_SESSIONS),
        ack_delay_ns: ANSWER_NS,
        ..THREE_PLUS
    },
    piggyback_wait_ns: ANSWER_NS,
    ..WINDOWS_NT
};

/// Windows 9x: NT's values with a smaller window.
pub const WINDOWS_9X: Profile = Profile {
    name: "win9x",
    link: LinkProfile {
        t1_ns: assumed(600 * MS),
        window: assumed(6),
        n3: assumed(2),
        ..WINDOWS_NT.link
    },
    ipx: &IPX_9X,
    ..WINDOWS_NT
};

/// Windows for Workgroups: like Windows 9x, with shorter IPX packets.
pub const WINDOWS_WFW: Profile = Profile {
    name: "wfw",
    ipx: &IpxProfile { longest_data: secondary(0x0590), ..IPX_9X },
    ..WINDOWS_9X
};

/// A redirector under DOS: one frame in flight, no acknowledgements with data, no NO.ACK.
///
/// The minimal peer: it omits what IBM's LAN Client omits.
pub const DOS: Profile = Profile {
    name: "dos",
    link: LinkProfile {
        window: primary(1),
        window_growth: assumed(0),
        polls_after_connect: assumed(false),
        ..IBM.link
    },
    piggybacks: primary(false),
    piggyback_wait_ns: assumed(0),
    send_no_ack_able: primary(false),
    alive_ns: assumed(0),
    ..IBM
};

/// Links of net/llc in Linux 6.1; the layers above are Windows NT's, as Linux has none.
pub const LINUX: Profile = Profile {
    name: "linux",
    link: LinkProfile {
        t1_ns: observed(1_000 * MS),
        t1_growth_percent: observed(100),
        tick_ns: assumed(MS),
        t2_ns: observed(0),
        ti_ns: assumed(60_000 * MS),
        n2: observed(2),
        n3: observed(1),
        window: observed(2),
        window_growth: assumed(0),
        polls_after_connect: observed(false),
        longest_busy_ns: assumed(60_000 * MS),
    },
    ..WINDOWS_NT
};

/// Every profile that can be selected by name.
pub const ALL: [Profile; 7] = [OWN, IBM, WINDOWS_NT, WINDOWS_9X, WINDOWS_WFW, DOS, LINUX];

pub fn by_name(name: &str) -> Option<Profile> {
    ALL.into_iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid() {
        for profile in ALL {
            let link = profile.link;
            assert!((1..=127).contains(&link.window), "{}", profile.name);
            assert!(link.n3 >= 1 && link.n2 >= 1, "{}", profile.name);
            assert!((1..=MOST_SESSIONS).contains(&profile.sessions), "{}", profile.name);
            assert!(link.t2_ns < link.t1_ns, "{}", profile.name);
            assert!(link.t1_growth_percent >= 100, "{}", profile.name);
            let ipx = profile.ipx;
            assert!(ipx.window >= 1 && ipx.longest_data >= 128, "{}", profile.name);
            assert!(ipx.ack_delay_ns < ipx.resend_ns, "{}", profile.name);
            assert_eq!(by_name(profile.name), Some(profile));
        }
        assert_eq!(by_name("novell"), None);
    }
}
