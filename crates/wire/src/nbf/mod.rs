//! NetBIOS frames (NBF), the protocol of NetBEUI: what LLC carries between SAPs F0.
//!
//! Source: IBM, Local Area Network Technical Reference (SC30-3587), chapter "NetBIOS frames". All
//! fields little-endian. Frames of names and datagrams go in UI frames with a header of 44 octets, frames
//! of sessions in I frames with one of 14. The length field holds the header's length only.

mod adapter_status;
#[cfg(test)]
mod tests;

use crate::ethernet::Mac;
use crate::netbios_name::{NAME_LEN, Name};
use crate::{Error, take};

pub use adapter_status::{AdapterStatus, ENTRY_LEN, FIXED_LEN, NameEntry};

const FORMAT: &str = "nbf";

mod field {
    use core::ops::Range;

    pub(super) const LENGTH: Range<usize> = 0..2;
    pub(super) const DELIMITER: Range<usize> = 2..4;
    pub(super) const COMMAND: usize = 4;
    pub(super) const DATA1: usize = 5;
    pub(super) const DATA2: Range<usize> = 6..8;
    pub(super) const TRANSMIT: Range<usize> = 8..10;
    pub(super) const RESPONSE: Range<usize> = 10..12;
    pub(super) const DESTINATION_NUMBER: usize = 12;
    pub(super) const SOURCE_NUMBER: usize = 13;
    pub(super) const DESTINATION_NAME: Range<usize> = 12..28;
    pub(super) const SOURCE_NAME: Range<usize> = 28..44;
}

/// Octets of the header of a frame of names and datagrams.
pub const NAME_HEADER_LEN: usize = field::SOURCE_NAME.end;
/// Octets of the header of a frame of a session.
pub const SESSION_HEADER_LEN: usize = field::SOURCE_NUMBER + 1;
/// What stands behind the length of every header.
const DELIMITER: u16 = 0xefff;

/// What a frame of names and datagrams is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameCommand {
    /// Does somebody object to this group name?
    AddGroupNameQuery,
    /// Does somebody object to this name?
    AddNameQuery,
    /// Two stations have the name.
    NameInConflict,
    /// Tell the state of your adapter.
    StatusQuery,
    /// End a trace at other stations.
    TerminateTrace,
    /// Data to a name.
    Datagram,
    /// Data to every station.
    DatagramBroadcast,
    /// Who has this name? With a session number: I want a session with it.
    NameQuery,
    /// The name is taken.
    AddNameResponse,
    /// I have the name.
    NameRecognized,
    /// The state of an adapter.
    StatusResponse,
    /// End a trace here and at other stations.
    TerminateTraces,
}

impl NameCommand {
    /// Every command.
    pub const ALL: [Self; 12] = [
        Self::AddGroupNameQuery,
        Self::AddNameQuery,
        Self::NameInConflict,
        Self::StatusQuery,
        Self::TerminateTrace,
        Self::Datagram,
        Self::DatagramBroadcast,
        Self::NameQuery,
        Self::AddNameResponse,
        Self::NameRecognized,
        Self::StatusResponse,
        Self::TerminateTraces,
    ];

    /// The octet that stands for it.
    pub const fn to_wire(self) -> u8 {
        match self {
            Self::AddGroupNameQuery => 0x00,
            Self::AddNameQuery => 0x01,
            Self::NameInConflict => 0x02,
            Self::StatusQuery => 0x03,
            Self::TerminateTrace => 0x07,
            Self::Datagram => 0x08,
            Self::DatagramBroadcast => 0x09,
            Self::NameQuery => 0x0a,
            Self::AddNameResponse => 0x0d,
            Self::NameRecognized => 0x0e,
            Self::StatusResponse => 0x0f,
            Self::TerminateTraces => 0x13,
        }
    }
}

/// What a frame of a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCommand {
    /// A message has arrived whole.
    DataAck,
    /// A part of a message that is not the last.
    DataFirstMiddle,
    /// The last or only part of a message.
    DataOnlyLast,
    /// The callee agrees to the session.
    SessionConfirm,
    /// The session ends.
    SessionEnd,
    /// The caller begins the session.
    SessionInitialize,
    /// There is no memory for the message.
    NoReceive,
    /// There is memory again: go on from here.
    ReceiveOutstanding,
    /// Go on with the message.
    ReceiveContinue,
    /// Are you there?
    SessionAlive,
}

