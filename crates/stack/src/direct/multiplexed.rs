//! Reads and writes that span several packets; the program above sees each as one message.
//!
//! Source: [MS-CIFS] 2.2.4.23, 2.2.4.26 and 3.2.4.14 to 3.2.4.16. Reads are not numbered; data still missing after
//! the last response or a time-out is requested again. Only the last packet of a write is numbered. Its answer
//! lists the received packets, and the others are resent.

use std::ops::Range;

use lanlab_wire::Error;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::multiplexed::{CONNECTIONLESS, MOST_PARTS, Response, Write, Written};
use lanlab_wire::smb1::read_andx::NOT_A_PIPE;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{command, read_raw};

use lanlab_wire::smb1::AROUND_DATA;

/// Maximum gaps tracked in the received data; data that would create more is dropped.
const MOST_GAPS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Nothing,
    More,
    Again,
    Whole,
}

#[derive(Debug)]
pub(super) struct Reading {
    header: Header,
    request: read_raw::Request,
    data: Vec<u8>,
    gaps: Vec<Range<usize>>,
    asked_end: usize,
}

impl Reading {
    pub(super) fn begin(block: &Block<'_>) -> Result<Self, Error> {
        let (header, request) = (*block.header(), read_raw::Request::parse(block)?);
        let count = usize::from(request.max_count);
        let whole = 0..count;
        Ok(Self { header, request, data: vec![0; count], gaps: vec![whole], asked_end: count })
    }

    pub(super) fn take(&mut self, block: &Block<'_>) -> Result<Progress, Error> {
        let response = Response::parse(block)?;
        let before = u64::from(response.offset).checked_sub(self.request.offset);
        let Some(at) = before.and_then(|at| usize::try_from(at).ok()) else {
            return Ok(Progress::Nothing);
        };
        let is_first = self.gaps.len() == 1 && self.gaps[0] == (0..self.data.len());
        let end = at + response.data.len();
        // The count gives the size only before any data has arrived; it may be the end of the file.
        let last = match response.data.len() {
            0 => at,
            _ if is_first => usize::from(response.count).max(end),
            _ => self.data.len(),
        };
        let fill = |gap: &Range<usize>| [gap.start..gap.end.min(at), gap.start.max(end)..gap.end];
        let rest = |gaps: &[Range<usize>]| -> Vec<_> {
            gaps.iter().flat_map(fill).filter(|gap| !gap.is_empty()).collect()
        };
        if end > self.data.len() || rest(&self.gaps).len() > MOST_GAPS {
            return Ok(Progress::Nothing);
        }
        let missing = self.missing();
        self.cut(last);
        for gap in &self.gaps {
            let new = gap.start.max(at)..gap.end.min(end);
            if !new.is_empty() {
                self.data[new.clone()]
                    .copy_from_slice(&response.data[new.start - at..new.end - at]);
            }
        }
        self.gaps = rest(&self.gaps);
        Ok(if self.gaps.is_empty() {
            Progress::Whole
        } else if self.missing() == missing {
            Progress::Nothing
        } else if end >= self.asked_end {
            Progress::Again
        } else {
            Progress::More
        })
    }

    fn missing(&self) -> usize {
        self.gaps.iter().map(Range::len).sum()
    }

    fn cut(&mut self, end: usize) {
        if end < self.data.len() {
            self.data.truncate(end);
            self.gaps.iter_mut().for_each(|gap| gap.end = gap.end.min(end));
            self.gaps.retain(|gap| !gap.is_empty());
            self.asked_end = self.asked_end.min(end);
        }
    }

    /// Replace the packet with a request for the first missing range.
    pub(super) fn ask(&mut self, packet: &mut Vec<u8>) {
        let Some(gap) = self.gaps.first() else { return };
        self.asked_end = gap.end;
        let offset = self.request.offset + gap.start as u64;
        let request = read_raw::Request { offset, max_count: gap.len() as u16, ..self.request };
        packet.clear();
        request.emit(&mut Writer::begin(packet, &self.header));
    }

