//! PDUs of IEEE 802.2 logical link control, types 1 and 2.
//!
//! Source: ISO/IEC 8802-2, sections 3 and 5.4. I and S frames have two octets of control, U frames one.
//! Numbers count modulo 128.

#[cfg(test)]
mod tests;

use crate::Error;
use crate::fields::codes;

const FORMAT: &str = "llc";

pub const MODULUS: u8 = 128;
/// Octets of SAPs and control of an I or S frame.
pub const NUMBERED_LEN: usize = 4;
/// Octets of SAPs and control of a U frame.
pub const UNNUMBERED_LEN: usize = 3;

pub mod sap {
    /// The station itself: XID and TEST only.
    pub const NULL: u8 = 0x00;
    pub const NETBIOS: u8 = 0xf0;
    pub const IPX: u8 = 0xe0;
    pub const SNAP: u8 = 0xaa;
    /// 3Com's XNS.
    pub const THREE_COM: u8 = 0x80;
    pub const GLOBAL: u8 = 0xff;
}

/// Bit of the SSAP that marks a PDU as a response.
const RESPONSE: u8 = 0x01;
const UNNUMBERED_POLL: u8 = 0x10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervisory {
    ReceiveReady,
    ReceiveNotReady,
    Reject,
}

codes! {
    Unnumbered {
        Information = 0x03,
        Identification = 0xaf,
        Test = 0xe3,
        Connect = 0x6f,
        Disconnect = 0x43,
        Acknowledgement = 0x63,
        Disconnected = 0x0f,
        FrameReject = 0x87,
    }
}

/// The control field. `poll` is P in a command and F in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    Information { send_number: u8, receive_number: u8, poll: bool },
    Supervisory { kind: Supervisory, receive_number: u8, poll: bool },
    Unnumbered { kind: Unnumbered, poll: bool },
}

impl Control {
    /// The octets as FRMR reports them; the second one is zero for a U frame.
    pub const fn to_wire(self) -> [u8; 2] {
        match self {
            Self::Information { send_number, receive_number, poll } => {
                [send_number << 1, receive_number << 1 | poll as u8]
            }
            Self::Supervisory { kind, receive_number, poll } => {
                let first = match kind {
                    Supervisory::ReceiveReady => 0x01,
                    Supervisory::ReceiveNotReady => 0x05,
                    Supervisory::Reject => 0x09,
                };
                [first, receive_number << 1 | poll as u8]
            }
            Self::Unnumbered { kind, poll } => {
                [kind.to_wire() | if poll { UNNUMBERED_POLL } else { 0 }, 0]
            }
        }
    }

    pub const fn octets(self) -> usize {
        if matches!(self, Self::Unnumbered { .. }) { 1 } else { 2 }
    }

