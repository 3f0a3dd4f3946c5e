//! Frames of stations on IPX and XNS without what begins with the clock.

use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::framing;
use lanlab_wire::ncp::burst;
use lanlab_wire::ncp::envelope::{Envelope, kind};
use lanlab_wire::ncp::function::{self, Function};
use lanlab_wire::{ipx, nbipx, xns};

/// What a number is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Socket,
    Connection,
}

/// A frame without what begins with the clock: the socket of a client, also in what `NetWare` says of bursts, the
/// connections of `NetBIOS` over IPX and of XNS, and the number of a packet exchange, as numbers in the order in which
/// they come.
fn without_clock(frame: &[u8], known: &mut Vec<(What, Mac, u16)>) -> Vec<u8> {
    // Both ends may have the same number, and a socket that of a connection.
    let mut number = |what: What, of: Mac, number: u16| {
        let own = (what, of, number);
        let at = known.iter().position(|known| *known == own).unwrap_or_else(|| {
            known.push(own);
            known.len() - 1
        });
        at as u16
    };
    let parsed = Frame::parse(frame).unwrap();
    if let Some((packet, framing)) = xns::framing::packet(&parsed) {
        let xns::idp::Packet { mut header, data, .. } = xns::idp::parse(packet).unwrap();
        let (to, from) = (parsed.header.destination, parsed.header.source);
        for (of, address) in [(from, &mut header.source), (to, &mut header.destination)] {
            if address.socket != xns::socket::SMB {
                address.socket = number(What::Socket, of, address.socket);
            }
        }
        let mut without = Vec::new();
        if header.kind == xns::packet_type::SEQUENCED {
            let (said, rest) = xns::spp::Header::split(data).unwrap();
            let source = number(What::Connection, from, said.source);
            let has_other = said.destination != xns::spp::NO_CONNECTION;
            let destination =
                if has_other { number(What::Connection, to, said.destination) } else { 0 };
            xns::spp::Header { source, destination, ..said }.emit(&mut without);
            without.extend_from_slice(rest);
        } else {
            without.extend_from_slice(&data[4..]);
        }
        let mut again = Vec::new();
        xns::framing::emit((to, from), framing, &header, &without, &mut again).unwrap();
        return again;
    }
    let Some((packet, framing)) = framing::packet(&parsed) else { return frame.to_vec() };
    let (mut header, data) = ipx::Header::parse(packet).unwrap();
    let mut data = data.to_vec();
    let (to, from) = (parsed.header.destination, parsed.header.source);
    let mut socket = |of: Mac, socket: u16| {
        let is_own = (ipx::socket::FIRST_DYNAMIC..=ipx::socket::LAST_DYNAMIC).contains(&socket);
        if is_own { number(What::Socket, of, socket) } else { socket }
    };
    for (of, address) in [(from, &mut header.source), (to, &mut header.destination)] {
        address.socket = socket(of, address.socket);
    }
    if header.kind == ipx::packet_type::NCP {
        data = netware_without_clock(&data, (to, from), socket);
    }
    if header.source.socket == ipx::socket::NETBIOS && nbipx::is_session(&data) {
        let (session, rest) = nbipx::SessionHeader::split(&data).unwrap();
        let source = number(What::Connection, from, session.source);
        let destination = number(What::Connection, to, session.destination);
        let rest = rest.to_vec();
        data.clear();
        nbipx::SessionHeader { source, destination, ..session }.emit(&mut data);
        data.extend_from_slice(&rest);
    }
    let mut again = Vec::new();
    framing::emit((to, from), framing, &header, &data, &mut again).unwrap();
    again
}

/// A packet of `NetWare`'s protocol whose sender's and receiver's sockets are said by `socket`. A client's number of a
/// connection with bursts begins with its socket.
fn netware_without_clock(
    data: &[u8],
    (to, from): (Mac, Mac),
    mut socket: impl FnMut(Mac, u16) -> u16,
) -> Vec<u8> {
    let mut without = Vec::new();
    if data.starts_with(&kind::BURST.to_be_bytes()) {
        let packet = burst::Packet::parse(data).unwrap();
        let (missing, header) = (packet.missing().collect::<Vec<_>>(), packet.header);
        let [source, destination] =
            [(from, header.source), (to, header.destination)].map(|(of, number)| {
                u32::from(socket(of, (number >> 16) as u16)) << 16 | number & 0xffff
            });
        burst::Header { source, destination, ..header }.emit(&missing, packet.data, &mut without);
        return without;
    }
    let (envelope, rest) = Envelope::parse(data).unwrap();
    match Function::parse(rest) {
        Ok((function::OFFER_BURST, offer)) if envelope.kind == kind::REQUEST => {
            let offer = burst::Offer::parse(offer).unwrap();
            let socket = socket(from, offer.socket);
            let connection = u32::from(socket) << 16 | offer.connection & 0xffff;
            let offer = burst::Offer { connection, socket, ..offer };
            envelope.emit(&mut without);
            function::OFFER_BURST.emit(&mut without, |out| offer.emit(out));
            without
        }
        _ => data.to_vec(),
    }
}

/// Packets of `NetWare`'s protocol alone. When a server says where it is depends on when others begin to ask.
pub fn of_netware(sent: [Vec<Vec<u8>>; 2]) -> [Vec<Vec<u8>>; 2] {
    let is_kept = |frame: &Vec<u8>| {
        let parsed = Frame::parse(frame).unwrap();
        let packet =
            framing::packet(&parsed).map(|(packet, _)| ipx::Header::parse(packet).unwrap().0);
        packet.is_some_and(|header| header.kind == ipx::packet_type::NCP)
    };
    sent.map(|frames| frames.into_iter().filter(is_kept).collect())
}

/// The same of all that each station sent.
pub fn all_without_clock(sent: [Vec<Vec<u8>>; 2]) -> [Vec<Vec<u8>>; 2] {
    sent.map(|frames| {
        let mut known = Vec::new();
        frames.iter().map(|frame| without_clock(frame, &mut known)).collect()
    })
}
