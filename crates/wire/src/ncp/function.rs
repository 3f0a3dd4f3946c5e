//! Functions of requests, with their subfunctions.

use crate::{Error, take};

const FORMAT: &str = "ncp request";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub number: u8,
    pub part: Option<u8>,
}

macro_rules! functions {
    ($($name:ident = $number:literal $($part:literal)?, $text:literal;)*) => {
        $(#[doc = concat!("", $text, ".")]
        pub const $name: Function =
            Function { number: $number, part: functions!(@part $($part)?) };)*

        impl Function {
            pub const ALL: &'static [Self] = &[$($name),*];

            pub const fn name(self) -> &'static str {
                match (self.number, self.part) {
                    $(($number, functions!(@pattern $($part)?)) => $text,)*
                    _ => "unknown function",
                }
            }
        }
    };
    (@part) => { None };
    (@part $part:literal) => { Some($part) };
    (@pattern) => { None };
    (@pattern $part:literal) => { Some($part) };
}

functions! {
    VOLUME_INFORMATION = 0x12, "get volume information";
    CONNECTION_NUMBER = 0x13, "get connection number";
    GET_TIME = 0x14, "get date and time";
    GET_BROADCAST = 0x15 0x01, "get broadcast message";
    DISABLE_BROADCASTS = 0x15 0x02, "disable broadcasts";
    ENABLE_BROADCASTS = 0x15 0x03, "enable broadcasts";
    SET_HANDLE = 0x16 0x00, "set directory handle";
    GET_PATH = 0x16 0x01, "get path of directory handle";
    GET_RIGHTS = 0x16 0x03, "get rights in a directory";
    VOLUME_NUMBER = 0x16 0x05, "get volume number";
    VOLUME_NAME = 0x16 0x06, "get volume name";
    MAKE_DIRECTORY = 0x16 0x0a, "make directory";
    REMOVE_DIRECTORY = 0x16 0x0b, "remove directory";
    RENAME_DIRECTORY = 0x16 0x0f, "rename directory";
    ALLOCATE_PERMANENT = 0x16 0x12, "allocate permanent directory handle";
    ALLOCATE_TEMPORARY = 0x16 0x13, "allocate temporary directory handle";
    FREE_HANDLE = 0x16 0x14, "free directory handle";
    VOLUME_OF_HANDLE = 0x16 0x15, "get volume of directory handle";
    ALLOCATE_SPECIAL = 0x16 0x16, "allocate special temporary directory handle";
    ENTRY_RIGHTS = 0x16 0x2a, "get effective rights of an entry";
    VOLUME_USAGE = 0x16 0x2c, "get volume and purge information";
    DIRECTORY_USAGE = 0x16 0x2d, "get directory information";
    SERVER_INFORMATION = 0x17 0x11, "get server information";
    ADDRESS_OLD = 0x17 0x13, "get internet address (old)";
    LOG_IN = 0x17 0x14, "login with plain password";
    GET_KEY = 0x17 0x17, "get login key";
    LOG_IN_KEYED = 0x17 0x18, "keyed login";
    ADDRESS = 0x17 0x1a, "get internet address";
    LOGGED_INFORMATION = 0x17 0x1c, "get logged information of a connection";
    OBJECT_ID = 0x17 0x35, "get object number";
    OBJECT_NAME = 0x17 0x36, "get object name";
    SCAN_OBJECTS = 0x17 0x37, "scan objects";
    SCAN_PROPERTIES = 0x17 0x3c, "scan properties";
    READ_PROPERTY = 0x17 0x3d, "read property value";
    VERIFY_PASSWORD = 0x17 0x3f, "verify password";
    CHANGE_PASSWORD = 0x17 0x40, "change password";
    CHANGE_PASSWORD_KEYED = 0x17 0x4b, "change password, keyed";
    IS_IN_SET = 0x17 0x43, "is object in set";
    ACCESS_LEVEL = 0x17 0x46, "get bindery access level";
    CONSOLE_PRIVILEGES = 0x17 0xc8, "check console privileges";
    END_OF_JOB = 0x18, "end of job";
    LOG_OUT = 0x19, "logout";
    LOG_RECORD = 0x1a, "log physical record";
    LOCK_RECORDS = 0x1b, "lock physical record set";
    RELEASE_RECORD = 0x1c, "release physical record";
    RELEASE_RECORDS = 0x1d, "release physical record set";
    CLEAR_RECORD = 0x1e, "clear physical record";
    CLEAR_RECORDS = 0x1f, "clear physical record set";
    SEMAPHORE = 0x20, "semaphore";
    TRANSACTION = 0x22, "transaction tracking";
    NEGOTIATE_BUFFER = 0x21, "negotiate buffer";
    COMMIT = 0x3b, "commit file";
    COMMIT_SINCE_3 = 0x3d, "commit file (3.x)";
    SEARCH_BEGIN = 0x3e, "begin search";
    SEARCH_ON = 0x3f, "go on with search";
    SEARCH = 0x40, "search for a file";
    OPEN_OLD = 0x41, "open file (old)";
    CLOSE = 0x42, "close file";
    CREATE = 0x43, "create file";
    ERASE = 0x44, "erase file";
    RENAME = 0x45, "rename file";
    SET_ATTRIBUTES = 0x46, "set file attributes";
    SIZE = 0x47, "get size of file";
    READ = 0x48, "read file";
    WRITE = 0x49, "write file";
    COPY = 0x4a, "copy from file to file";
    SET_DATE = 0x4b, "set date and time of file";
    OPEN = 0x4c, "open file";
    CREATE_NEW = 0x4d, "create new file";
    NS_OPEN = 0x57 0x01, "open or create entry";
    NS_SEARCH_BEGIN = 0x57 0x02, "initialize search";
    NS_SEARCH = 0x57 0x03, "search for entry";
    NS_RENAME = 0x57 0x04, "rename entry";
    NS_LOOK = 0x57 0x06, "obtain entry information";
    NS_CHANGE = 0x57 0x07, "modify entry information";
    NS_REMOVE = 0x57 0x08, "delete entry";
    NS_SET_HANDLE = 0x57 0x09, "set short directory handle";
    NS_ALLOCATE = 0x57 0x0c, "allocate short directory handle";
    NS_SEARCH_SET = 0x57 0x14, "search for entry set";
    NS_PATH = 0x57 0x15, "get path of short directory handle";
    NS_NUMBER = 0x57 0x16, "generate directory base";
    NS_SPACES = 0x57 0x18, "get loaded name spaces";
    NS_WHOLE_PATH = 0x57 0x1c, "get full path";
    NS_RIGHTS = 0x57 0x1d, "get effective directory rights";
    NEGOTIATE_PACKET = 0x61, "negotiate packet size";
    OFFER_BURST = 0x65, "offer packet burst";
    NDS_PING = 0x68 0x01, "ping for NDS";
}

