//! Chunked bodies (RFC 9112, section 7.1): parses everything around the octets of the file.
//!
//! Lines must end with CR and LF, as the section requires: with laxer rules, two readers can see
//! different bodies.

/// Maximum number of digits in a chunk's size: enough for 64 bits.
const MAX_DIGITS: u32 = 16;

const MAX_EXTENSION_BYTES: usize = 1024;

/// Maximum number of octets in the fields after the last chunk.
const MAX_TRAILER_BYTES: usize = 1 << 14;

#[derive(Debug, Clone, Default)]
pub struct Chunks {
    state: State,
    size_bytes: u64,
    digits: u32,
    extension: Vec<u8>,
    trailer: Vec<u8>,
    has_loose_fields: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Size,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    TrailerBegin,
    Trailer,
    TrailerLf,
    LastLf,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    More,
    Data(u64),
    End,
}

impl Chunks {
    /// Treat everything after the last chunk of a body with known length as fields: S3 clients end
    /// these lines with LF, and put empty lines between them.
    pub fn with_loose_fields() -> Self {
        Self { has_loose_fields: true, ..Self::default() }
    }

    /// Parse `octets` up to the next octets of the file, and return the number parsed.
    pub fn step(&mut self, octets: &[u8]) -> Result<(usize, Step), String> {
        for (at, octet) in octets.iter().enumerate() {
            match self.state {
                State::Data => return Ok((at, Step::Data(self.size_bytes))),
                State::End => return Ok((at, Step::End)),
                _ => self.state = self.after(*octet)?,
            }
        }
        let step = match self.state {
            State::Data => Step::Data(self.size_bytes),
            State::End => Step::End,
            _ => Step::More,
        };
        Ok((octets.len(), step))
    }

    /// Skip `count` octets of the file, at most as many as [`Step::Data`] announced.
    pub fn took(&mut self, count: u64) {
        self.size_bytes = self.size_bytes.saturating_sub(count);
        if self.size_bytes == 0 && self.state == State::Data {
            self.state = State::DataCr;
        }
    }

    pub fn is_between(&self) -> bool {
        self.state != State::Data
    }

    pub fn extension(&self) -> &[u8] {
        &self.extension
    }

    /// The fields after the last chunk, each with LF at its end; `None` until all have arrived.
    /// Some S3 clients omit the final empty line, so it may be missing.
    pub fn trailer(&self) -> Option<&[u8]> {
        matches!(self.state, State::TrailerBegin | State::End).then_some(&self.trailer)
    }

