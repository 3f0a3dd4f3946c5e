//! Raw links: whole Ethernet frames from and to one interface.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check;
use super::ethtool::{control, named};
use super::packet_socket::PacketSocket;
use super::rtnetlink::Rtnetlink;
use super::tap::Tap;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RawLinkPlace {
    /// An interface of the calling thread's network namespace, by name. Requires `CAP_NET_RAW`.
    Interface(String),
    /// A bound packet socket or attached TAP, opened by another process and inherited. Requires no rights.
    Descriptor(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawFrames {
    /// Frames with a length field (IEEE 802.2, raw 802.3), IPX (0x8137, 0x8138) and XNS (0x0600) on Ethernet II, as
    /// used by historic protocols. The kernel drops all others.
    Historic,
    /// ARP, and IPv4 to this address: traffic of a station, without the host's.
    ToAddress(Ipv4Addr),
    All,
}

/// Highest value of the length field (IEEE 802.3-2022, 3.2.6).
const LONGEST_LENGTH: u32 = 1500;
/// Ethernet types of IPX and XNS (IEEE's register of `EtherType`s).
const HISTORIC_TYPES: [u32; 3] = [0x8137, 0x8138, 0x0600];
/// The shortest frame without its check sequence (IEEE 802.3-2022, 3.2.8).
const SHORTEST_FRAME_BYTES: usize = 60;
/// All stations of `NetBIOS` on a LAN (IBM LAN Technical Reference, chapter 5).
const NETBIOS_GROUP: [u8; 6] = [3, 0, 0, 0, 0, 1];

const MOST_UNFILTERED: usize = 100_000;
const DROP: u32 = 0;
const KEEP: u32 = 0x4_0000;
const TYPE_OFFSET: u32 = 12;
/// Offset of the IPv4 destination (RFC 791, 3.1) after 14 bytes of Ethernet.
const IPV4_DESTINATION_OFFSET: u32 = 14 + 16;
/// Ethernet types of ARP and IPv4.
const ARP_TYPE: u32 = 0x0806;
const IPV4_TYPE: u32 = 0x0800;

/// A link of whole frames. Frames that programs of this host send are not received.
#[derive(Debug)]
pub struct RawLink {
    kind: Kind,
    mac: [u8; 6],
    interface: String,
}

#[derive(Debug)]
enum Kind {
    Tap(Tap),
    PacketSocket(PacketSocket),
}

impl RawLink {
    /// Open a link. Only the named interface is used.
    ///
    /// # Errors
    /// `NotFound` if there is no such interface, `NetworkDown` if it is down, `PermissionDenied` without the
    /// right, `InvalidInput` if the descriptor is not a link or the interface is not Ethernet; or a system
    /// error.
    pub fn open(place: &RawLinkPlace, frames: RawFrames) -> io::Result<Self> {
        let socket = match place {
            RawLinkPlace::Interface(name) => PacketSocket::silent(index_of(name)?)?,
            RawLinkPlace::Descriptor(descriptor) => {
                // SAFETY: the call takes integers only, and fails if the descriptor is not open.
                let own = unsafe { libc::fcntl(*descriptor, libc::F_DUPFD_CLOEXEC, 3) };
                // SAFETY: the copy has no other owner.
                let own = unsafe { OwnedFd::from_raw_fd(check(own)?) };
                if let Some(name) = Tap::interface_of(own.as_fd()) {
                    let tap = Tap::given(File::from(own))?;
                    // The reader of a TAP is the other end of its wire, with its own address.
                    let mut mac = hardware_address(&name)?;
                    mac[5] ^= 0x80;
                    return Ok(Self { kind: Kind::Tap(tap), mac, interface: name });
                }
                PacketSocket::given(own)?
            }
        };
        let address = socket.address()?;
        if address.sll_hatype != libc::ARPHRD_ETHER || address.sll_halen != 6 {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the interface is no Ethernet"));
        }
        let mut mac = [0; 6];
        mac.copy_from_slice(&address.sll_addr[..6]);
        let index = address.sll_ifindex;
        match frames {
            RawFrames::Historic => socket.set_filter(&historic_filter())?,
            RawFrames::ToAddress(address) => socket.set_filter(&address_filter(address))?,
            RawFrames::All => {}
        }
        match frames {
            RawFrames::Historic => socket.join(index, Some(NETBIOS_GROUP))?,
            RawFrames::All => socket.join(index, None)?,
            RawFrames::ToAddress(_) => {}
        }
        socket.listen(index)?;
        let mut unfiltered = [0; 14];
        for _ in 0..MOST_UNFILTERED {
            // An inherited socket may hold frames that arrived before its filter.
            if matches!(place, RawLinkPlace::Interface(_))
                || socket.receive(&mut unfiltered)?.is_none()
            {
                break;
            }
        }
        socket.new_drops();
        let interface = match place {
            RawLinkPlace::Interface(name) => name.clone(),
            RawLinkPlace::Descriptor(_) => name_of(index)?,
        };
        Ok(Self { kind: Kind::PacketSocket(socket), mac, interface })
    }

    /// Make a TAP of this name in the network namespace of the calling thread, and become the other end of
    /// its wire, with this hardware address. The interface is removed on drop.
    pub fn tap(interface: &str, mac: [u8; 6]) -> io::Result<Self> {
        let kind = Kind::Tap(Tap::open(interface)?);
        Ok(Self { kind, mac, interface: interface.to_owned() })
    }

    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// The next frame from its destination address on, with padding and without check sequence, if any.
    ///
    /// # Errors A system error; `NetworkDown` once if the interface was taken down.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.kind {
            Kind::Tap(tap) => tap.receive(into),
            Kind::PacketSocket(socket) => socket.receive(into),
        }
    }

    /// Send a frame, padded to Ethernet's minimum; `false` if the interface is down or its queue is full.
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        let mut padded = [0; SHORTEST_FRAME_BYTES];
        let whole = match padded.get_mut(..frame.len()) {
            Some(head) if frame.len() < SHORTEST_FRAME_BYTES => {
                head.copy_from_slice(frame);
                &padded[..]
            }
            _ => frame,
        };
        let sent = match &self.kind {
            Kind::Tap(tap) => tap.send(whole),
            Kind::PacketSocket(socket) => socket.send(whole),
        };
        match sent {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            sent => sent,
        }
    }

    /// Frames dropped by the kernel for lack of room, since the last call.
    pub fn new_drops(&self) -> u64 {
        match &self.kind {
            Kind::Tap(_) => 0,
            Kind::PacketSocket(socket) => socket.new_drops(),
        }
    }
}