pub const NAME_SPACE: u8 = 0x57;
const WITH_PARTS: [u8; 3] = [0x15, 0x16, 0x17];
const WITH_PLAIN_PARTS: [u8; 2] = [NAME_SPACE, 0x68];

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = self.part.map(|part| format!("/{part:02X}h")).unwrap_or_default();
        write!(f, "{:02X}h{part} ({})", self.number, self.name())
    }
}

impl Function {
    pub fn parse(request: &[u8]) -> Result<(Self, &[u8]), Error> {
        let truncated = |need| Error::truncated(FORMAT, request, need);
        let (&number, rest) = request.split_first().ok_or_else(|| truncated(1))?;
        if WITH_PLAIN_PARTS.contains(&number) {
            let (&part, rest) = rest.split_first().ok_or_else(|| truncated(2))?;
            return Ok((Self { number, part: Some(part) }, rest));
        }
        if !WITH_PARTS.contains(&number) {
            return Ok((Self { number, part: None }, rest));
        }
        if rest.len() < 3 {
            return Err(truncated(4));
        }
        // The length includes the subfunction number.
        let length = usize::from(u16::from_be_bytes(take(rest, 0..2)));
        if length == 0 {
            return Err(Error::forbidden(FORMAT, "length", 1, 0_u8));
        }
        let data = rest.get(3..2 + length).ok_or_else(|| truncated(3 + length))?;
        Ok((Self { number, part: Some(rest[2]) }, data))
    }

    pub fn emit(self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        out.push(self.number);
        let Some(part) = self.part else { return write(out) };
        if WITH_PLAIN_PARTS.contains(&self.number) {
            out.push(part);
            return write(out);
        }
        let at = out.len();
        out.extend_from_slice(&[0, 0, part]);
        write(out);
        let length = (out.len() - at - 2) as u16;
        out[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn subfunction_lengths_include_the_subfunction_number() {
        let mut octets = Vec::new();
        GET_KEY.emit(&mut octets, |_| {});
        assert_eq!(octets, [0x17, 0, 1, 0x17]);
        octets.clear();
        FREE_HANDLE.emit(&mut octets, |out| out.push(9));
        assert_eq!(octets, [0x16, 0, 2, 0x14, 9]);
        assert_eq!(Function::parse(&octets), Ok((FREE_HANDLE, &[9][..])));
        // Data beyond the length is ignored.
        octets.push(1);
        assert_eq!(Function::parse(&octets), Ok((FREE_HANDLE, &[9][..])));
        assert!(Function::parse(&octets[..4]).is_err() && Function::parse(&[]).is_err());
        assert!(Function::parse(&[0x17, 0, 0, 0x17]).is_err());
        assert_eq!(READ.name(), "read file");
        assert_eq!(NS_SPACES.to_string(), "57h/18h (get loaded name spaces)");
        assert_eq!(Function::parse(&[0x57, 0x18, 1]), Ok((NS_SPACES, &[1][..])));
        assert!(Function::parse(&[0x57]).is_err());
        assert_eq!(Function { number: 0x17, part: Some(0xee) }.name(), "unknown function");
    }

    proptest! {
        #[test]
        fn requests_round_trip(at in 0..Function::ALL.len(), data in prop::collection::vec(any::<u8>(), 0..600)) {
            let function = Function::ALL[at];
            let mut octets = Vec::new();
            function.emit(&mut octets, |out| out.extend_from_slice(&data));
            prop_assert_eq!(Function::parse(&octets), Ok((function, &data[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets: Vec<u8>) {
            let _ = Function::parse(&octets);
        }
    }
}
