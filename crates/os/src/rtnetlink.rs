//! Requests to the kernel's routing socket (rtnetlink(7)), sent in batches: a large network takes tens of
//! thousands.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::path::Path;

use libc::{TCA_KIND, TCA_OPTIONS, TCA_STAB};

use super::check;

const IFLA_ADDRESS: u16 = 1;
pub const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_MODE_NONE: u8 = 1;
const VETH_INFO_PEER: u16 = 1;
const TCA_STAB_BASE: u16 = 1;
const TCA_STAB_DATA: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
const NESTED: u16 = 1 << 15;

pub const TC_H_ROOT: u32 = 0xffff_ffff;
const HANDLE: u32 = 1 << 16;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// Entries of the table: one for each length of an Ethernet frame.
const STAB_ENTRIES: usize = 2048;

pub const UP: u32 = libc::IFF_UP as u32;

const HEADER_BYTES: usize = 16;
const ATTRIBUTE_BYTES: usize = 4;
/// Types of answers (netlink(7)).
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const ANSWER_BYTES: usize = 32_768;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingQueue {
    pub rate_bps: u64,
    /// Largest burst after a pause, bytes on the wire.
    pub burst_bytes: u32,
    /// Length of the queue, bytes on the wire; more frames are dropped, and counted there.
    pub limit_bytes: u32,
    /// Bytes on the wire in addition to header and payload.
    pub overhead_bytes: u16,
    pub minimum_wire_bytes: u16,
}

#[derive(Debug)]
pub struct Rtnetlink {
    socket: File,
    sequence: u32,
    /// Bytes to send: complete messages, then the unfinished one, which begins at `begun`.
    requests: Vec<u8>,
    begun: usize,
}