    pub(super) fn answer(&self, header: &Header, into: &mut Vec<u8>) {
        let (offset, count) = (self.request.offset as u32, self.data.len() as u16);
        let data = &self.data;
        let response = Response { offset, count, remaining: NOT_A_PIPE, data };
        response.emit(&mut Writer::begin(into, header));
    }
}

#[derive(Debug)]
pub(super) struct Writing {
    header: Header,
    fid: u16,
    offset: u32,
    mode: u16,
    data: Vec<u8>,
    part_bytes: usize,
    come: u32,
}

impl Writing {
    pub(super) fn begin(block: &Block<'_>, longest: u32) -> Result<Self, Error> {
        let Write { fid, offset, mode, data, .. } = Write::parse(block)?;
        let fits = longest.saturating_sub(AROUND_DATA).max(1) as usize;
        Ok(Self {
            header: *block.header(),
            fid,
            offset,
            mode: mode | CONNECTIONLESS,
            data: data.to_vec(),
            part_bytes: fits.max(data.len().div_ceil(MOST_PARTS)),
            come: 0,
        })
    }

    fn count(&self) -> usize {
        self.data.len().div_ceil(self.part_bytes).max(1)
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = usize> + use<> {
        let come = self.come;
        (0..self.count()).filter(move |part| come & 1 << part == 0)
    }

    pub(super) fn emit(&self, part: usize, into: &mut Vec<u8>) {
        let at = part * self.part_bytes;
        let data = &self.data[at..self.data.len().min(at + self.part_bytes)];
        let write = Write {
            fid: self.fid,
            total_count: self.data.len() as u16,
            offset: self.offset + at as u32,
            timeout_ms: 0,
            mode: self.mode,
            mask: 1 << part,
            data,
        };
        write.emit(&mut Writer::begin(into, &self.header));
    }

    pub(super) fn take(&mut self, block: &Block<'_>) -> Result<Progress, Error> {
        let come = self.come | Written::parse(block)?.mask;
        // Masks accumulate, so an answer that adds no packet duplicates an earlier one.
        let is_news = std::mem::replace(&mut self.come, come) != come;
        Ok(match self.missing().next() {
            None => Progress::Whole,
            Some(_) if is_news => Progress::Again,
            Some(_) => Progress::Nothing,
        })
    }

    pub(super) fn answer(&self, header: &Header, into: &mut Vec<u8>) {
        Written { mask: self.come }.emit(&mut Writer::begin(into, header));
    }
}

#[derive(Debug)]
pub(super) enum Multiplexed {
    Read(Reading),
    Write(Writing),
}

impl Multiplexed {
    /// `None` if the message is of another kind or malformed.
    pub(super) fn begin(header: &Header, message: &[u8], longest: u32) -> Option<Self> {
        let block = Block::first(header, message).ok()?;
        match header.command {
            command::READ_MPX => Reading::begin(&block).ok().map(Self::Read),
            command::WRITE_MPX => Writing::begin(&block, longest).ok().map(Self::Write),
            _ => None,
        }
    }

    pub(super) fn take(&mut self, block: &Block<'_>) -> Result<Progress, Error> {
        match self {
            Self::Read(reading) => reading.take(block),
            Self::Write(writing) => writing.take(block),
        }
    }