impl SessionCommand {
    /// Every command.
    pub const ALL: [Self; 10] = [
        Self::DataAck,
        Self::DataFirstMiddle,
        Self::DataOnlyLast,
        Self::SessionConfirm,
        Self::SessionEnd,
        Self::SessionInitialize,
        Self::NoReceive,
        Self::ReceiveOutstanding,
        Self::ReceiveContinue,
        Self::SessionAlive,
    ];

    /// The octet that stands for it.
    pub const fn to_wire(self) -> u8 {
        match self {
            Self::DataAck => 0x14,
            Self::DataFirstMiddle => 0x15,
            Self::DataOnlyLast => 0x16,
            Self::SessionConfirm => 0x17,
            Self::SessionEnd => 0x18,
            Self::SessionInitialize => 0x19,
            Self::NoReceive => 0x1a,
            Self::ReceiveOutstanding => 0x1b,
            Self::ReceiveContinue => 0x1c,
            Self::SessionAlive => 0x1f,
        }
    }
}

/// Bits of `data1` of frames of a session.
pub mod flag {
    /// DATA FIRST MIDDLE: answer RECEIVE CONTINUE before I go on.
    pub const RECEIVE_CONTINUE: u8 = 0x01;
    /// Data, NO RECEIVE: the message needs no acknowledgement.
    pub const NO_ACK: u8 = 0x02;
    /// DATA ONLY LAST: the acknowledgement may come with data.
    pub const ACK_WITH_DATA_ALLOWED: u8 = 0x04;
    /// Data: acknowledges the message of the transmit correlator.
    pub const ACK_INCLUDED: u8 = 0x08;
    /// SESSION INITIALIZE and CONFIRM: I understand NO.ACK.
    pub const SEND_NO_ACK_ABLE: u8 = 0x80;
    /// SESSION INITIALIZE and CONFIRM: version 2 of NetBIOS.
    pub const VERSION_2: u8 = 0x01;
    /// ADD NAME RESPONSE: the name is being added by another station at the same time.
    pub const NAME_IN_PROCESS: u8 = 0x01;
}

/// Values of `data2`.
pub mod value {
    /// NAME RECOGNIZED: no session number is left.
    pub const NO_RESOURCES: u8 = 0xff;
    /// High octet of NAME QUERY and NAME RECOGNIZED, and ADD NAME RESPONSE: a group name.
    pub const GROUP: u8 = 1;
    /// Data: the first frame after RECEIVE OUTSTANDING.
    pub const RESYNCHRONIZE: u16 = 1;
    /// SESSION END: as agreed.
    pub const HANG_UP: u16 = 0;
    /// SESSION END: something went wrong.
    pub const ABNORMAL_END: u16 = 1;
    /// STATUS QUERY and STATUS RESPONSE, `data1`: of `NetBIOS` before 2.1, in one frame. The first query of
    /// later ones has 1; any other number is that of the names received, or sent, so far.
    pub const STATUS_IN_ONE_FRAME: u8 = 0;
    /// The first STATUS QUERY.
    pub const STATUS_FIRST: u8 = 1;
    /// STATUS RESPONSE: the frame is too short for all of it.
    pub const STATUS_FRAME_LIMIT: u16 = 0x8000;
    /// STATUS RESPONSE: the buffer of the asker is too small.
    pub const STATUS_OVERFLOW: u16 = 0x4000;
    /// STATUS RESPONSE: octets of the state.
    pub const STATUS_LENGTH: u16 = 0x3fff;
    /// Highest session number; the lowest one is 1.
    pub const LAST_SESSION_NUMBER: u8 = 254;
}

/// Header of a frame of names and datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameHeader {
    /// What it is for.
    pub command: NameCommand,
    /// Depends on the command.
    pub data1: u8,
    /// Depends on the command.
    pub data2: u16,
    /// The response correlator of the frame that this one answers.
    pub transmit_correlator: u16,
    /// What an answer has to repeat.
    pub response_correlator: u16,
    /// Name that the frame is for.
    pub destination: Name,
    /// Name of its sender.
    pub source: Name,
}

/// Header of a frame of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHeader {
    /// What it is for.
    pub command: SessionCommand,
    /// [`flag`]s.
    pub data1: u8,
    /// Depends on the command.
    pub data2: u16,
    /// The response correlator of the frame that this one answers.
    pub transmit_correlator: u16,
    /// What an answer has to repeat.
    pub response_correlator: u16,
    /// Session number at the receiver.
    pub destination_number: u8,
    /// Session number at the sender.
    pub source_number: u8,
}

