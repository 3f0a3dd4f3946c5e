//! Transactions: parameters and data of a subcommand, in one or more messages.
//!
//! Source: [MS-CIFS] 2.2.4.33 (transaction, secondary), 2.2.4.46 and 2.2.4.47 (transaction 2).
//! [`transaction2`](super::transaction2) has the subcommands of transaction 2. For transactions on
//! named pipes, only this envelope is read.

use super::andx::Block;
use super::command;
use super::reader::Reader;
use super::writer::Writer;
use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    pub total_parameters: u16,
    pub total_data: u16,
    pub max_parameters: u16,
    pub max_data: u16,
    pub max_setup: u8,
    /// Bit 0 ends the connection to the share, bit 1 requests no response.
    pub flags: u16,
    /// Time to wait, ms. Zero: no wait.
    pub timeout_ms: u32,
    pub setup: &'a [u8],
    /// Octets before the parameters: the name of a pipe with its terminator; in transaction 2 only
    /// a terminator.
    pub lead: &'a [u8],
    pub parameters: &'a [u8],
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// A request of transaction 2 in one message.
    pub fn whole(setup: &'a [u8; 2], parameters: &'a [u8], data: &'a [u8]) -> Self {
        Self {
            total_parameters: parameters.len() as u16,
            total_data: data.len() as u16,
            setup,
            lead: &[0],
            parameters,
            data,
            ..Self::default()
        }
    }

    pub fn subcommand(&self) -> Option<u16> {
        self.setup.first_chunk().map(|word| u16::from_le_bytes(*word))
    }

    pub const fn is_whole(&self) -> bool {
        self.parameters.len() == self.total_parameters as usize
            && self.data.len() == self.total_data as usize
    }

    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(14)?;
        let (total_parameters, total_data, max_parameters, max_data) = words.field()?;
        let (max_setup, _, flags, timeout_ms, _): (_, u8, _, _, u16) = words.field()?;
        let parameters = Part::read(&mut words, block, "ParameterOffset")?;
        let data = Part::read(&mut words, block, "DataOffset")?;
        parameters.check(&words, "ParameterCount", 0, total_parameters)?;
        data.check(&words, "DataCount", 0, total_data)?;
        let setup = setup(&mut words)?;
        let mut bytes = block.bytes()?;
        let first = match (parameters.octets.is_empty(), data.octets.is_empty()) {
            (true, true) => bytes.offset() + bytes.left(),
            (false, _) => parameters.offset,
            (true, false) => data.offset,
        };
        let lead = bytes.take(first.saturating_sub(bytes.offset()).min(bytes.left()))?;
        Ok(Self {
            total_parameters,
            total_data,
            max_parameters,
            max_data,
            max_setup,
            flags,
            timeout_ms,
            setup,
            lead,
            parameters: parameters.octets,
            data: data.octets,
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(14 + (self.setup.len() / 2) as u8);
        writer.field([self.total_parameters, self.total_data]);
        writer.field([self.max_parameters, self.max_data]);
        writer.field((self.max_setup, 0_u8, self.flags, self.timeout_ms, 0_u16));
        let parts_at = writer.offset();
        writer.zeros(8);
        writer.field([(self.setup.len() / 2) as u8, 0]);
        writer.octets(self.setup);
        writer.begin_bytes();
        writer.octets(self.lead);
        emit_part(self.parameters, parts_at, writer);
        emit_part(self.data, parts_at + 4, writer);
        writer.end();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Secondary<'a> {
    /// Total length of parameters, at most as in the first message.
    pub total_parameters: u16,
    /// Total length of data, at most as in the first message.
    pub total_data: u16,
    pub parameter_displacement: u16,
    pub data_displacement: u16,
    /// Open file. Only in transaction 2.
    pub fid: Option<u16>,
    pub parameters: &'a [u8],
    pub data: &'a [u8],
}

impl<'a> Secondary<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let with_fid = block.command() == command::TRANSACTION2_SECONDARY;
        let mut words = block.words(if with_fid { 9 } else { 8 })?;
        let (total_parameters, total_data) = (words.u16()?, words.u16()?);
        let parameters = Part::read(&mut words, block, "ParameterOffset")?;
        let parameter_displacement = words.u16()?;
        let data = Part::read(&mut words, block, "DataOffset")?;
        let data_displacement = words.u16()?;
        let fid = if with_fid { Some(words.u16()?) } else { None };
        parameters.check(&words, "ParameterCount", parameter_displacement, total_parameters)?;
        data.check(&words, "DataCount", data_displacement, total_data)?;
        Ok(Self {
            total_parameters,
            total_data,
            parameter_displacement,
            data_displacement,
            fid,
            parameters: parameters.octets,
            data: data.octets,
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(if self.fid.is_some() { 9 } else { 8 });
        writer.field([self.total_parameters, self.total_data]);
        let parts_at = writer.offset();
        writer.zeros(4);
        writer.u16(self.parameter_displacement);
        writer.zeros(4);
        writer.u16(self.data_displacement);
        if let Some(fid) = self.fid {
            writer.u16(fid);
        }
        writer.begin_bytes();
        emit_part(self.parameters, parts_at, writer);
        emit_part(self.data, parts_at + 6, writer);
        writer.end();
    }
}

/// A message of a response. An empty block instead requests the secondary messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Total length of parameters. A later message may reduce it.
    pub total_parameters: u16,
    /// Total length of data. A later message may reduce it.
    pub total_data: u16,
    pub parameter_displacement: u16,
    pub data_displacement: u16,
    pub setup: &'a [u8],
    pub parameters: &'a [u8],
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    pub fn whole(parameters: &'a [u8], data: &'a [u8]) -> Self {
        Self {
            total_parameters: parameters.len() as u16,
            total_data: data.len() as u16,
            parameters,
            data,
            ..Self::default()
        }
    }

    pub const fn is_whole(&self) -> bool {
        self.parameters.len() == self.total_parameters as usize
            && self.data.len() == self.total_data as usize
    }

    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(10)?;
        let [total_parameters, total_data, _] = words.field()?;
        let parameters = Part::read(&mut words, block, "ParameterOffset")?;
        let parameter_displacement = words.u16()?;
        let data = Part::read(&mut words, block, "DataOffset")?;
        let data_displacement = words.u16()?;
        parameters.check(&words, "ParameterCount", parameter_displacement, total_parameters)?;
        data.check(&words, "DataCount", data_displacement, total_data)?;
        let setup = setup(&mut words)?;
        Ok(Self {
            total_parameters,
            total_data,
            parameter_displacement,
            data_displacement,
            setup,
            parameters: parameters.octets,
            data: data.octets,
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(10 + (self.setup.len() / 2) as u8);
        writer.field([self.total_parameters, self.total_data, 0]);
        let parts_at = writer.offset();
        writer.zeros(4);
        writer.u16(self.parameter_displacement);
        writer.zeros(4);
        writer.u16(self.data_displacement);
        writer.field([(self.setup.len() / 2) as u8, 0]);
        writer.octets(self.setup);
        writer.begin_bytes();
        emit_part(self.parameters, parts_at, writer);
        if !self.data.is_empty() {
            emit_part(self.data, parts_at + 6, writer);
        }
        writer.end();
    }
}

struct Part<'a> {
    offset: usize,
    octets: &'a [u8],
}

impl<'a> Part<'a> {
    fn read(words: &mut Reader<'_>, block: &Block<'a>, field: &'static str) -> Result<Self, Error> {
        let (len, offset) = (usize::from(words.u16()?), usize::from(words.u16()?));
        Ok(Self { offset, octets: block.data(field, offset, len)? })
    }

    /// The parts of all messages together must not exceed the total.
    fn check(
        &self,
        words: &Reader<'_>,
        field: &'static str,
        displacement: u16,
        total: u16,
    ) -> Result<(), Error> {
        if usize::from(displacement) + self.octets.len() > usize::from(total) {
            return Err(words.forbidden(field, words.offset(), self.octets.len() as u64));
        }
        Ok(())
    }
}

fn setup<'a>(words: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let count = usize::from(words.u8()?);
    words.skip(1)?;
    words.take(2 * count)
}

/// Write a part aligned to four octets, and its length and offset at `at`.
fn emit_part(octets: &[u8], at: usize, writer: &mut Writer<'_>) {
    writer.align(4);
    let offset = writer.offset() as u16;
    writer.patch_u16(at, octets.len() as u16);
    writer.patch_u16(at + 2, offset);
    writer.octets(octets);
}
