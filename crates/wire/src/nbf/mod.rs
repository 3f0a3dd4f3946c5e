//! NetBIOS frames (NBF), the protocol of NetBEUI, carried by LLC between SAPs F0.
//!
//! Source: IBM, Local Area Network Technical Reference (SC30-3587), chapter "NetBIOS frames". All
//! fields little-endian. Name and datagram frames are UI frames with a header of 44 octets, session
//! frames are I frames with a header of 14. The length field covers only the header.

mod adapter_status;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::ethernet::Mac;
use crate::fields::{Field, Order, codes};
use crate::netbios_name::{NAME_LEN, Name};

pub use adapter_status::{AdapterStatus, ENTRY_LEN, FIXED_LEN, NameEntry};

const FORMAT: &str = "nbf";

const COMMAND_AT: usize = 4;
const COMMON_LEN: usize = COMMAND_AT + Common::LEN;
pub const NAME_HEADER_LEN: usize = COMMON_LEN + 2 * NAME_LEN;
pub const SESSION_HEADER_LEN: usize = COMMON_LEN + 2;
const DELIMITER: u16 = 0xefff;

codes! {
    NameCommand {
        AddGroupNameQuery = 0x00,
        AddNameQuery = 0x01,
        NameInConflict = 0x02,
        StatusQuery = 0x03,
        TerminateTrace = 0x07,
        Datagram = 0x08,
        DatagramBroadcast = 0x09,
        NameQuery = 0x0a,
        AddNameResponse = 0x0d,
        NameRecognized = 0x0e,
        StatusResponse = 0x0f,
        TerminateTraces = 0x13,
    }
}

codes! {
    SessionCommand {
        DataAck = 0x14,
        DataFirstMiddle = 0x15,
        /// The last or only part of a message.
        DataOnlyLast = 0x16,
        SessionConfirm = 0x17,
        SessionEnd = 0x18,
        SessionInitialize = 0x19,
        NoReceive = 0x1a,
        ReceiveOutstanding = 0x1b,
        ReceiveContinue = 0x1c,
        SessionAlive = 0x1f,
    }
}

/// Bits of `data1` in session frames.
pub mod flag {
    /// DATA FIRST MIDDLE: send RECEIVE CONTINUE before the next frame.
    pub const RECEIVE_CONTINUE: u8 = 0x01;
    pub const NO_ACK: u8 = 0x02;
    /// DATA ONLY LAST: the acknowledgement may be sent with data.
    pub const ACK_WITH_DATA_ALLOWED: u8 = 0x04;
    pub const ACK_INCLUDED: u8 = 0x08;
    pub const SEND_NO_ACK_ABLE: u8 = 0x80;
    /// SESSION INITIALIZE and CONFIRM: version 2 of NetBIOS.
    pub const VERSION_2: u8 = 0x01;
    /// ADD NAME RESPONSE: another station is adding the name at the same time.
    pub const NAME_IN_PROCESS: u8 = 0x01;
}

