//! Packet sockets (packet(7)): all frames that come to an interface, and frames sent from it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{OFlags, fcntl_setfl};

use super::adapter_work::{HEADER_BYTES, Undone};
use super::{check, set_option};

/// Requested receive buffer: room for a thousand full frames, as in a TAP. Without the right to it the
/// system grants less.
const BUFFER_BYTES: libc::c_int = 1_538_000;
/// `include/uapi/linux/if_packet.h`: the kernel took the VLAN tag out of the frame, and reports it
/// apart from it.
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;
const VLAN_TPID: u16 = 0x8100;
const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: usize = 4;

const LONG_BYTES: usize = 65_535 + 14 + TAG_BYTES;

#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    /// If this socket does offloaded work: frames split from a long one that are still to be returned.
    cut: Option<Mutex<VecDeque<Vec<u8>>>>,
}

#[repr(C, align(8))]
struct Control([u8; 64]);

impl PacketSocket {
    pub fn open(index: i32) -> io::Result<Self> {
        let socket = Self::bound(index)?;
        // Frames bypass the queue of the interface, so they are sent at once.
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
        socket.listen(index)?;
        Ok(socket)
    }

    /// A socket that receives nothing until [`Self::listen`], to leave time for a filter. Frames
    /// are as on the wire: this socket does the work that the kernel offloads to adapters.
    pub fn silent(index: i32) -> io::Result<Self> {
        Self::bound(index)?.working_as_adapter()
    }