impl AsFd for RawLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tap(tap) => tap.as_fd(),
            Kind::PacketSocket(socket) => socket.as_fd(),
        }
    }
}

/// A duplicate descriptor of a link, to wait for frames elsewhere.
#[derive(Debug)]
pub struct LinkDescriptor(OwnedFd);

impl LinkDescriptor {
    /// Duplicate the descriptor of this link.
    pub fn of(link: &impl AsFd) -> io::Result<Self> {
        Ok(Self(link.as_fd().try_clone_to_owned()?))
    }
}

impl AsFd for LinkDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for LinkDescriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn index_of(name: &str) -> io::Result<i32> {
    let found = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENODEV) => io::Error::new(ErrorKind::NotFound, "no such interface"),
        _ => error,
    };
    // Checked before the socket, so that an invalid name is reported even without the right to open one.
    let mut argument = named(name).map_err(found)?;
    // SAFETY: the request writes flags into the argument itself.
    unsafe { control(libc::SIOCGIFFLAGS as _, &mut argument) }.map_err(found)?;
    // SAFETY: the request has written them.
    let flags = unsafe { argument.ifr_ifru.ifru_flags };
    if i32::from(flags) & libc::IFF_UP == 0 {
        return Err(io::Error::new(ErrorKind::NetworkDown, "the interface is down"));
    }
    Rtnetlink::open()?.index_of(name)
}

fn hardware_address(name: &str) -> io::Result<[u8; 6]> {
    let mut argument = named(name)?;
    // SAFETY: the request writes an address into the argument itself.
    unsafe { control(libc::SIOCGIFHWADDR as _, &mut argument) }?;
    // SAFETY: the request has written it.
    let found = unsafe { argument.ifr_ifru.ifru_hwaddr }.sa_data;
    Ok(std::array::from_fn(|at| found[at].cast_unsigned()))
}

fn name_of(index: i32) -> io::Result<String> {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: the call writes at most `IF_NAMESIZE` bytes, with a zero at their end.
    let found = unsafe { libc::if_indextoname(index.cast_unsigned(), name.as_mut_ptr().cast()) };
    if found.is_null() {
        return Err(io::Error::last_os_error());
    }
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..length]).into_owned())
}

fn step(code: u32, jt: usize, jf: usize, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: jt as u8, jf: jf as u8, k }
}

/// A filter that accepts ARP, and IPv4 to an address.
fn address_filter(address: Ipv4Addr) -> Vec<libc::sock_filter> {
    let is = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    vec![
        step(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 0, 0, TYPE_OFFSET),
        step(is, 3, 0, ARP_TYPE),
        step(is, 0, 3, IPV4_TYPE),
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, IPV4_DESTINATION_OFFSET),
        step(is, 0, 1, address.to_bits()),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, KEEP),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, DROP),
    ]
}

fn historic_filter() -> Vec<libc::sock_filter> {
    let types = HISTORIC_TYPES.len();
    let load = step(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 0, 0, TYPE_OFFSET);
    // A matching length jumps to the last step, which keeps the frame.
    let longest = step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, types + 1, LONGEST_LENGTH);
    let mut program = vec![load, longest];
    for (number, kind) in HISTORIC_TYPES.into_iter().enumerate() {
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, types - number, 0, kind));
    }
    program.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, DROP));
    program.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, KEEP));
    program
}