/// Values of `data2`.
pub mod value {
    pub const NO_RESOURCES: u8 = 0xff;
    /// High octet in NAME QUERY, NAME RECOGNIZED and ADD NAME RESPONSE: a group name.
    pub const GROUP: u8 = 1;
    pub const RESYNCHRONIZE: u16 = 1;
    pub const HANG_UP: u16 = 0;
    pub const ABNORMAL_END: u16 = 1;
    /// `data1` of STATUS QUERY and STATUS RESPONSE: 0 in `NetBIOS` before 2.1, with one frame. Later
    /// versions begin with 1, then give the number of names received or sent so far.
    pub const STATUS_FIRST: u8 = 1;
    /// STATUS RESPONSE: the requester's buffer is too small.
    pub const STATUS_OVERFLOW: u16 = 0x4000;
    /// Highest session number; the lowest one is 1.
    pub const LAST_SESSION_NUMBER: u8 = 254;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameHeader {
    pub command: NameCommand,
    pub data1: u8,
    pub data2: u16,
    pub transmit_correlator: u16,
    pub response_correlator: u16,
    pub destination: Name,
    pub source: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHeader {
    pub command: SessionCommand,
    /// [`flag`]s.
    pub data1: u8,
    pub data2: u16,
    pub transmit_correlator: u16,
    pub response_correlator: u16,
    pub destination_number: u8,
    pub source_number: u8,
}

/// The fields after length and delimiter in every header: command, its data, its correlators.
type Common = (u8, u8, u16, [u16; 2]);

fn read_common(frame: &[u8], header_len: usize) -> Result<Common, Error> {
    Error::need(FORMAT, frame, header_len)?;
    let ([length, delimiter], common): ([u16; 2], Common) =
        Field::first(FORMAT, frame, Order::Little)?;
    for (field, offset, found, only) in
        [("length", 0, length, header_len as u16), ("delimiter", 2, delimiter, DELIMITER)]
    {
        if found != only {
            return Err(Error::forbidden(FORMAT, field, offset, found));
        }
    }
    Ok(common)
}

fn unknown_command(code: u8) -> Error {
    Error::forbidden(FORMAT, "command", COMMAND_AT, code)
}

impl NameHeader {
    pub const fn new(command: NameCommand, destination: Name, source: Name) -> Self {
        let (data1, data2, transmit_correlator, response_correlator) = (0, 0, 0, 0);
        Self {
            command,
            data1,
            data2,
            transmit_correlator,
            response_correlator,
            destination,
            source,
        }
    }

    /// Read the header of a UI frame's information field; returns it with the rest.
    pub fn parse(frame: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (code, data1, data2, correlators) = read_common(frame, NAME_HEADER_LEN)?;
        let command = NameCommand::from_wire(code).ok_or_else(|| unknown_command(code))?;
        let [transmit_correlator, response_correlator] = correlators;
        let names = &frame[COMMON_LEN..NAME_HEADER_LEN];
        let [destination, source] = Field::first(FORMAT, names, Order::Little)?;
        let header = Self {
            data1,
            data2,
            transmit_correlator,
            response_correlator,
            ..Self::new(command, destination, source)
        };
        Ok((header, &frame[NAME_HEADER_LEN..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let correlators = [self.transmit_correlator, self.response_correlator];
        let common: Common = (self.command.to_wire(), self.data1, self.data2, correlators);
        let names = [self.destination, self.source];
        (NAME_HEADER_LEN as u16, DELIMITER, common, names).write(Order::Little, out);
    }
}

impl SessionHeader {
    /// Read the header of an I frame's information field; returns it with the rest.
    pub fn parse(frame: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (code, data1, data2, correlators) = read_common(frame, SESSION_HEADER_LEN)?;
        let command = SessionCommand::from_wire(code).ok_or_else(|| unknown_command(code))?;
        let [transmit_correlator, response_correlator] = correlators;
        let header = Self {
            command,
            data1,
            data2,
            transmit_correlator,
            response_correlator,
            destination_number: frame[COMMON_LEN],
            source_number: frame[COMMON_LEN + 1],
        };
        Ok((header, &frame[SESSION_HEADER_LEN..]))
    }

    /// Session numbers (destination, source) of a `NetBIOS` I frame with a wrong length field.
    pub fn numbers_of_malformed(frame: &[u8]) -> Option<[u8; 2]> {
        let ([length, delimiter], _): ([u16; 2], Common) =
            Field::first(FORMAT, frame, Order::Little).ok()?;
        let is_malformed = delimiter == DELIMITER && length != SESSION_HEADER_LEN as u16;
        frame.get(COMMON_LEN..SESSION_HEADER_LEN)?.try_into().ok().filter(|_| is_malformed)
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let correlators = [self.transmit_correlator, self.response_correlator];
        let common: Common = (self.command.to_wire(), self.data1, self.data2, correlators);
        let numbers = [self.destination_number, self.source_number];
        (SESSION_HEADER_LEN as u16, DELIMITER, common, numbers).write(Order::Little, out);
    }
}

/// A name that no station has: the destination of broadcast frames.
pub const NO_NAME: Name = Name([0; NAME_LEN]);

/// The permanent name of each adapter: ten zeros and its address.
pub fn permanent_name(mac: Mac) -> Name {
    let mut name = NO_NAME;
    name.0[NAME_LEN - mac.0.len()..].copy_from_slice(&mac.0);
    name
}
