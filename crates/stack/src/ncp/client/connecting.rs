//! Session set-up: from buffer size to volume handle.

use lanlab_wire::ncp::bindery::{self, KEY_LEN, object};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{Allocate, Allocated};
use lanlab_wire::ncp::files::WRITE_LEN;
use lanlab_wire::ncp::function::{self, Function};
use lanlab_wire::ncp::negotiation::{AcceptedPacket, Buffer, Packet, ServerInformation};
use lanlab_wire::ncp::text::{Name, unpadded};

use super::refusals::{malformed, protocol, refused};
use super::{Client, Step};
use crate::ncp::{data_in_packet, keyed, packet_bytes};
use crate::redirector::{Done, Reason, RedirectorFacts, Refusal};

const GUEST: &str = "GUEST";
/// Drive letter for the volume handle.
const DRIVE: u8 = b'F';

/// First NetWare version asked for large packets; earlier ones never have them.
const LARGE_PACKETS_SINCE: (u8, u8) = (3, 11);

#[derive(Debug, Clone, Copy)]
pub(super) enum Connecting {
    Buffer,
    Information,
    Packet,
    Bursts,
    Key,
    User { key: [u8; KEY_LEN] },
    Login { is_keyed: bool },
    Volume { is_keyed: bool },
}

impl Client {
    pub(super) fn go_on(
        &mut self,
        function: Function,
        connecting: Connecting,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.ask_on(Self::CONNECTED, function, Step::Connecting(connecting), write);
    }

    pub(super) fn negotiate(&mut self) {
        // A write request has its function code before the data.
        let room = self.plan.carrier.longest_message.saturating_sub(1 + WRITE_LEN as u32);
        self.data_bytes = u32::from(self.plan.most_data_bytes).min(room);
        let octets = self.data_bytes as u16;
        self.go_on(function::NEGOTIATE_BUFFER, Connecting::Buffer, |out| {
            Buffer { octets }.emit(out);
        });
    }

    fn user(&self) -> (String, String) {
        let user = self.plan.user.as_ref();
        user.map_or((GUEST.to_owned(), String::new()), |user| {
            (user.name.to_ascii_uppercase(), user.password.to_ascii_uppercase())
        })
    }

    pub(super) fn connecting(
        &mut self,
        connecting: Connecting,
        (asked, code): (Function, u8),
        reply: &[u8],
    ) -> Result<(), Refusal> {
        let (kind, (user, password)) = (object::USER, self.user());
        let name = Name(user.as_bytes());
        let is_done = code == completion::OK;
        match connecting {
            Connecting::Buffer if is_done => {
                let Buffer { octets } = Buffer::parse(reply).map_err(malformed)?;
                if octets == 0 {
                    return Err(protocol("the server takes data of 0 octets"));
                }
                self.data_bytes = self.data_bytes.min(u32::from(octets));
                self.go_on(function::SERVER_INFORMATION, Connecting::Information, |_| {});
            }
            Connecting::Information if is_done => {
                let found = ServerInformation::parse(reply).map_err(malformed)?;
                let name = String::from_utf8_lossy(unpadded(&found.name)).into_owned();
                self.server = Some((name, (found.version, found.subversion)));
                let is_new = (found.version, found.subversion) >= LARGE_PACKETS_SINCE;
                if is_new && self.plan.large_packets {
                    let octets = packet_bytes(self.plan.carrier);
                    let proposed = Packet { octets, security: 0 };
                    let step = Connecting::Packet;
                    self.go_on(function::NEGOTIATE_PACKET, step, |out| proposed.emit(out));
                } else if !(is_new && self.offer_bursts()) {
                    self.go_on(function::GET_KEY, Connecting::Key, |_| {});
                }
            }
            Connecting::Packet => {
                if is_done {
                    let accepted = AcceptedPacket::parse(reply).map_err(malformed)?.octets;
                    let octets = accepted.min(packet_bytes(self.plan.carrier));
                    self.has_large_packets = data_in_packet(octets) > self.data_bytes;
                    self.data_bytes = self.data_bytes.max(data_in_packet(octets));
                }
                if !self.offer_bursts() {
                    self.go_on(function::GET_KEY, Connecting::Key, |_| {});
                }
            }
            // A server without bursts reports an unknown function: each block is then one packet.
            Connecting::Bursts => {
                if is_done {
                    self.burst_accepted(reply)?;
                }
                self.go_on(function::GET_KEY, Connecting::Key, |_| {});
            }
            Connecting::Key if is_done => {
                let key = reply.first_chunk().copied();
                let key = key.ok_or_else(|| protocol("a login key that is too short"))?;
                self.go_on(function::OBJECT_ID, Connecting::User { key }, |out| {
                    bindery::Named { kind, name }.emit(out);
                });
            }
            // A server without keyed logins accepts the password itself.
            Connecting::Key if code == completion::UNSUPPORTED => {
                let login = bindery::PlainLogin { kind, name, password: Name(password.as_bytes()) };
                let step = Connecting::Login { is_keyed: false };
                self.go_on(function::LOG_IN, step, |out| login.emit(out));
            }
            Connecting::User { key } if is_done => {
                let found = bindery::Object::parse(reply).map_err(malformed)?;
                let proof = keyed::proof(found.number, &password, key);
                let login = bindery::KeyedLogin { proof, kind, name };
                let step = Connecting::Login { is_keyed: true };
                self.go_on(function::LOG_IN_KEYED, step, |out| login.emit(out));
            }
            Connecting::Login { is_keyed } if is_done => {
                let path = format!("{}:", self.plan.volume.to_ascii_uppercase());
                let path = Name(path.as_bytes());
                let step = Connecting::Volume { is_keyed };
                self.go_on(function::ALLOCATE_PERMANENT, step, |out| {
                    Allocate { handle: 0, letter: DRIVE, path }.emit(out);
                });
            }
            Connecting::User { .. } | Connecting::Login { .. } => {
                let message = refused(asked, code).message;
                return Err(Refusal::new(Reason::Login, format!("{message}: user `{user}`")));
            }
            Connecting::Volume { is_keyed } if is_done => {
                let found = Allocated::parse(reply).map_err(malformed)?;
                self.root = found.handle;
                self.connected(is_keyed);
            }
            Connecting::Volume { .. } => {
                let refusal = refused(asked, code);
                let volume = &self.plan.volume;
                let message = format!("{}: volume `{volume}`", refusal.message);
                return Err(Refusal { message, ..refusal });
            }
            _ => return Err(refused(asked, code)),
        }
        Ok(())
    }

    fn connected(&mut self, is_keyed: bool) {
        let (server, version) = self.server.clone().unwrap_or_default();
        let (major, minor) = version;
        let login = if is_keyed { "keyed login" } else { "login with a plain password" };
        let one_packet = (self.data_bytes, self.data_bytes);
        let (read_bytes, write_bytes) = self.bursts.unwrap_or(one_packet);
        let bursts = if self.bursts.is_some() { ", packet burst" } else { "" };
        self.calls.facts = Some(RedirectorFacts {
            protocol: format!("NCP, NetWare {major}.{minor:02}, {login}{bursts}"),
            protection: "none".to_owned(),
            server: Some(server),
            read_bytes,
            write_bytes,
            largest_file_bytes: u64::from(u32::MAX),
            depth: 1,
            short_names: true,
        });
        self.calls.end(Self::CONNECTED, Ok(Done::Nothing));
    }
}