    fn after(&mut self, octet: u8) -> Result<State, String> {
        match (self.state, octet) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(octet).to_digit(16).unwrap_or_default();
                self.digits += 1;
                if self.digits > MAX_DIGITS {
                    return Err(format!("a chunk's size of more digits; allowed: {MAX_DIGITS}"));
                }
                self.size_bytes = self.size_bytes << 4 | u64::from(digit);
                Ok(State::Size)
            }
            (State::Size, b'\r') if self.digits > 0 => Ok(State::SizeEnd),
            // Some servers pad the size with spaces.
            (State::Size, b';' | b' ' | b'\t') if self.digits > 0 => self.extended(octet),
            (State::Extension, b'\r') => Ok(State::SizeEnd),
            (State::Extension, b'\t' | b' '..=b'~' | 0x80..) => self.extended(octet),
            (State::SizeEnd, b'\n') if self.size_bytes == 0 => Ok(State::TrailerBegin),
            (State::SizeEnd, b'\n') => Ok(State::Data),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => {
                self.digits = 0;
                self.extension.clear();
                Ok(State::Size)
            }
            (State::TrailerBegin | State::Trailer, _) if self.has_loose_fields => {
                self.of_field(octet)?;
                Ok(if octet == b'\n' { State::TrailerBegin } else { State::Trailer })
            }
            (State::TrailerBegin, b'\r') => Ok(State::LastLf),
            (State::Trailer, b'\r') => Ok(State::TrailerLf),
            (State::TrailerBegin | State::Trailer, b'\t' | b' '..=b'~' | 0x80..) => {
                self.of_field(octet)?;
                Ok(State::Trailer)
            }
            (State::TrailerLf, b'\n') => {
                self.trailer.push(octet);
                Ok(State::TrailerBegin)
            }
            (State::LastLf, b'\n') => Ok(State::End),
            (State::Size, _) => Err(format!("octet {octet:#04x} in the size of a chunk")),
            _ => Err(format!("octet {octet:#04x} between chunks")),
        }
    }

    fn of_field(&mut self, octet: u8) -> Result<(), String> {
        self.trailer.push(octet);
        if self.trailer.len() > MAX_TRAILER_BYTES {
            let allowed = format!("allowed: {MAX_TRAILER_BYTES}");
            return Err(format!("more octets after the last chunk; {allowed}"));
        }
        Ok(())
    }

    fn extended(&mut self, octet: u8) -> Result<State, String> {
        self.extension.push(octet);
        if self.extension.len() > MAX_EXTENSION_BYTES {
            let allowed = format!("allowed: {MAX_EXTENSION_BYTES}");
            return Err(format!("more octets after the size of a chunk; {allowed}"));
        }
        Ok(State::Extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parse a body that arrives in these parts: the file, whether it ended, and the rest of the last part.
    fn read<'a>(parts: &[&'a [u8]]) -> Result<(Vec<u8>, bool, &'a [u8]), String> {
        let (mut chunks, mut file, mut left) = (Chunks::default(), Vec::new(), &[][..]);
        let mut ended = false;
        for part in parts {
            left = part;
            loop {
                let (before, step) = chunks.step(left)?;
                left = &left[before..];
                match step {
                    Step::Data(size_bytes) => {
                        let count = size_bytes.min(left.len() as u64) as usize;
                        file.extend_from_slice(&left[..count]);
                        left = &left[count..];
                        chunks.took(count as u64);
                        if left.is_empty() {
                            break;
                        }
                    }
                    Step::More => break,
                    Step::End => {
                        ended = true;
                        break;
                    }
                }
            }
        }
        Ok((file, ended, left))
    }

    #[test]
    fn chunked_bodies_have_the_expected_bytes() {
        let body =
            b"4\r\nWiki\r\n00C; name=\"v\"\r\npedia in \r\n\r\r\n0 \r\nExpires: now\r\n\r\nHTTP";
        let (file, ended, left) = read(&[body]).unwrap();
        assert_eq!((&file[..], ended, left), (&b"Wikipedia in \r\n\r"[..], true, &b"HTTP"[..]));
        assert_eq!(read(&[b"ffffffffffffffff\r\nx"]).unwrap(), (b"x".to_vec(), false, &b""[..]));
    }

    #[test]
    fn ambiguous_heads_are_refused() {
        let extension = format!("1;{}\r\n", "x".repeat(2000));
        let trailers = format!("0\r\n{}", "X: y\r\n".repeat(5000));
        for bad in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "+1\r\n",
            "0x1\r\n",
            " 1\r\n",
            ";\r\n",
            "1\n",
            "1\rx",
            "1\r\nab\r\n",
            "1\r\na\n",
            "1\r\na\rx",
            "1;\n",
            "1;a\0\r\n",
            "0\r\n\n",
            "0\r\nX: y\n",
            "0\r\nX: y\rz",
            "0\r\n\rx",
            "00000000000000001\r\n",
            &extension,
            &trailers,
        ] {
            assert!(read(&[bad.as_bytes()]).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn chunked_bodies_are_parsed_equally_in_any_split(
            file in prop::collection::vec(any::<u8>(), 0..200),
            sizes in prop::collection::vec(1_usize..50, 1..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let (mut body, mut rest, mut sizes) = (Vec::new(), &file[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let count = rest.len().min(*sizes.next().unwrap());
                body.extend(format!("{count:X};n={count}\r\n").into_bytes());
                body.extend_from_slice(&rest[..count]);
                body.extend(b"\r\n");
                rest = &rest[count..];
            }
            body.extend(b"0\r\nA: b\r\n\r\n");
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
            let (found, ended, left) = read(&parts).unwrap();
            prop_assert_eq!((found, ended, left), (file, true, &b""[..]));
        }

        #[test]
        fn any_bytes_are_handled_without_panic_or_growth(octets in prop::collection::vec(
            prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'3'), Just(b';'), any::<u8>()],
            0..300,
        )) {
            if let Ok((file, _, left)) = read(&[&octets]) {
                prop_assert!(file.len() + left.len() <= octets.len());
            }
        }
    }
}
