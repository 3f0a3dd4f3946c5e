//! Frames as octets: Ethernet, IP and UDP headers.
//!
//! Source: IEEE 802.3, 3.2 (type interpretation); RFC 791, RFC 8200, RFC 768.

use std::net::{IpAddr, SocketAddr};

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    Icmpv4Message, Icmpv4Packet, IpAddress, IpProtocol, IpRepr, Ipv4Packet, Ipv6Packet, TcpControl,
    TcpPacket, TcpRepr, TcpSeqNumber, UDP_HEADER_LEN, UdpPacket, UdpRepr,
};

use super::{ETHERNET_HEADER_BYTES, MTU_BYTES, Mac};

const IPV4_ETHER_TYPE: [u8; 2] = [0x08, 0x00];
const IPV6_ETHER_TYPE: [u8; 2] = [0x86, 0xdd];
const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;
const HOP_LIMIT: u8 = 64;

#[derive(Debug)]
pub(super) enum Carried<'a> {
    Datagram { from: SocketAddr, to: SocketAddr, payload: &'a [u8] },
    Segment { from: SocketAddr, to: SocketAddr, is_syn: bool, packet: &'a [u8] },
    EchoRequest { to: IpAddr, packet: &'a [u8] },
}

pub(super) fn ip_header_bytes(address: IpAddr) -> usize {
    if address.is_ipv4() { IPV4_HEADER_BYTES } else { IPV6_HEADER_BYTES }
}

pub(super) fn longest_datagram_bytes(to: IpAddr) -> usize {
    MTU_BYTES - ip_header_bytes(to) - UDP_HEADER_LEN
}

pub(super) fn emit_ethernet(source: Mac, destination: Mac, to: IpAddr, header: &mut [u8]) {
    header[..6].copy_from_slice(&destination);
    header[6..12].copy_from_slice(&source);
    let ether_type = if to.is_ipv4() { IPV4_ETHER_TYPE } else { IPV6_ETHER_TYPE };
    header[12..ETHERNET_HEADER_BYTES].copy_from_slice(&ether_type);
}

/// Write the headers of a packet. Returns its addresses, and room for the `length` octets of its payload.
fn begin(
    macs: (Mac, Mac),
    (from, to): (SocketAddr, SocketAddr),
    protocol: IpProtocol,
    length: usize,
    frame: &mut Vec<u8>,
) -> (IpAddress, IpAddress, &mut [u8]) {
    let (source, destination) = (IpAddress::from(from.ip()), IpAddress::from(to.ip()));
    let ip = IpRepr::new(source, destination, protocol, length, HOP_LIMIT);
    let header_bytes = ETHERNET_HEADER_BYTES + ip.header_len();
    frame.clear();
    frame.resize(header_bytes + length, 0);
    emit_ethernet(macs.0, macs.1, to.ip(), frame);
    ip.emit(&mut frame[ETHERNET_HEADER_BYTES..], &ChecksumCapabilities::default());
    (source, destination, &mut frame[header_bytes..])
}

pub(super) fn emit_datagram(
    macs: (Mac, Mac),
    from: SocketAddr,
    to: SocketAddr,
    payload: &[u8],
    frame: &mut Vec<u8>,
) {
    let udp = UdpRepr { src_port: from.port(), dst_port: to.port() };
    let length = UDP_HEADER_LEN + payload.len();
    let (source, destination, octets) = begin(macs, (from, to), IpProtocol::Udp, length, frame);
    let mut packet = UdpPacket::new_unchecked(octets);
    let copy = |room: &mut [u8]| room.copy_from_slice(payload);
    udp.emit(
        &mut packet,
        &source,
        &destination,
        payload.len(),
        copy,
        &ChecksumCapabilities::default(),
    );
}

/// Write to `frame` the reset that answers `packet`, a segment for no connection, without padding
/// and check sequence (RFC 9293, section 3.10.7.1). Returns false if `packet` is a reset.
pub(super) fn emit_reset(
    macs: (Mac, Mac),
    (from, to): (SocketAddr, SocketAddr),
    packet: &[u8],
    frame: &mut Vec<u8>,
) -> bool {
    let segment = packet.get(ip_header_bytes(to.ip())..);
    let Some(segment) = segment.and_then(|octets| TcpPacket::new_checked(octets).ok()) else {
        return false;
    };
    let (source, destination) = (IpAddress::from(to.ip()), IpAddress::from(from.ip()));
    if segment.rst() || !segment.verify_checksum(&destination, &source) {
        return false;
    }
    let (seq_number, ack_number) = if segment.ack() {
        (segment.ack_number(), None)
    } else {
        (TcpSeqNumber(0), Some(segment.seq_number() + segment.segment_len()))
    };
    let bare = bare(to.port(), from.port());
    let reset = TcpRepr { control: TcpControl::Rst, seq_number, ack_number, ..bare };
    emit_segment(macs, (to, from), &reset, frame);
    true
}

/// The frame that answers an echo request (RFC 792).
pub(super) fn echo_reply(macs: (Mac, Mac), request: &[u8]) -> Vec<u8> {
    let mut frame = [&macs.1, &macs.0, &IPV4_ETHER_TYPE[..], request].concat();
    let mut ip = Ipv4Packet::new_unchecked(&mut frame[ETHERNET_HEADER_BYTES..]);
    let (source, destination) = (ip.src_addr(), ip.dst_addr());
    ip.set_src_addr(destination);
    ip.set_dst_addr(source);
    let mut echo = Icmpv4Packet::new_unchecked(ip.payload_mut());
    echo.set_msg_type(Icmpv4Message::EchoReply);
    echo.fill_checksum();
    frame
}

/// A segment without flags, numbers and options.
pub(super) fn bare(src_port: u16, dst_port: u16) -> TcpRepr<'static> {
    TcpRepr {
        src_port,
        dst_port,
        control: TcpControl::None,
        seq_number: TcpSeqNumber(0),
        ack_number: None,
        window_len: 0,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: &[],
    }
}

pub(super) fn emit_segment(
    macs: (Mac, Mac),
    (from, to): (SocketAddr, SocketAddr),
    tcp: &TcpRepr<'_>,
    frame: &mut Vec<u8>,
) {
    let ends = (from, to);
    let (source, destination, octets) = begin(macs, ends, IpProtocol::Tcp, tcp.buffer_len(), frame);
    let mut written = TcpPacket::new_unchecked(octets);
    tcp.emit(&mut written, &source, &destination, &ChecksumCapabilities::default());
}

/// A segment with a correct checksum and readable options.
pub(super) fn parse_segment(
    from: SocketAddr,
    to: SocketAddr,
    packet: &[u8],
) -> Option<TcpRepr<'_>> {
    let segment = TcpPacket::new_checked(packet.get(ip_header_bytes(to.ip())..)?).ok()?;
    let (source, destination) = (IpAddress::from(from.ip()), IpAddress::from(to.ip()));
    TcpRepr::parse(&segment, &source, &destination, &ChecksumCapabilities::default()).ok()
}

