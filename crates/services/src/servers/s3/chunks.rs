//! Chunks as S3 has them within what follows a head: `aws-chunked`.
//!
//! Source: Amazon S3 API Reference, "Signature Calculations for the Authorization Header:
//! Transferring Payload in Multiple Chunks". Each is its length in hexadecimal, perhaps an extension
//! after `;`, CR LF, the octets, CR LF; the last has none, and fields may follow.

use super::refusal::{Code, Refusal};

/// Octets of one line between chunks at most.
const MAX_LINE_BYTES: usize = 512;

/// Fields after the last chunk at most.
const MAX_FIELDS: usize = 16;

/// Takes chunks apart as they come, however they are cut.
#[derive(Debug, Default)]
pub struct Chunks {
    state: State,
    line: Vec<u8>,
    trailer: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The line before a chunk.
    #[default]
    Head,
    /// Octets of one, so many to come.
    Data(u64),
    /// The line end after one.
    End,
    /// Fields after the last, up to an empty line.
    Trailer,
    /// Nothing may follow.
    Over,
}

impl Chunks {
    /// Take in what came next, and give what was in the chunks to `sink`.
    ///
    /// # Errors
    /// It is no chunk, its signature is wrong, or what `sink` says.
    pub fn take(
        &mut self,
        mut data: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        while !data.is_empty() {
            match self.state {
                State::Data(left) => {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
                    sink(&data[..count])?;
                    data = &data[count..];
                    self.state = match left - count as u64 {
                        0 => State::End,
                        left => State::Data(left),
                    };
                }
                State::Over => return Err(wrong("octets after the last chunk")),
                State::Head | State::End | State::Trailer => {
                    let end = data.iter().position(|octet| *octet == b'\n');
                    let count = end.map_or(data.len(), |end| end + 1);
                    if self.line.len() + count > MAX_LINE_BYTES {
                        return Err(wrong("a line of more than 512 octets between chunks"));
                    }
                    self.line.extend_from_slice(&data[..count]);
                    data = &data[count..];
                    if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        let line = line.strip_suffix(b"\r\n").map(std::str::from_utf8);
                        let Some(Ok(line)) = line else {
                            return Err(wrong("a line that is no text with CR LF at its end"));
                        };
                        self.line(line)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), Refusal> {
        match self.state {
            State::Head => {
                let (length, _) = line.split_once(';').unwrap_or((line, ""));
                // `from_str_radix` takes a sign.
                let is_plain =
                    !length.is_empty() && length.bytes().all(|octet| octet.is_ascii_hexdigit());
                let length = u64::from_str_radix(length, 16).ok().filter(|_| is_plain);
                let length = length.ok_or_else(|| wrong("no length of a chunk"))?;
                self.state = if length == 0 { State::Trailer } else { State::Data(length) };
            }
            State::End if line.is_empty() => self.state = State::Head,
            State::Trailer if line.is_empty() => self.state = State::Over,
            State::Trailer if self.trailer.len() < MAX_FIELDS => {
                let (name, value) = line.split_once(':').ok_or_else(|| wrong("no field"))?;
                self.trailer.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
            _ => return Err(wrong("something else than the end of a chunk")),
        }
        Ok(())
    }

    /// The fields after the last chunk, in small letters.
    ///
    /// # Errors
    /// The last chunk has not come.
    pub fn finish(self) -> Result<Vec<(String, String)>, Refusal> {
        // The empty line at the very end is left out by some clients.
        match self.state {
            State::Over => Ok(self.trailer),
            State::Trailer if self.line.is_empty() => Ok(self.trailer),
            _ => Err(Refusal::new(Code::IncompleteBody, "the end came before the last chunk")),
        }
    }
}

fn wrong(found: &str) -> Refusal {
    Refusal::new(Code::InvalidRequest, format!("`aws-chunked`: found {found}"))
}

#[cfg(test)]
mod tests;
