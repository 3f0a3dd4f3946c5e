//! Result of a request: a DOS error class and code, or an NTSTATUS.
//!
//! Source: [MS-CIFS] 2.2.2.4, whose table also maps one form to the other.

use super::header_flags::flags2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Dos {
        /// Error class: one of [`class`].
        class: u8,
        code: u16,
    },
    Nt(u32),
}

impl Status {
    /// Success in the form that `flags2` of the message requests.
    pub const fn success(flags2: u16) -> Self {
        if flags2 & flags2::NT_STATUS == 0 { Self::Dos { class: 0, code: 0 } } else { Self::Nt(0) }
    }

    /// A row of [`error`] in the form that `flags2` of the message requests.
    pub const fn of(error: error::Row, flags2: u16) -> Self {
        // Errors that exist only in DOS and OS/2 keep their form, as Windows servers send them.
        let is_of_dos = error.nt == (error.code as u32) << 16 | error.class as u32;
        if flags2 & flags2::NT_STATUS == 0 || (is_of_dos && error.nt != 0) {
            Self::Dos { class: error.class, code: error.code }
        } else {
            Self::Nt(error.nt)
        }
    }

    pub const fn is_success(self) -> bool {
        matches!(self, Self::Dos { class: 0, .. } | Self::Nt(0))
    }

    /// Whether the request failed. After a warning, such as for a short buffer, the response still
    /// has data ([MS-ERREF] 2.3: an error has both highest bits set).
    pub const fn is_error(self) -> bool {
        match self {
            Self::Dos { class, .. } => class != 0,
            Self::Nt(status) => status >> 30 == 3,
        }
    }

    pub const fn is(self, error: error::Row) -> bool {
        match self {
            Self::Dos { class, code } => class == error.class && code == error.code,
            // An NTSTATUS of this form contains a DOS class and code ([MS-CIFS] 2.2.2.4).
            Self::Nt(status) => status == error.nt,
        }
    }

    /// Name of the error, if it is one of [`error`].
    pub fn name(self) -> Option<&'static str> {
        error::ALL.iter().find(|row| self.is(**row)).map(|row| row.name)
    }

    pub const fn from_wire(octets: [u8; 4], flags2: u16) -> Self {
        if flags2 & flags2::NT_STATUS == 0 {
            Self::Dos { class: octets[0], code: u16::from_le_bytes([octets[2], octets[3]]) }
        } else {
            Self::Nt(u32::from_le_bytes(octets))
        }
    }

    pub const fn to_wire(self) -> [u8; 4] {
        match self {
            Self::Dos { class, code } => {
                let [low, high] = code.to_le_bytes();
                [class, 0, low, high]
            }
            Self::Nt(status) => status.to_le_bytes(),
        }
    }
}

impl core::fmt::Display for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = self.name().unwrap_or("unknown error");
        match self {
            Self::Dos { class, code } => write!(f, "{name} (class {class}, code {code})"),
            Self::Nt(status) => write!(f, "{name} ({status:#010x})"),
        }
    }
}

pub mod class {
    pub const SUCCESS: u8 = 0;
    pub const DOS: u8 = 1;
    pub const SERVER: u8 = 2;
}

/// Errors in both forms. If several share a form, the first one is used for it.
pub mod error {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Row {
        pub name: &'static str,
        pub class: u8,
        pub code: u16,
        pub nt: u32,
    }

    macro_rules! errors {
        ($($name:ident = $text:literal, $class:literal, $code:literal, $nt:literal;)*) => {
            $(
                #[doc = concat!($text, ".")]
                pub const $name: Row =
                    Row { name: $text, class: $class, code: $code, nt: $nt };
            )*

            pub const ALL: &[Row] = &[$($name),*];
        };
    }