/// The payload of a frame to `mac`; `None` if it is for another host, damaged, or of another protocol.
pub(super) fn parse(mac: Mac, frame: &[u8]) -> Option<Carried<'_>> {
    let (header, packet) = frame.split_at_checked(ETHERNET_HEADER_BYTES)?;
    if header[..6] != mac {
        return None;
    }
    let (source, destination, protocol, packet, payload) = match [header[12], header[13]] {
        IPV4_ETHER_TYPE => {
            let ip = Ipv4Packet::new_checked(packet).ok()?;
            let is_whole = !ip.more_frags() && ip.frag_offset() == 0;
            if ip.version() != 4 || !is_whole || !ip.verify_checksum() {
                return None;
            }
            let addresses = (IpAddress::from(ip.src_addr()), IpAddress::from(ip.dst_addr()));
            let total = usize::from(ip.total_len());
            (addresses.0, addresses.1, ip.next_header(), packet.get(..total)?, ip.payload())
        }
        IPV6_ETHER_TYPE => {
            let ip = Ipv6Packet::new_checked(packet).ok()?;
            if ip.version() != 6 {
                return None;
            }
            let addresses = (IpAddress::from(ip.src_addr()), IpAddress::from(ip.dst_addr()));
            (
                addresses.0,
                addresses.1,
                ip.next_header(),
                packet.get(..ip.total_len())?,
                ip.payload(),
            )
        }
        _ => return None,
    };
    let socket = |address: IpAddress, port| SocketAddr::new(address.into(), port);
    match protocol {
        IpProtocol::Udp => {
            let udp = UdpPacket::new_checked(payload).ok()?;
            if !udp.verify_checksum(&source, &destination) || udp.dst_port() == 0 {
                return None;
            }
            let (from, to) = (socket(source, udp.src_port()), socket(destination, udp.dst_port()));
            Some(Carried::Datagram { from, to, payload: udp.payload() })
        }
        // The connection verifies the checksum.
        IpProtocol::Tcp => {
            let tcp = TcpPacket::new_checked(payload).ok()?;
            let (from, to) = (socket(source, tcp.src_port()), socket(destination, tcp.dst_port()));
            Some(Carried::Segment { from, to, is_syn: tcp.syn() && !tcp.ack(), packet })
        }
        IpProtocol::Icmp => {
            let echo = Icmpv4Packet::new_checked(payload).ok()?;
            let is_asked = echo.msg_type() == Icmpv4Message::EchoRequest && echo.verify_checksum();
            is_asked.then_some(Carried::EchoRequest { to: destination.into(), packet })
        }
        _ => None,
    }
}
