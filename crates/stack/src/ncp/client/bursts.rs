//! Reads and writes of more than one packet.

use lanlab_wire::ncp::burst::{
    self, ACCEPTED_LEN, Accepted, Limits, Low, OPERATION_LEN, Offer, Operation, READ_REPLY_LEN,
};
use lanlab_wire::ncp::function::{self, Function};

use super::connecting::Connecting;
use super::refusals::{malformed, protocol};
use super::{Client, Request, Step};
use crate::ncp::{AROUND_BURST, BURST, MOST_BURST, SMALLEST_PACKET, packet_bytes};
use crate::profile::netware::NETWARE_3;
use crate::redirector::{CallId, Done, FileId, Reason, Refusal};

impl Client {
    /// Offer bursts. False if none are wanted. The carrier fills in the connection's numbers.
    pub(super) fn offer_bursts(&mut self) -> bool {
        let Some(packets) = self.plan.burst_packets else { return false };
        let packet = packet_bytes(self.plan.carrier).into();
        let (most_taken, most_sent) = burst_bytes(packet, packets);
        let offer = Offer { packet, most_sent, most_taken, ..Offer::default() };
        let step = Connecting::Bursts;
        self.go_on(function::OFFER_BURST, step, |out| offer.emit(out));
        true
    }

    pub(super) fn burst_accepted(&mut self, reply: &[u8]) -> Result<(), Refusal> {
        let accepted = Accepted::parse(reply).map_err(malformed)?;
        let packet = accepted.packet.min(packet_bytes(self.plan.carrier).into());
        // A server may state the longest bursts that it sends and accepts. Otherwise NetWare's are safe.
        let limits = reply.get(ACCEPTED_LEN..).and_then(|rest| Limits::parse(rest).ok());
        let (sent, taken) = limits.map_or_else(
            || burst_bytes(packet, NETWARE_3.burst_packets),
            |limits| (limits.most_sent, limits.most_taken),
        );
        let before = [READ_REPLY_LEN, OPERATION_LEN].map(|octets| octets as u32);
        self.bursts = self
            .plan
            .burst_packets
            .map(|packets| burst_bytes(packet, packets))
            .map(|(read, write)| (read.min(sent), write.min(taken)))
            .filter(|(read, write)| *read > before[0] && *write > before[1])
            .map(|(read, write)| (read - before[0], write - before[1]));
        Ok(())
    }

    fn ask_burst(
        &mut self,
        call: CallId,
        (function, step): (Function, Step),
        (number, file, offset, count): (u32, FileId, u32, u32),
        parts: [&[u8]; 2],
    ) -> Result<(), Refusal> {
        let (operation, file) = (Low { number }, burst::file_of(self.file(file)?));
        let operation = Operation { operation, file, reserved: [0; 8], offset, count };
        let mut message = self.calls.memory();
        message.push(BURST);
        operation.emit(&mut message);
        message.extend(parts.concat());
        self.waiting.push_back(Request { call, function, step, message });
        Ok(())
    }

    pub(super) fn read_burst(
        &mut self,
        call: CallId,
        file: FileId,
        offset: u32,
        count: u32,
    ) -> Result<(), Refusal> {
        let operation = (burst::operation::READ, file, offset, count);
        self.ask_burst(call, (function::READ, Step::ReadBurst { count }), operation, [&[]; 2])
    }

    pub(super) fn write_burst(
        &mut self,
        call: CallId,
        file: FileId,
        offset: u32,
        parts: [&[u8]; 2],
    ) -> Result<(), Refusal> {
        let count = (parts[0].len() + parts[1].len()) as u32;
        let operation = (burst::operation::WRITE, file, offset, count);
        self.ask_burst(call, (function::WRITE, Step::WriteBurst { count }), operation, parts)
    }

    pub(super) fn take_burst(&mut self, call: CallId, step: &Step, message: &mut Vec<u8>) {
        let outcome = match *step {
            Step::ReadBurst { count } => read(count, message),
            Step::WriteBurst { count } => match burst::parse_result(message) {
                Ok(burst::result::OK) => Ok(Done::Written(count)),
                Ok(result) => Err(failed(function::WRITE, result)),
                Err(error) => Err(malformed(error)),
            },
            _ => Err(protocol("found what answers a burst")),
        };
        self.calls.end_with(call, outcome, message);
    }
}

/// Bytes of a read burst and of a write burst.
fn burst_bytes(packet: u32, (read, write): (u32, u32)) -> (u32, u32) {
    let part = packet.max(SMALLEST_PACKET) - AROUND_BURST;
    ((read * part).min(MOST_BURST), (write * part).min(MOST_BURST))
}

fn read(count: u32, reply: &[u8]) -> Result<Done, Refusal> {
    match burst::parse_result(reply).map_err(malformed)? {
        burst::result::OK => {}
        burst::result::NO_DATA => return Ok(Done::Read(0..0)),
        result => return Err(failed(function::READ, result)),
    }
    let data = burst::parse_data(reply).map_err(malformed)?;
    if data.len() > count as usize {
        let name = function::READ.name();
        return Err(protocol(format!("{name}: found {} octets of {count}", data.len())));
    }
    Ok(Done::Read(READ_REPLY_LEN..READ_REPLY_LEN + data.len()))
}

fn failed(asked: Function, result: u32) -> Refusal {
    let reason = match result {
        burst::result::NOT_BEGUN => Reason::Denied,
        _ => Reason::Protocol,
    };
    Refusal::new(reason, format!("{}: packet burst failed (result {result})", asked.name()))
}