/// Length, delimiter, command and the fields that every header has.
fn emit_common(
    header_len: usize,
    command: u8,
    (data1, data2): (u8, u16),
    correlators: [u16; 2],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&(header_len as u16).to_le_bytes());
    out.extend_from_slice(&DELIMITER.to_le_bytes());
    out.extend_from_slice(&[command, data1]);
    out.extend_from_slice(&data2.to_le_bytes());
    for correlator in correlators {
        out.extend_from_slice(&correlator.to_le_bytes());
    }
}

/// Check length and delimiter of a header of `header_len` octets.
fn check_common(frame: &[u8], header_len: usize) -> Result<(), Error> {
    if frame.len() < header_len {
        return Err(Error::Truncated { format: FORMAT, need: header_len, got: frame.len() });
    }
    for (field, range, only) in
        [("length", field::LENGTH, header_len as u16), ("delimiter", field::DELIMITER, DELIMITER)]
    {
        let offset = range.start;
        let found = u16::from_le_bytes(take(frame, range));
        if found != only {
            let value = u64::from(found);
            return Err(Error::Forbidden { format: FORMAT, field, offset, value });
        }
    }
    Ok(())
}

fn unknown_command(frame: &[u8]) -> Error {
    let offset = field::COMMAND;
    Error::Forbidden { format: FORMAT, field: "command", offset, value: u64::from(frame[offset]) }
}

fn word(frame: &[u8], range: core::ops::Range<usize>) -> u16 {
    u16::from_le_bytes(take(frame, range))
}

impl NameHeader {
    /// Read the header of a UI frame's information, and give it with what follows.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the frame is shorter than the header, [`Error::Forbidden`] if length,
    /// delimiter or command is none of a frame of names.
    pub fn parse(frame: &[u8]) -> Result<(Self, &[u8]), Error> {
        check_common(frame, NAME_HEADER_LEN)?;
        let command = NameCommand::ALL
            .into_iter()
            .find(|command| command.to_wire() == frame[field::COMMAND])
            .ok_or_else(|| unknown_command(frame))?;
        let header = Self {
            command,
            data1: frame[field::DATA1],
            data2: word(frame, field::DATA2),
            transmit_correlator: word(frame, field::TRANSMIT),
            response_correlator: word(frame, field::RESPONSE),
            destination: Name(take(frame, field::DESTINATION_NAME)),
            source: Name(take(frame, field::SOURCE_NAME)),
        };
        Ok((header, &frame[NAME_HEADER_LEN..]))
    }

    /// Append the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_common(
            NAME_HEADER_LEN,
            self.command.to_wire(),
            (self.data1, self.data2),
            [self.transmit_correlator, self.response_correlator],
            out,
        );
        out.extend_from_slice(&self.destination.0);
        out.extend_from_slice(&self.source.0);
    }
}

impl SessionHeader {
    /// Read the header of an I frame's information, and give it with what follows.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the frame is shorter than the header, [`Error::Forbidden`] if length,
    /// delimiter or command is none of a frame of a session.
    pub fn parse(frame: &[u8]) -> Result<(Self, &[u8]), Error> {
        check_common(frame, SESSION_HEADER_LEN)?;
        let command = SessionCommand::ALL
            .into_iter()
            .find(|command| command.to_wire() == frame[field::COMMAND])
            .ok_or_else(|| unknown_command(frame))?;
        let header = Self {
            command,
            data1: frame[field::DATA1],
            data2: word(frame, field::DATA2),
            transmit_correlator: word(frame, field::TRANSMIT),
            response_correlator: word(frame, field::RESPONSE),
            destination_number: frame[field::DESTINATION_NUMBER],
            source_number: frame[field::SOURCE_NUMBER],
        };
        Ok((header, &frame[SESSION_HEADER_LEN..]))
    }

    /// Append the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_common(
            SESSION_HEADER_LEN,
            self.command.to_wire(),
            (self.data1, self.data2),
            [self.transmit_correlator, self.response_correlator],
            out,
        );
        out.extend_from_slice(&[self.destination_number, self.source_number]);
    }
}

/// A name that no station has: the destination of frames for every station.
pub const NO_NAME: Name = Name([0; NAME_LEN]);

/// The name that each adapter has without claiming it: ten zeros and its address.
pub fn permanent_name(mac: Mac) -> Name {
    let mut name = NO_NAME;
    name.0[NAME_LEN - mac.0.len()..].copy_from_slice(&mac.0);
    name
}
