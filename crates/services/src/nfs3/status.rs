//! `nfsstat3`: how a call ended (RFC 1813, section 2.6).

use std::io;

use crate::fault::Class;

macro_rules! statuses {
    ($($name:ident = $number:literal, $class:ident;)+) => {
        /// How a call ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Status(pub u32);

        #[allow(missing_docs, reason = "the names of the specification")]
        impl Status {
            $(pub const $name: Self = Self($number);)+

            /// Its name, if it has one.
            pub fn name(self) -> Option<&'static str> {
                match self { $(Self::$name => Some(stringify!($name)),)+ _ => None }
            }

            /// What kind of thing went wrong.
            pub fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)+ _ => Class::Protocol }
            }
        }
    };
}

statuses! {
    OK = 0, Protocol;
    PERM = 1, Denied;
    NOENT = 2, Missing;
    IO = 5, Protocol;
    NXIO = 6, Protocol;
    ACCES = 13, Denied;
    EXIST = 17, Exists;
    XDEV = 18, Unsupported;
    NODEV = 19, Unsupported;
    NOTDIR = 20, Missing;
    ISDIR = 21, Exists;
    INVAL = 22, Name;
    FBIG = 27, NoSpace;
    NOSPC = 28, NoSpace;
    ROFS = 30, Denied;
    MLINK = 31, NoSpace;
    NAMETOOLONG = 63, Name;
    NOTEMPTY = 66, Exists;
    DQUOT = 69, NoSpace;
    STALE = 70, Missing;
    REMOTE = 71, Unsupported;
    BADHANDLE = 10_001, Protocol;
    NOT_SYNC = 10_002, Protocol;
    BAD_COOKIE = 10_003, Protocol;
    NOTSUPP = 10_004, Unsupported;
    TOOSMALL = 10_005, Protocol;
    SERVERFAULT = 10_006, Protocol;
    BADTYPE = 10_007, Unsupported;
    JUKEBOX = 10_008, Protocol;
}

impl Status {
    /// What to answer when this host says so of a file.
    pub fn of(error: &io::Error) -> Self {
        use io::ErrorKind as K;
        match error.kind() {
            K::NotFound => Self::NOENT,
            K::PermissionDenied => Self::ACCES,
            K::AlreadyExists => Self::EXIST,
            K::NotADirectory => Self::NOTDIR,
            K::IsADirectory => Self::ISDIR,
            K::DirectoryNotEmpty => Self::NOTEMPTY,
            K::StorageFull => Self::NOSPC,
            K::QuotaExceeded => Self::DQUOT,
            K::FileTooLarge => Self::FBIG,
            K::ReadOnlyFilesystem => Self::ROFS,
            K::InvalidFilename => Self::NAMETOOLONG,
            K::InvalidInput => Self::INVAL,
            K::CrossesDevices => Self::XDEV,
            K::StaleNetworkFileHandle => Self::STALE,
            _ => Self::IO,
        }
    }
}