impl Rtnetlink {
    pub fn open() -> io::Result<Self> {
        // SAFETY: takes integers only; the returned descriptor has no other owner.
        let socket = unsafe {
            let socket = check(libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC,
                libc::NETLINK_ROUTE,
            ))?;
            File::from_raw_fd(socket)
        };
        Ok(Self { socket, sequence: 0, requests: Vec::new(), begun: 0 })
    }

    pub fn index_of(&mut self, name: &str) -> io::Result<i32> {
        self.begin(libc::RTM_GETLINK, 0);
        self.link(0, 0, 0);
        self.text(IFLA_IFNAME, name);
        let mut index = None;
        self.send(|_, body| index = body.get(4..8).and_then(|octets| octets.try_into().ok()))?;
        index.map(i32::from_ne_bytes).ok_or_else(|| io::Error::other("the kernel's answer is cut"))
    }

    pub fn set_address(&mut self, index: i32, mac: [u8; 6]) -> io::Result<()> {
        self.begin(libc::RTM_NEWLINK, 0);
        self.link(index, 0, 0);
        self.attribute(IFLA_ADDRESS, &mac);
        self.send(|_, _| {})
    }

    /// Make a virtual cable (veth(4)): one end here, with that name and hardware address, the other in
    /// another network namespace.
    pub fn add_cable(
        &mut self,
        name: &str,
        mac: [u8; 6],
        other: &str,
        network: BorrowedFd<'_>,
    ) -> io::Result<()> {
        self.begin(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        self.link(0, 0, 0);
        self.text(IFLA_IFNAME, name);
        self.attribute(IFLA_ADDRESS, &mac);
        let about = self.open_nest(IFLA_LINKINFO);
        self.text(IFLA_INFO_KIND, "veth");
        let data = self.open_nest(IFLA_INFO_DATA);
        let peer = self.open_nest(VETH_INFO_PEER);
        self.link(0, 0, 0);
        self.text(IFLA_IFNAME, other);
        self.attribute(IFLA_NET_NS_FD, &network.as_raw_fd().to_ne_bytes());
        for nest in [peer, data, about] {
            self.close_nest(nest);
        }
        self.send(|_, _| {})
    }

    /// Bring an interface up without an address, so that the system sends nothing from it.
    pub fn take_up_silently(&mut self, index: i32) -> io::Result<()> {
        if Path::new("/proc/net/if_inet6").exists() {
            self.begin(libc::RTM_NEWLINK, 0);
            self.link(index, 0, 0);
            self.no_link_local_address();
        }
        self.begin(libc::RTM_NEWLINK, 0);
        self.link(index, UP, UP);
        self.send(|_, _| {})
    }

    pub fn no_link_local_address(&mut self) {
        let families = self.open_nest(IFLA_AF_SPEC);
        let ipv6 = self.open_nest(libc::AF_INET6 as u16);
        self.attribute(IFLA_INET6_ADDR_GEN_MODE, &[ADDR_GEN_MODE_NONE]);
        self.close_nest(ipv6);
        self.close_nest(families);
    }

    /// Install or change a token bucket (tc-tbf(8)) before an interface.
    pub fn set_token_bucket(&mut self, index: i32, queue: &SendingQueue) -> io::Result<()> {
        self.begin(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
        // struct tcmsg: family and padding, interface, handle, parent, info.
        self.octets(&[0; 4]);
        self.octets(&index.to_ne_bytes());
        for word in [HANDLE, TC_H_ROOT, 0] {
            self.octets(&word.to_ne_bytes());
        }
        self.text(TCA_KIND, "tbf");
        self.frame_sizes(queue);
        let options = self.open_nest(TCA_OPTIONS);
        let rate = u32::try_from(queue.rate_bps / 8).unwrap_or(u32::MAX);
        let mut parameters = Vec::with_capacity(36);
        // struct tc_tbf_qopt: rate and peak rate (tc_ratespec), limit, buffer, mtu.
        parameters.extend_from_slice(&[0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0]);
        parameters.extend_from_slice(&rate.to_ne_bytes());
        parameters.extend_from_slice(&[0; 12]);
        parameters.extend_from_slice(&queue.limit_bytes.to_ne_bytes());
        parameters.extend_from_slice(&[0; 8]);
        self.attribute(TCA_TBF_PARMS, &parameters);
        self.attribute(TCA_TBF_BURST, &queue.burst_bytes.to_ne_bytes());
        self.close_nest(options);
        self.send(|_, _| {})
    }

    /// Wire size of frames of each length (tc-stab(8)): without this table the bucket would ignore preamble, check
    /// sequence, gap and padding.
    fn frame_sizes(&mut self, queue: &SendingQueue) {
        let sizes = self.open_nest(TCA_STAB);
        // struct tc_sizespec: cell_log, size_log, cell_align, overhead, linklayer, mpu, mtu, tsize.
        let mut base = vec![0, 0];
        base.extend_from_slice(&0_i16.to_ne_bytes());
        base.extend_from_slice(&i32::from(queue.overhead_bytes).to_ne_bytes());
        for word in
            [0, u32::from(queue.minimum_wire_bytes), STAB_ENTRIES as u32 - 1, STAB_ENTRIES as u32]
        {
            base.extend_from_slice(&word.to_ne_bytes());
        }
        self.attribute(TCA_STAB_BASE, &base);
        let table: Vec<u8> = (0..STAB_ENTRIES as u16)
            .flat_map(|length| length.max(queue.minimum_wire_bytes).to_ne_bytes())
            .collect();
        self.attribute(TCA_STAB_DATA, &table);
        self.close_nest(sizes);
    }

    pub fn begin(&mut self, kind: u16, flags: libc::c_int) {
        self.finish();
        self.begun = self.requests.len();
        self.sequence += 1;
        // struct nlmsghdr: length (set when it is whole), type, flags, sequence, port.
        self.octets(&[0; 4]);
        self.octets(&kind.to_ne_bytes());
        self.octets(&((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        self.octets(&self.sequence.to_ne_bytes());
        self.octets(&[0; 4]);
    }

    /// struct ifinfomsg: an interface, the new values of its flags, and which flags to change.
    pub fn link(&mut self, index: i32, flags: u32, changed: u32) {
        self.octets(&[0; 4]);
        self.octets(&index.to_ne_bytes());
        self.octets(&flags.to_ne_bytes());
        self.octets(&changed.to_ne_bytes());
    }

    pub fn octets(&mut self, octets: &[u8]) {
        self.requests.extend_from_slice(octets);
    }

    pub fn text(&mut self, kind: u16, text: &str) {
        let octets: Vec<u8> = text.bytes().chain([0]).collect();
        self.attribute(kind, &octets);
    }

    pub fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(ATTRIBUTE_BYTES + value.len()).unwrap_or(u16::MAX);
        self.octets(&length.to_ne_bytes());
        self.octets(&kind.to_ne_bytes());
        self.octets(value);
        self.requests.resize(self.requests.len().next_multiple_of(4), 0);
    }

    pub fn open_nest(&mut self, kind: u16) -> usize {
        let at = self.requests.len();
        self.attribute(kind | NESTED, &[]);
        at
    }

    pub fn close_nest(&mut self, at: usize) {
        let length = u16::try_from(self.requests.len() - at).unwrap_or(u16::MAX);
        self.requests[at..at + 2].copy_from_slice(&length.to_ne_bytes());
    }

    fn finish(&mut self) {
        if self.requests.len() > self.begun {
            let length = (self.requests.len() - self.begun) as u32;
            self.requests[self.begun..self.begun + 4].copy_from_slice(&length.to_ne_bytes());
        }
    }

    /// Send the collected messages, and wait until the kernel has handled them all. `on_reply` receives each
    /// reply's type, and its content after the header.
    pub fn send(&mut self, mut on_reply: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.finish();
        // The kernel handles messages in order: the last answer completes all. Dumps end
        // separately.
        let at = self.begun + 6;
        let flags = u16::from_ne_bytes([self.requests[at], self.requests[at + 1]]);
        let flags = flags | libc::NLM_F_ACK as u16;
        self.requests[at..at + 2].copy_from_slice(&flags.to_ne_bytes());
        let sent = self.socket.write_all(&self.requests);
        self.requests.clear();
        self.begun = 0;
        sent?;
        let mut failed = None;
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            let length = self.socket.read(&mut answer)?;
            let mut rest = &answer[..length];
            while let Some((kind, sequence, body)) = next_message(&mut rest) {
                if kind != NLMSG_ERROR && kind != NLMSG_DONE {
                    on_reply(kind, body);
                    continue;
                }
                // An error number, negative; zero for success.
                let number = body.first_chunk().map_or(0, |octets| i32::from_ne_bytes(*octets));
                if number < 0 && failed.is_none() {
                    failed = Some(io::Error::from_raw_os_error(-number));
                }
                if sequence == self.sequence {
                    return failed.map_or(Ok(()), Err);
                }
            }
        }
    }
}

fn next_message<'a>(rest: &mut &'a [u8]) -> Option<(u16, u32, &'a [u8])> {
    let header: &[u8; HEADER_BYTES] = rest.first_chunk()?;
    let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let kind = u16::from_ne_bytes([header[4], header[5]]);
    let sequence = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
    let body = rest.get(HEADER_BYTES..length)?;
    *rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, sequence, body))
}

