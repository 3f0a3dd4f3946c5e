//! `nfsstat3`: results of calls (RFC 1813, section 2.6).

use std::io;

macro_rules! statuses {
    ($(#[$about:meta])* $($name:ident = $number:literal;)+) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Status(pub u32);

        impl Status {
            $(pub const $name: Self = Self($number);)+

            pub fn name(self) -> Option<&'static str> {
                match self { $(Self::$name => Some(stringify!($name)),)+ _ => None }
            }
        }
    };
}
pub(crate) use statuses;

statuses! {
    OK = 0;
    PERM = 1;
    NOENT = 2;
    IO = 5;
    NXIO = 6;
    ACCES = 13;
    EXIST = 17;
    XDEV = 18;
    NODEV = 19;
    NOTDIR = 20;
    ISDIR = 21;
    INVAL = 22;
    FBIG = 27;
    NOSPC = 28;
    ROFS = 30;
    MLINK = 31;
    NAMETOOLONG = 63;
    NOTEMPTY = 66;
    DQUOT = 69;
    STALE = 70;
    REMOTE = 71;
    BADHANDLE = 10_001;
    NOT_SYNC = 10_002;
    BAD_COOKIE = 10_003;
    NOTSUPP = 10_004;
    TOOSMALL = 10_005;
    SERVERFAULT = 10_006;
    BADTYPE = 10_007;
    JUKEBOX = 10_008;
}

impl Status {
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
