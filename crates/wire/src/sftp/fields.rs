//! Reads the fields of a message.

use super::Message;

const SIZE: u32 = 0x1;
const UIDGID: u32 = 0x2;
const PERMISSIONS: u32 = 0x4;
const ACMODTIME: u32 = 0x8;
const EXTENDED: u32 = 0x8000_0000;

/// The file type bits of permissions, and two of their values (POSIX `st_mode`).
const S_IFMT: u32 = 0o170_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;

/// The rest of a message. Methods return `None` if it ends within a field.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn u8(&mut self) -> Option<u8> {
        let (value, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*value)
    }

    pub fn u32(&mut self) -> Option<u32> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*value))
    }

    pub fn u64(&mut self) -> Option<u64> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*value))
    }

    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (value, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    pub fn have_others(&self) -> bool {
        let flags = self.0.first_chunk().map_or(0, |flags| u32::from_be_bytes(*flags));
        flags & (UIDGID | EXTENDED) != 0
    }

    /// Attributes of a file (section 5).
    pub fn attributes(&mut self) -> Option<Attributes> {
        let flags = self.u32()?;
        let mut found = Attributes::default();
        if flags & SIZE != 0 {
            found.size_bytes = Some(self.u64()?);
        }
        if flags & UIDGID != 0 {
            self.u64()?;
        }
        if flags & PERMISSIONS != 0 {
            found.mode = Some(self.u32()?);
        }
        if flags & ACMODTIME != 0 {
            found.accessed_s = Some(self.u32()?);
            found.modified_s = Some(self.u32()?);
        }
        if flags & EXTENDED != 0 {
            for _ in 0..self.u32()? {
                self.string()?;
                self.string()?;
            }
        }
        Some(found)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    pub size_bytes: Option<u64>,
    pub mode: Option<u32>,
    /// Time of the last read, seconds since 1970.
    pub accessed_s: Option<u32>,
    pub modified_s: Option<u32>,
}

impl Attributes {
    pub fn of(is_directory: bool, mode: u32, size_bytes: u64, times: [u64; 2]) -> Self {
        let mode = mode | if is_directory { S_IFDIR } else { S_IFREG };
        let [accessed_s, modified_s] =
            times.map(|time_s| Some(u32::try_from(time_s).unwrap_or(u32::MAX)));
        Self { size_bytes: Some(size_bytes), mode: Some(mode), accessed_s, modified_s }
    }

    pub fn is_directory(&self) -> Option<bool> {
        self.mode.filter(|mode| mode & S_IFMT != 0).map(|mode| mode & S_IFMT == S_IFDIR)
    }

    /// Whether it is a file; `None` if its type is unknown.
    pub fn is_file(&self) -> Option<bool> {
        self.mode.filter(|mode| mode & S_IFMT != 0).map(|mode| mode & S_IFMT == S_IFREG)
    }

    pub fn write(&self, message: Message) -> Message {
        let bit = |has: bool, flag: u32| if has { flag } else { 0 };
        let flags = bit(self.size_bytes.is_some(), SIZE)
            | bit(self.mode.is_some(), PERMISSIONS)
            | bit(self.modified_s.is_some(), ACMODTIME);
        let mut message = message.u32(flags);
        if let Some(size_bytes) = self.size_bytes {
            message = message.u64(size_bytes);
        }
        if let Some(mode) = self.mode {
            message = message.u32(mode);
        }
        if let Some(modified_s) = self.modified_s {
            message = message.u32(self.accessed_s.unwrap_or(modified_s)).u32(modified_s);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn file_information_round_trips() {
        let of = Attributes::of(true, 0o750, 7, [1_795_255_100, 1_795_255_200]);
        let octets = of.write(Message::new(105, 0)).string("rest").finish();
        let mut fields = Fields(&octets[5..]);
        assert_eq!(fields.attributes(), Some(of));
        assert_eq!((of.is_directory(), fields.text()), (Some(true), Some("rest")));
        let empty = Attributes::default().write(Message::new(105, 0)).finish();
        assert_eq!(Fields(&empty[5..]).attributes(), Some(Attributes::default()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(octets in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Fields(&octets).attributes();
            let _ = (Fields(&octets).text(), Fields(&octets).u64());
        }
    }
}