    pub(super) fn answer(&self, header: &Header, into: &mut Vec<u8>) {
        match self {
            Self::Read(reading) => reading.answer(header, into),
            Self::Write(writing) => writing.answer(header, into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block<R>(message: &[u8], act: impl FnOnce(&Block<'_>) -> R) -> R {
        let header = Header::parse(message).unwrap();
        act(&Block::first(&header, message).unwrap())
    }

    fn message(command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut message = vec![];
        emit(&mut Writer::begin(&mut message, &Header::request(command, 0, 0)));
        message
    }

    fn reading(offset: u64, max_count: u16) -> Reading {
        let request = read_raw::Request { offset, max_count, ..Default::default() };
        block(&message(command::READ_MPX, |writer| request.emit(writer)), |block| {
            Reading::begin(block).unwrap()
        })
    }

    fn give(reading: &mut Reading, offset: u32, count: u16, data: &[u8]) -> Progress {
        let response = Response { offset, count, remaining: NOT_A_PIPE, data };
        block(&message(command::READ_MPX, |writer| response.emit(writer)), |block| {
            reading.take(block).unwrap()
        })
    }

    fn asked(reading: &mut Reading) -> (u64, u16) {
        let mut packet = vec![];
        reading.ask(&mut packet);
        let asked = block(&packet, |block| read_raw::Request::parse(block).unwrap());
        (asked.offset, asked.max_count)
    }

    fn whole(reading: &Reading) -> Vec<u8> {
        let mut answer = vec![];
        reading.answer(&Header::request(command::READ_MPX, 0, 0), &mut answer);
        block(&answer, |block| Response::parse(block).unwrap().data.to_vec())
    }

    #[test]
    fn a_read_completes_from_pieces_in_any_order_and_duplicated() {
        let mut read = reading(100, 10);
        assert_eq!(give(&mut read, 104, 10, &[4, 5, 6]), Progress::More);
        assert_eq!(give(&mut read, 104, 10, &[9, 9, 9]), Progress::Nothing);
        assert_eq!(give(&mut read, 107, 10, &[7, 8, 9]), Progress::Again);
        assert_eq!(asked(&mut read), (100, 4));
        // Before the range, behind it, and filling the gap.
        assert_eq!(give(&mut read, 99, 10, &[1]), Progress::Nothing);
        assert_eq!(give(&mut read, 108, 10, &[1; 3]), Progress::Nothing);
        assert_eq!(give(&mut read, 102, 4, &[2, 3, 0]), Progress::Again);
        assert_eq!(asked(&mut read), (100, 2));
        assert_eq!(give(&mut read, 100, 2, &[0, 1]), Progress::Whole);
        assert_eq!(whole(&read), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_read_ends_at_the_end_of_the_file() {
        let mut read = reading(0, 100);
        assert_eq!(give(&mut read, 3, 5, &[3, 4]), Progress::Again);
        assert_eq!(asked(&mut read), (0, 3));
        assert_eq!(give(&mut read, 0, 3, &[0, 1, 2]), Progress::Whole);
        assert_eq!(whole(&read), [0, 1, 2, 3, 4]);
        let mut read = reading(50, 100);
        assert_eq!(give(&mut read, 50, 0, &[]), Progress::Whole);
        assert!(whole(&read).is_empty());
        // The file has become shorter.
        let mut read = reading(0, 8);
        assert_eq!(give(&mut read, 0, 8, &[1, 2]), Progress::More);
        assert_eq!(give(&mut read, 2, 0, &[]), Progress::Whole);
        assert_eq!(whole(&read), [1, 2]);
    }

    #[test]
    fn only_missing_parts_of_a_write_are_resent_once_per_answer() {
        let data: Vec<u8> = (0..2_000).map(|at| at as u8).collect();
        let request = Write { fid: 7, offset: 1000, data: &data, ..Write::default() };
        let whole = message(command::WRITE_MPX, |writer| request.emit(writer));
        let longest = AROUND_DATA + 600;
        let mut write = block(&whole, |block| Writing::begin(block, longest).unwrap());
        assert!(write.missing().eq(0..4));
        let mut packet = vec![];
        write.emit(3, &mut packet);
        assert!(packet.len() <= longest as usize);
        block(&packet, |block| {
            let part = Write::parse(block).unwrap();
            assert_eq!((part.fid, part.offset, part.mask, part.mode), (7, 2800, 8, CONNECTIONLESS));
            assert_eq!((part.data, part.total_count), (&data[1800..], 2_000));
        });
        let mut say = |mask| {
            let response = message(command::WRITE_MPX, |writer| Written { mask }.emit(writer));
            let progress = block(&response, |block| write.take(block).unwrap());
            (progress, write.missing().collect::<Vec<_>>())
        };
        assert_eq!(say(0b1010), (Progress::Again, vec![0, 2]));
        assert_eq!(say(0b1010).0, Progress::Nothing);
        assert_eq!(say(0b0101), (Progress::Whole, vec![]));
    }
}