    pub const fn poll(self) -> bool {
        match self {
            Self::Information { poll, .. }
            | Self::Supervisory { poll, .. }
            | Self::Unnumbered { poll, .. } => poll,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub destination_sap: u8,
    /// Source SAP, without the command/response bit.
    pub source_sap: u8,
    pub is_response: bool,
    pub control: Control,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownControl {
    pub destination_sap: u8,
    /// Source SAP, without the command/response bit.
    pub source_sap: u8,
    pub is_response: bool,
    pub control: [u8; 2],
}

impl Header {
    /// Read the header of a PDU; returns it with the information field.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the PDU is shorter than its header, [`Error::Forbidden`] if the
    /// control field is unknown; [`UnknownControl::parse`] reads such a PDU.
    pub fn parse(pdu: &[u8]) -> Result<(Self, &[u8]), Error> {
        Error::need(FORMAT, pdu, UNNUMBERED_LEN)?;
        let first = pdu[2];
        let control = if first & 0x03 == 0x03 {
            let poll = first & UNNUMBERED_POLL != 0;
            let kind = Unnumbered::from_wire(first & !UNNUMBERED_POLL);
            kind.map(|kind| Control::Unnumbered { kind, poll })
        } else {
            Error::need(FORMAT, pdu, NUMBERED_LEN)?;
            let (receive_number, poll) = (pdu[3] >> 1, pdu[3] & 1 != 0);
            if first & 0x01 == 0 {
                Some(Control::Information { send_number: first >> 1, receive_number, poll })
            } else {
                // The four bits above the type are reserved and ignored.
                let kind = match first & 0x0f {
                    0x01 => Some(Supervisory::ReceiveReady),
                    0x05 => Some(Supervisory::ReceiveNotReady),
                    0x09 => Some(Supervisory::Reject),
                    _ => None,
                };
                kind.map(|kind| Control::Supervisory { kind, receive_number, poll })
            }
        };
        let control = control.ok_or_else(|| Error::forbidden(FORMAT, "control", 2, first))?;
        let header = Self {
            destination_sap: pdu[0],
            source_sap: pdu[1] & !RESPONSE,
            is_response: pdu[1] & RESPONSE != 0,
            control,
        };
        Ok((header, &pdu[2 + control.octets()..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let response = if self.is_response { RESPONSE } else { 0 };
        out.extend_from_slice(&[self.destination_sap, self.source_sap & !RESPONSE | response]);
        out.extend_from_slice(&self.control.to_wire()[..self.control.octets()]);
    }

    pub const fn octets(&self) -> usize {
        2 + self.control.octets()
    }
}

impl UnknownControl {
    /// Read a PDU that [`Header::parse`] refuses because of its control field. `None` if it is too
    /// short.
    pub fn parse(pdu: &[u8]) -> Option<Self> {
        let [destination_sap, source_sap, first, rest @ ..] = pdu else { return None };
        let is_unnumbered = first & 0x03 == 0x03;
        let second = if is_unnumbered { 0 } else { *rest.first()? };
        Some(Self {
            destination_sap: *destination_sap,
            source_sap: source_sap & !RESPONSE,
            is_response: source_sap & RESPONSE != 0,
            control: [*first, second],
        })
    }
}

/// Why a frame cannot be accepted (ISO/IEC 8802-2, section 5.4.2.3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reasons(pub u8);

impl Reasons {
    pub const UNKNOWN_CONTROL: Self = Self(0x01);
    /// X, with W: the frame has an unexpected information field, or one of the wrong length.
    pub const UNEXPECTED_INFORMATION: Self = Self(0x03);
    pub const TOO_LONG: Self = Self(0x04);
    /// Z: N(R) is not between the last acknowledged and the last sent number.
    pub const RECEIVE_NUMBER: Self = Self(0x08);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameReject {
    pub control: [u8; 2],
    pub send_state: u8,
    pub receive_state: u8,
    pub was_response: bool,
    pub reasons: Reasons,
}

pub const FRAME_REJECT_LEN: usize = 5;

impl FrameReject {
    pub fn parse(information: &[u8]) -> Result<Self, Error> {
        let [first, second, send, receive, flags, ..] = *information else {
            return Err(Error::truncated(FORMAT, information, FRAME_REJECT_LEN));
        };
        Ok(Self {
            control: [first, second],
            send_state: send >> 1,
            receive_state: receive >> 1,
            was_response: receive & 1 != 0,
            reasons: Reasons(flags),
        })
    }

    pub const fn to_wire(self) -> [u8; FRAME_REJECT_LEN] {
        [
            self.control[0],
            self.control[1],
            self.send_state << 1,
            self.receive_state << 1 | self.was_response as u8,
            self.reasons.0,
        ]
    }
}

/// The information field of XID in IEEE's basic format (ISO/IEC 8802-2, section 5.4.1.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identification {
    /// Whether the station supports connections (class II) besides type 1.
    pub has_type_2: bool,
    /// Maximum number of unacknowledged I frames that it accepts, 0 to 127.
    pub receive_window: u8,
}

pub const IDENTIFICATION_LEN: usize = 3;
const BASIC_FORMAT: u8 = 0x81;

impl Identification {
    pub fn parse(information: &[u8]) -> Result<Self, Error> {
        let [format, classes, window, ..] = *information else {
            return Err(Error::truncated(FORMAT, information, IDENTIFICATION_LEN));
        };
        if format != BASIC_FORMAT {
            return Err(Error::forbidden(FORMAT, "XID format", 0, format));
        }
        Ok(Self { has_type_2: classes & 0x02 != 0, receive_window: window >> 1 })
    }

    pub const fn to_wire(self) -> [u8; IDENTIFICATION_LEN] {
        [BASIC_FORMAT, if self.has_type_2 { 0x03 } else { 0x01 }, self.receive_window << 1]
    }
}