/// The attributes after a message's header, or nested in another attribute.
pub fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header: &[u8; ATTRIBUTE_BYTES] = rest.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]) & !NESTED;
        let value = rest.get(ATTRIBUTE_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtnetlink_reports_loopback_and_names_errors() {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        assert_eq!(rtnetlink.index_of("lo").unwrap(), 1);
        let none = rtnetlink.index_of("no-such").unwrap_err();
        assert_eq!(none.raw_os_error(), Some(libc::ENODEV));
        // Of several messages the first error is returned; no reply is left for the next request.
        for name in ["no-such", "lo"] {
            rtnetlink.begin(libc::RTM_GETLINK, 0);
            rtnetlink.link(0, 0, 0);
            rtnetlink.text(IFLA_IFNAME, name);
        }
        let refused = rtnetlink.send(|_, _| {}).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENODEV));
        assert_eq!(rtnetlink.index_of("lo").unwrap(), 1);
    }

    #[test]
    fn truncated_entries_are_omitted() {
        let mut octets = vec![];
        for (kind, value) in [(1_u16, &b"abc"[..]), (NESTED | 2, b"four")] {
            octets.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
            octets.extend_from_slice(&kind.to_ne_bytes());
            octets.extend_from_slice(value);
            octets.resize(octets.len().next_multiple_of(4), 0);
        }
        let whole: Vec<_> = attributes(&octets).collect();
        assert_eq!(whole, [(1, &b"abc"[..]), (2, b"four")]);
        assert_eq!(attributes(&octets[..octets.len() - 1]).count(), 1);
        assert_eq!(attributes(&[0; 8]).count(), 0);
        assert_eq!(next_message(&mut &octets[..]), None);
    }
}