    errors! {
        SUCCESS = "success", 0, 0, 0x0000_0000;
        MORE_PROCESSING_REQUIRED = "more processing required", 1, 234, 0xc000_0016;
        BUFFER_OVERFLOW = "more data is available", 1, 234, 0x8000_0005;
        INVALID_FUNCTION = "function not supported", 1, 1, 0xc000_0010;
        NO_SUCH_FILE = "no such file", 1, 2, 0xc000_000f;
        OBJECT_NAME_NOT_FOUND = "file not found", 1, 2, 0xc000_0034;
        OBJECT_PATH_NOT_FOUND = "path not found", 1, 3, 0xc000_003a;
        NOT_A_DIRECTORY = "not a directory", 1, 3, 0xc000_0103;
        TOO_MANY_OPENED_FILES = "too many open files", 1, 4, 0xc000_011f;
        ACCESS_DENIED = "access denied", 1, 5, 0xc000_0022;
        FILE_IS_A_DIRECTORY = "file is a directory", 1, 5, 0xc000_00ba;
        CANNOT_DELETE = "cannot delete", 1, 5, 0xc000_0121;
        INVALID_HANDLE = "invalid file identifier", 1, 6, 0xc000_0008;
        SMB_BAD_FID = "bad file identifier", 1, 6, 0x0006_0001;
        FILE_CLOSED = "file is closed", 1, 6, 0xc000_0128;
        INSUFFICIENT_RESOURCES = "insufficient resources", 1, 8, 0xc000_009a;
        BAD_ACCESS = "bad open mode", 1, 12, 0xc000_00a5;
        BAD_DATA = "bad data", 1, 13, 0xc000_003e;
        DIRECTORY_NOT_EMPTY = "directory is not empty", 1, 145, 0xc000_0101;
        NOT_SAME_DEVICE = "not the same device", 1, 17, 0xc000_00d4;
        NO_MORE_FILES = "no more files", 1, 18, 0x8000_0006;
        SHARING_VIOLATION = "sharing violation", 1, 32, 0xc000_0043;
        FILE_LOCK_CONFLICT = "lock conflict", 1, 33, 0xc000_0054;
        LOCK_NOT_GRANTED = "lock not granted", 1, 33, 0xc000_0055;
        RANGE_NOT_LOCKED = "range is not locked", 1, 158, 0xc000_007e;
        INVALID_LOCK_RANGE = "range ends beyond 64 bits", 1, 307, 0xc000_01a1;
        CANCEL_VIOLATION = "no such lock is waited for", 1, 173, 0x00ad_0001;
        ATOMIC_LOCKS_NOT_SUPPORTED = "a lock cannot change its kind", 1, 174, 0x00ae_0001;
        END_OF_FILE = "end of file", 1, 38, 0xc000_0011;
        NOT_SUPPORTED = "not supported", 1, 50, 0xc000_00bb;
        OBJECT_NAME_COLLISION = "file exists", 1, 80, 0xc000_0035;
        INVALID_PARAMETER = "invalid parameter", 1, 87, 0xc000_000d;
        DISK_FULL = "disk full", 1, 112, 0xc000_007f;
        OBJECT_NAME_INVALID = "invalid file name", 1, 123, 0xc000_0033;
        INVALID_LEVEL = "unknown information level", 1, 124, 0xc000_0148;
        NAME_TOO_LONG = "name is too long", 1, 206, 0xc000_0106;
        DELETE_PENDING = "file is being deleted", 1, 303, 0xc000_0056;
        NON_SPECIFIC = "server error", 2, 1, 0xc000_0001;
        INVALID_SMB = "malformed message", 2, 1, 0x0001_0002;
        LOGON_FAILURE = "wrong user name or password", 2, 2, 0xc000_006d;
        WRONG_PASSWORD = "wrong password", 2, 2, 0xc000_006a;
        NETWORK_ACCESS_DENIED = "network access denied", 2, 4, 0xc000_00ca;
        SMB_BAD_TID = "bad tree identifier", 2, 5, 0x0005_0002;
        BAD_NETWORK_NAME = "no such share", 2, 6, 0xc000_00cc;
        BAD_DEVICE_TYPE = "wrong device type", 2, 7, 0xc000_00cb;
        SMB_BAD_COMMAND = "unknown command", 2, 64, 0x0016_0002;
        SMB_BAD_UID = "bad user identifier", 2, 91, 0x005b_0002;
        SMB_USE_MPX = "use multiplexed commands", 2, 250, 0x00fa_0002;
        SMB_USE_STANDARD = "use standard commands", 2, 251, 0x00fb_0002;
        TOO_MANY_SESSIONS = "too many users", 2, 90, 0xc000_00ce;
        MEDIA_WRITE_PROTECTED = "disk is write-protected", 3, 19, 0xc000_00a2;
        UNSUCCESSFUL_IO = "input or output error", 3, 31, 0xc000_0185;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_use_the_form_requested_by_the_message() {
        let dos = Status::of(error::OBJECT_NAME_NOT_FOUND, 0);
        assert_eq!(dos, Status::Dos { class: class::DOS, code: 2 });
        let nt = Status::of(error::OBJECT_NAME_NOT_FOUND, flags2::NT_STATUS);
        assert_eq!(nt, Status::Nt(0xc000_0034));
        assert_eq!(nt.to_string(), "file not found (0xc0000034)");
        assert_eq!(Status::from_wire(dos.to_wire(), 0), dos);
        assert_eq!(Status::from_wire(nt.to_wire(), flags2::NT_STATUS), nt);
    }

    #[test]
    fn warnings_are_neither_errors_nor_success() {
        let warning = Status::of(error::BUFFER_OVERFLOW, flags2::NT_STATUS);
        assert!(!warning.is_error() && !warning.is_success());
        assert!(Status::of(error::ACCESS_DENIED, 0).is_error());
        assert!(Status::success(flags2::NT_STATUS).is_success());
    }

    #[test]
    fn ntstatus_codes_are_unique() {
        for (at, row) in error::ALL.iter().enumerate() {
            assert!(error::ALL[..at].iter().all(|other| other.nt != row.nt), "{}", row.name);
        }
    }
}