    fn bound(index: i32) -> io::Result<Self> {
        // SAFETY: takes integers only; the returned descriptor has no other owner.
        let socket = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            OwnedFd::from_raw_fd(check(libc::socket(libc::AF_PACKET, kind, 0))?)
        };
        let socket = Self { socket, cut: None };
        socket.bind(0, index)?;
        socket.prepare()?;
        Ok(socket)
    }

    /// A socket that another process has opened and bound to an interface.
    ///
    /// # Errors
    /// `InvalidInput` if the descriptor is not a packet socket, or not bound to an interface.
    pub fn given(descriptor: OwnedFd) -> io::Result<Self> {
        let socket = Self { socket: descriptor, cut: None };
        let about = |name| {
            let mut found = 0_i32;
            socket.option(libc::SOL_SOCKET, name, &mut found).map(|()| found)
        };
        if (about(libc::SO_DOMAIN)?, about(libc::SO_TYPE)?) != (libc::AF_PACKET, libc::SOCK_RAW) {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "no packet socket of whole frames",
            ));
        }
        if socket.address()?.sll_ifindex <= 0 {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a packet socket of no interface"));
        }
        fcntl_setfl(&socket, OFlags::NONBLOCK)?;
        socket.prepare()?;
        socket.working_as_adapter()
    }

    fn working_as_adapter(self) -> io::Result<Self> {
        set_option(self.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)?;
        Ok(Self { cut: Some(Mutex::default()), ..self })
    }

    fn prepare(&self) -> io::Result<()> {
        // Without `PACKET_IGNORE_OUTGOING`, sent frames would be received, too.
        for option in [libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING] {
            set_option(self.as_fd(), libc::SOL_PACKET, option, &1_i32)?;
        }
        let ask = |option| set_option(self.as_fd(), libc::SOL_SOCKET, option, &BUFFER_BYTES);
        ask(libc::SO_RCVBUFFORCE).or_else(|_| ask(libc::SO_RCVBUF))
    }

    pub fn listen(&self, index: i32) -> io::Result<()> {
        self.bind((libc::ETH_P_ALL as u16).to_be(), index)
    }

    fn bind(&self, protocol: u16, index: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid address.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the descriptor is open; pointer and length describe the address.
        check(unsafe { libc::bind(self.as_raw_fd(), (&raw const address).cast(), length) })
            .map(drop)
    }

    pub fn address(&self) -> io::Result<libc::sockaddr_ll> {
        // SAFETY: all-zero is a valid address.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        let place = (&raw mut address).cast();
        // SAFETY: the descriptor is open; pointer and length describe the address.
        check(unsafe { libc::getsockname(self.as_raw_fd(), place, &raw mut length) })?;
        Ok(address)
    }

    /// Receive only frames accepted by a classic BPF program.
    pub fn set_filter(&self, program: &[libc::sock_filter]) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: program.len() as libc::c_ushort,
            // The kernel only reads it.
            filter: program.as_ptr().cast_mut(),
        };
        set_option(self.as_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
    }

    /// Join a multicast group, or, without one, also receive frames for other stations.
    pub fn join(&self, index: i32, group: Option<[u8; 6]>) -> io::Result<()> {
        // SAFETY: all-zero is a valid request.
        let mut request: libc::packet_mreq = unsafe { std::mem::zeroed() };
        request.mr_ifindex = index;
        request.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
        if let Some(group) = group {
            request.mr_type = libc::PACKET_MR_MULTICAST as libc::c_ushort;
            request.mr_alen = group.len() as libc::c_ushort;
            request.mr_address[..group.len()].copy_from_slice(&group);
        }
        let membership = libc::PACKET_ADD_MEMBERSHIP;
        set_option(self.as_fd(), libc::SOL_PACKET, membership, &request)
    }

    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(cut) = &self.cut else {
            return Ok(self.receive_parts(&mut [part(into)])?.map(|(length, tag)| {
                let length = length.min(into.len());
                tag.map_or(length, |tag| put_in(tag, into, length))
            }));
        };
        let mut cut = cut.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = cut.pop_front() {
            return Ok(Some(copied(&next, into)));
        }
        let (mut header, mut rest) = ([0; HEADER_BYTES], MaybeUninit::<[u8; LONG_BYTES]>::uninit());
        let long = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: LONG_BYTES };
        let Some((length, tag)) = self.receive_parts(&mut [part(&mut header), part(into), long])?
        else {
            return Ok(None);
        };
        let (undone, length) = (Undone::parse(header), length.saturating_sub(HEADER_BYTES));
        if length <= into.len() && !undone.is_long() {
            undone.complete(&mut into[..length]);
            return Ok(Some(tag.map_or(length, |tag| put_in(tag, into, length))));
        }
        let mut whole = into[..length.min(into.len())].to_vec();
        // SAFETY: the kernel has written what is beyond the frame's room.
        whole.extend_from_slice(unsafe {
            std::slice::from_raw_parts(rest.as_ptr().cast::<u8>(), length - whole.len())
        });
        if undone.is_long() {
            *cut = undone.segments(&whole);
        } else {
            undone.complete(&mut whole);
            cut.push_back(whole);
        }
        for frame in cut.iter_mut() {
            if let Some(tag) = tag {
                frame.splice(ADDRESSES_BYTES..ADDRESSES_BYTES, tag);
            }
        }
        // A damaged long frame yields no frames.
        Ok(Some(cut.pop_front().map_or(0, |frame| copied(&frame, into))))
    }

    /// Receive into parts: the length, and the VLAN tag removed by the kernel.
    fn receive_parts(
        &self,
        parts: &mut [libc::iovec],
    ) -> io::Result<Option<(usize, Option<[u8; TAG_BYTES]>)>> {
        let mut control = Control([0; 64]);
        // SAFETY: all-zero is a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = size_of::<Control>() as _;
        // SAFETY: the descriptor is open; the message points to memory that outlives the call.
        let length = unsafe { libc::recvmsg(self.as_raw_fd(), &raw mut message, 0) };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            return if error.kind() == ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
        };
        // SAFETY: the kernel has written the message.
        Ok(Some((length, unsafe { tag(&message) })))
    }

    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        // This frame leaves no work to the adapter.
        let header = [0_u8; HEADER_BYTES];
        let parts = [&header[..], frame].map(|octets| libc::iovec {
            // The kernel only reads it.
            iov_base: octets.as_ptr().cast_mut().cast(),
            iov_len: octets.len(),
        });
        let parts = &parts[usize::from(self.cut.is_none())..];
        let count = 1 + libc::c_int::from(self.cut.is_some());
        // SAFETY: the descriptor is open; the parts describe the header and the frame.
        let sent = unsafe { libc::writev(self.as_raw_fd(), parts.as_ptr(), count) };
        if sent >= 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // The host's end is down, so this one has no carrier.
            Some(libc::ENOBUFS | libc::ENETDOWN) => Ok(false),
            _ => Err(error),
        }
    }

    pub fn new_drops(&self) -> u64 {
        // struct tpacket_stats: packets, drops.
        let mut counts = [0_u32; 2];
        // The kernel resets its counters on each read.
        match self.option(libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut counts) {
            Ok(()) => counts[1].into(),
            Err(_) => 0,
        }
    }

    pub fn buffer_bytes(&self) -> u64 {
        let mut granted = 0_i32;
        match self.option(libc::SOL_SOCKET, libc::SO_RCVBUF, &mut granted) {
            Ok(()) => u64::try_from(granted).unwrap_or(0),
            Err(_) => 0,
        }
    }

    fn option<T>(&self, level: libc::c_int, name: libc::c_int, value: &mut T) -> io::Result<()> {
        let mut length = size_of::<T>() as libc::socklen_t;
        let (descriptor, value) = (self.as_raw_fd(), std::ptr::from_mut(value).cast());
        // SAFETY: the descriptor is open; pointer and length describe `value`, which is of integers.
        check(unsafe { libc::getsockopt(descriptor, level, name, value, &raw mut length) })
            .map(drop)
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

fn part(buffer: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
}

fn copied(frame: &[u8], into: &mut [u8]) -> usize {
    let length = frame.len().min(into.len());
    into[..length].copy_from_slice(&frame[..length]);
    length
}

/// The VLAN tag that the kernel removed from a frame, as it was in the frame (IEEE 802.1Q, clause 9.4).
///
/// # Safety
/// `recvmsg(2)` has filled the message.
unsafe fn tag(message: &libc::msghdr) -> Option<[u8; TAG_BYTES]> {
    // SAFETY: the caller guarantees it; a header of this kind is followed by a whole `tpacket_auxdata`.
    let about = unsafe {
        let header = libc::CMSG_FIRSTHDR(message).as_ref()?;
        if (header.cmsg_level, header.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
            return None;
        }
        libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned()
    };
    if about.tp_status & TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let has_tpid = about.tp_status & TP_STATUS_VLAN_TPID_VALID != 0;
    let tpid = if has_tpid { about.tp_vlan_tpid } else { VLAN_TPID }.to_be_bytes();
    let tci = about.tp_vlan_tci.to_be_bytes();
    Some([tpid[0], tpid[1], tci[0], tci[1]])
}

/// Insert a tag after the addresses of a frame; returns the new length.
fn put_in(tag: [u8; TAG_BYTES], frame: &mut [u8], length: usize) -> usize {
    let whole = length + TAG_BYTES;
    if length < ADDRESSES_BYTES || whole > frame.len() {
        return length;
    }
    frame.copy_within(ADDRESSES_BYTES..length, ADDRESSES_BYTES + TAG_BYTES);
    frame[ADDRESSES_BYTES..ADDRESSES_BYTES + TAG_BYTES].copy_from_slice(&tag);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlan_tags_are_restored_if_there_is_room() {
        let mut frame = [0; 20];
        frame[..14].copy_from_slice(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0]);
        assert_eq!(put_in([0x81, 0, 0, 5], &mut frame, 14), 18);
        assert_eq!(frame[12..18], [0x81, 0, 0, 5, 8, 0]);
        assert_eq!(put_in([0x81, 0, 0, 5], &mut frame, 18), 18);
    }
}
