//! Profiles against the published numbers of the stacks that they are of, times in milliseconds.
//!
//! Sources: IBM, Local Area Network Technical Reference (SC30-3587); Microsoft Knowledge Base, articles Q90180, Q99745,
//! Q102998, Q177654, Q192496; net/llc of Linux 6.1; 3Com's `TechTips`; 4.3BSD; Novell's documentation.

use lanlab_stack::profile::netware::{self, NetWare};
use lanlab_stack::profile::xns::{THREE_PLUS, XnsProfile};
use lanlab_stack::profile::{
    DOS, IBM, LINUX, PC_NETWORK, Profile, WINDOWS_9X, WINDOWS_NT, WINDOWS_WFW,
};

const MS: u64 = 1_000_000;

/// T1, its growth and tick, T2 and Ti; N2, N3, window and its growth; whether it polls first, and the longest time without
/// being ready.
type OfLink = ([u64; 5], (u32, u8, u8, u8), bool, u64);

fn of_link(profile: &Profile) -> OfLink {
    let one = profile.link;
    assert_eq!(one.tick_ns % MS, 0);
    let times =
        [one.t1_ns / MS, one.t1_growth_percent, one.tick_ns / MS, one.t2_ns / MS, one.ti_ns / MS];
    let counts = (one.n2, one.n3, one.window, one.window_growth);
    (times, counts, one.polls_after_connect, one.longest_busy_ns / MS)
}

#[test]
fn link_timers_match_each_stack() {
    let of_ibm = ([1_000, 100, 40, 80, 3_000], (8, 1, 2, 1), true, 60_000);
    let of_nt = ([450, 150, 50, 150, 30_000], (8, 2, 10, 2), true, 60_000);
    let of_9x = ([600, 150, 50, 150, 30_000], (8, 2, 6, 2), true, 60_000);
    for (profile, name, expected) in [
        (IBM, "ibm", of_ibm),
        (PC_NETWORK, "pc-network", of_ibm),
        (WINDOWS_NT, "nt", of_nt),
        (WINDOWS_9X, "win9x", of_9x),
        (WINDOWS_WFW, "wfw", of_9x),
        (DOS, "dos", (of_ibm.0, (8, 1, 1, 0), false, 60_000)),
        (LINUX, "linux", ([1_000, 100, 1, 0, 60_000], (2, 1, 2, 0), false, 60_000)),
    ] {
        assert_eq!((profile.name, of_link(&profile)), (name, expected));
    }
}

/// Queries and their interval; whether a name is looked for first; acknowledgements with data and their wait; data without
/// acknowledgement; the wait for a session, the time of silence, and sessions.
type OfSessions = ((u32, u64), bool, (bool, u64), bool, bool, (u64, u64, u16));

fn of_sessions(one: &Profile) -> OfSessions {
    (
        (one.query_count, one.query_interval_ns / MS),
        one.queries_name_first,
        (one.piggybacks, one.piggyback_wait_ns / MS),
        one.send_no_ack_able,
        one.asks_receive_continue,
        (one.session_wait_ns / MS, one.alive_ns / MS, one.sessions),
    )
}

#[test]
fn session_behaviour_matches_each_stack() {
    let of_ibm = ((6, 500), false, (true, 80), true, true, (3_000, 30_000, 254));
    let of_nt = ((3, 500), true, (true, 150), true, true, (3_000, 0, 254));
    for (profile, expected) in [
        (IBM, of_ibm),
        (PC_NETWORK, ((6, 500), false, (true, 80), true, true, (3_000, 30_000, 32))),
        (WINDOWS_NT, of_nt),
        (WINDOWS_9X, of_nt),
        (WINDOWS_WFW, of_nt),
        (DOS, ((6, 500), false, (false, 0), false, true, (3_000, 0, 254))),
        (LINUX, of_nt),
    ] {
        assert_eq!(of_sessions(&profile), expected, "{}", profile.name);
    }
}

/// Q99745, and packets of published captures.
#[test]
fn ipx_sessions_use_the_nwnblink_parameters() {
    for (profile, longest_data, times) in [
        (WINDOWS_NT, 1_452, [0x15, 0x09]),
        (WINDOWS_9X, 1_440, [0x25, 0x0d]),
        (WINDOWS_WFW, 1_424, [0x25, 0x0d]),
        (DOS, 1_452, [0x15, 0x09]),
    ] {
        let one = profile.ipx;
        assert_eq!((one.longest_data, one.times), (longest_data, times));
        assert_eq!((one.connect_count, one.connect_interval_ns / MS), (5, 1_000));
        assert_eq!((one.window, one.ack_window), (4, 2));
        assert_eq!((one.slow_ns / MS, one.ack_delay_ns / MS), (500, 250));
        let resends = (one.resend_ns / MS, one.resend_growth_percent);
        assert_eq!((resends, one.resend_count), ((500, 150), 8));
        assert_eq!(one.probe_ns / MS, 600);
        assert_eq!((one.alive_ns / MS, one.alive_count), (30_000, 8));
    }
}

fn check_times(one: &XnsProfile) {
    let pair = |(from, to): (u64, u64)| (from / MS, to / MS);
    assert_eq!((one.packet_bytes, one.sessions), (534, 32));
    assert_eq!(one.ack_delay_ns / MS, 200);
    assert_eq!((pair(one.resend_ns), one.resend_count), ((1_000, 64_000), 12));
    assert_eq!((one.same_acks, one.call_ns / MS), (3, 75_000));
    assert_eq!(pair(one.probe_ns), (5_000, 60_000));
    assert_eq!((one.alive_ns / MS, one.alive_count), (75_000, 8));
    assert_eq!(one.end_count, 4);
}

#[test]
fn xns_sessions_use_3com_buffers_and_4_3bsd_timers() {
    let (one, sockets) = (THREE_PLUS, THREE_PLUS.has_session_sockets);
    assert_eq!((one.window, sockets, one.asks_each), (3, false, false));
    check_times(&one);
}

#[test]
fn both_netware_generations_use_the_novell_defaults() {
    let features = |one: &NetWare| {
        [one.has_internal_network, one.has_keyed_logins, one.has_large_packets, one.has_bursts]
    };
    for (one, name, version, has) in [
        (netware::NETWARE_2, "netware-2", (2, 15), false),
        (netware::NETWARE_3, "netware-3", (3, 12), true),
    ] {
        assert_eq!((one.name, one.version, features(&one)), (name, version, [has; 4]));
        assert_eq!((one.most_data_bytes, one.most_tries), (1_024, 20));
        assert_eq!(one.burst_packets, (24, 10));
        // 4 minutes 56.6 seconds, then 59.3 seconds.
        let watchdog = [one.watchdog_after_ns / MS, one.watchdog_interval_ns / MS];
        assert_eq!((watchdog, one.watchdog_questions), ([296_600, 59_300], 10));
        assert_eq!(one.announcement_interval_ns / MS, 60_000);
        assert_eq!(one.searches, (6, 500 * MS));
    }
}
