use std::collections::BTreeSet;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use lanlab_messages::TcpFacts;
use socket2::{SockAddr, SockRef};

use super::{check, set_option};

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct TcpInfo {
    /// Without the name of the congestion control.
    pub facts: TcpFacts,
    /// Rate at which the kernel paces segments, bit/s; 0 without pacing.
    pub pacing_rate_bps: u64,
    /// Latest goodput measured by the kernel, bit/s.
    pub delivery_rate_bps: u64,
    pub unacknowledged_segments: u64,
    /// Bytes written by the program and not yet sent.
    pub unsent_bytes: u64,
    /// Receive window announced by this end, bytes; 0 before Linux 6.2.
    pub window_bytes: u64,
    pub peer_window_bytes: u64,
    /// Whether the connection has ended, also by a reset.
    pub is_over: bool,
    /// Whether segments carry timestamps (RFC 7323).
    pub has_timestamps: bool,
    /// Whether selective acknowledgement is negotiated (RFC 2018).
    pub has_selective_acknowledgement: bool,
    /// Whether window scaling is negotiated (RFC 7323).
    pub has_window_scaling: bool,
}

impl TcpInfo {
    /// How often the peer went on after an answer. The first data of either end needs none from the other.
    pub fn turns(&self) -> u32 {
        let turns = self.facts.data_segments_received.min(self.facts.data_segments_sent);
        u32::try_from(turns.saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpLimits {
    /// Largest segment that is announced and sent, bytes of data without TCP options.
    pub maximum_segment_bytes: u32,
    pub window_bytes: u32,
}

/// `struct tcp_info` of `include/uapi/linux/tcp.h`, as far as lanlab uses it. The kernel only
/// appends fields, and fills those that it supports; the rest stays zero.
#[repr(C)]
#[derive(Default)]
struct RawTcpInfo {
    states: [u8; 8],
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: [u32; 2],
    bytes_sent: [u64; 2],
    reordered: [u32; 3],
    snd_wnd: u32,
    rcv_wnd: u32,
}

/// Choose the port of a socket bound to port 0 only when it connects (`IP_BIND_ADDRESS_NO_PORT`,
/// ip(7)). Then it must differ only from ports of connections to the same destination. Otherwise
/// each socket would occupy one of this host's ports, until a minute after its end.
pub fn choose_port_late(socket: &impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &on)
}

pub fn tcp_info(connection: &impl AsFd) -> io::Result<TcpInfo> {
    let mut raw = RawTcpInfo::default();
    let mut length = size_of::<RawTcpInfo>() as libc::socklen_t;
    // SAFETY: pointer and length describe `raw`, whose fields are integers: any bytes are valid.
    check(unsafe {
        libc::getsockopt(
            connection.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut raw).cast(),
            &raw mut length,
        )
    })?;
    let from_us = |us: u32| u64::from(us) * 1_000;
    let has = |option| raw.states[5] & option != 0;
    let facts = TcpFacts {
        congestion_control: None,
        segments_sent: raw.segs_out.into(),
        data_segments_sent: raw.data_segs_out.into(),
        retransmitted_segments: raw.total_retrans.into(),
        acknowledged_bytes: raw.bytes_acked,
        received_bytes: raw.bytes_received,
        data_segments_received: raw.data_segs_in.into(),
        round_trip_ns: from_us(raw.rtt),
        round_trip_variation_ns: from_us(raw.rttvar),
        // The kernel's value for "not measured" is all ones.
        minimum_round_trip_ns: if raw.min_rtt == u32::MAX { 0 } else { from_us(raw.min_rtt) },
        congestion_window_segments: raw.snd_cwnd.into(),
        maximum_segment_bytes: raw.snd_mss.into(),
        busy_ns: raw.busy_time * 1_000,
        receive_window_limited_ns: raw.rwnd_limited * 1_000,
        send_buffer_limited_ns: raw.sndbuf_limited * 1_000,
    };
    Ok(TcpInfo {
        facts,
        // All ones mean no pacing.
        pacing_rate_bps: bits(raw.pacing_rate),
        delivery_rate_bps: bits(raw.delivery_rate),
        unacknowledged_segments: raw.unacked.into(),
        unsent_bytes: raw.notsent_bytes.into(),
        window_bytes: raw.rcv_wnd.into(),
        peer_window_bytes: raw.snd_wnd.into(),
        is_over: raw.states[0] == STATE_CLOSE,
        has_timestamps: has(OPTION_TIMESTAMPS),
        has_selective_acknowledgement: has(OPTION_SELECTIVE_ACKNOWLEDGEMENT),
        has_window_scaling: has(OPTION_WINDOW_SCALING),
    })
}

/// A rate of the kernel's, bytes/s, in bit/s; 0 if there is none.
fn bits(bytes_per_s: u64) -> u64 {
    if bytes_per_s == u64::MAX { 0 } else { bytes_per_s.saturating_mul(8) }
}

const STATE_CLOSE: u8 = 7;
const OPTION_TIMESTAMPS: u8 = 1;
const OPTION_SELECTIVE_ACKNOWLEDGEMENT: u8 = 2;
const OPTION_WINDOW_SCALING: u8 = 4;

/// Limit the segments and the receive window of a socket before it connects or listens. A listener
/// passes the limits on to its connections (`TCP_MAXSEG`, `TCP_WINDOW_CLAMP`, tcp(7)).
///
/// From Linux 6.6 on, the clamp moves with the receive buffer, so the buffer limits the window. The
/// kernel reserves a part of the buffer that depends on how segments arrive. With 7/8 of the
/// window, Linux 6.18 mostly announced 5/6 to 1 of the requested window, and 1.16 on a busy machine
/// where segments arrived together. [`TcpInfo::window_bytes`] has the announced window.
///
/// Acknowledgements are delayed from the start (`TCP_QUICKACK`), by 40 to 200 ms as the kernel
/// chooses; no option sets the delay.
pub fn limit_tcp(socket: &impl AsFd, limits: TcpLimits) -> io::Result<()> {
    let set = |name, value: u32| {
        let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
        set_option(socket.as_fd(), libc::IPPROTO_TCP, name, &value)
    };
    set(libc::TCP_MAXSEG, limits.maximum_segment_bytes)?;
    let buffer_bytes =
        libc::c_int::try_from(limits.window_bytes / 8 * 7).unwrap_or(libc::c_int::MAX);
    set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer_bytes)?;
    set(libc::TCP_WINDOW_CLAMP, limits.window_bytes)?;
    set(libc::TCP_QUICKACK, 0)
}

/// Acknowledge each segment at first, as on a connection on which nothing was sent yet.
///
/// Linux assumes that a program that has answered on a connection always answers, and then delays
/// its acknowledgements. So the window of a bulk sender would grow in bursts of two segments, and
/// its queue on the link would be longer than that of a sender that only sends.
pub fn acknowledge_at_once(socket: &impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_QUICKACK, &on)
}

/// End the connections from a port of this process to some peers, in any part of the process.
pub fn shut_down_connections(port: u16, peers: &BTreeSet<SocketAddr>) {
    let is_one = |socket: &SockRef<'_>| {
        address(socket.peer_addr()).is_some_and(|peer| peers.contains(&peer))
    };
    for socket in own_sockets(port, is_one) {
        let _ = SockRef::from(&socket).shutdown(Shutdown::Both);
    }
}

/// Let this many connections wait at the listener of a port, in any part of the process.
pub fn lengthen_accept_queue(port: u16, connections: i32) {
    for socket in own_sockets(port, |socket| socket.is_listener().unwrap_or(false)) {
        let _ = SockRef::from(&socket).listen(connections);
    }
}

fn address(address: io::Result<SockAddr>) -> Option<SocketAddr> {
    address.ok().and_then(|address| address.as_socket())
}

fn own_sockets(port: u16, is_one: impl Fn(&SockRef<'_>) -> bool) -> impl Iterator<Item = OwnedFd> {
    let is_one = move |socket: &SockRef<'_>| {
        address(socket.local_addr()).is_some_and(|local| local.port() == port) && is_one(socket)
    };
    let all = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = all.filter_map(|one| one.file_name().to_str()?.parse().ok());
    numbers.filter_map(move |number| {
        // SAFETY: the call only reads its addresses and duplicates it; both fail once it is closed.
        let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
        if !is_one(&SockRef::from(&borrowed)) {
            return None;
        }
        let owned = borrowed.try_clone_to_owned().ok()?;
        // Another socket may have this number by now; the duplicate stays valid.
        let is_same = is_one(&SockRef::from(&owned));
        is_same.then_some(owned)
    })
}

/// Limit the unsent data that a socket buffers, bytes (`TCP_NOTSENT_LOWAT`, tcp(7)); 0: the system's limit.
pub fn limit_unsent(socket: &impl AsFd, bytes: u32) -> io::Result<()> {
    set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &bytes)
}

/// Report a socket as readable only once it has this many bytes, or has ended (`SO_RCVLOWAT`, socket(7)).
pub fn ready_from(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, &bytes)
}

pub fn unread_bytes(socket: &impl AsFd) -> io::Result<u64> {
    Ok(rustix::io::ioctl_fionread(socket)?)
}

/// Choose the congestion control of a socket by its name.
///
/// # Errors
/// `ENOENT` if the kernel does not have it, `EPERM` if this user may not choose it.
pub fn set_congestion_control(socket: &impl AsFd, name: &str) -> io::Result<()> {
    SockRef::from(socket).set_tcp_congestion(name.as_bytes())
}

/// Read available data without waiting.
pub fn receive_now(connection: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    receive(connection, buffer, libc::MSG_DONTWAIT)
}

#[inline]
pub(super) fn receive(
    socket: &impl AsRawFd,
    buffer: &mut [u8],
    flags: libc::c_int,
) -> io::Result<usize> {
    // SAFETY: pointer and length describe `buffer`.
    let received =
        unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

/// Write as much as there is room for, without waiting.
pub fn send_now(connection: &TcpStream, octets: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length describe `octets`.
    let sent = unsafe {
        let (start, length) = (octets.as_ptr().cast(), octets.len());
        libc::send(connection.as_raw_fd(), start, length, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}
