//! Results of calls: `nfsstat3` (RFC 1813, section 2.6) and `nfsstat4` (RFC 8881, section 15.1),
//! which share their numbers.

use std::io;

macro_rules! statuses {
    ($($name:ident = $number:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Status(pub u32);

        impl Status {
            $(pub const $name: Self = Self($number);)+

            /// The name in a version of NFS.
            pub fn name(self, version: u32) -> Option<&'static str> {
                match self {
                    Self::ACCESS if version == 3 => Some("ACCES"),
                    Self::DELAY if version == 3 => Some("JUKEBOX"),
                    $(Self::$name => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

// Without values used only by layouts, delegations and locks.
statuses! {
    OK = 0; PERM = 1; NOENT = 2; IO = 5; NXIO = 6; ACCESS = 13; EXIST = 17; XDEV = 18; NODEV = 19; NOTDIR = 20;
    ISDIR = 21; INVAL = 22; FBIG = 27; NOSPC = 28; ROFS = 30; MLINK = 31; NAMETOOLONG = 63; NOTEMPTY = 66;
    DQUOT = 69; STALE = 70; REMOTE = 71; BADHANDLE = 10_001; NOT_SYNC = 10_002; BAD_COOKIE = 10_003;
    NOTSUPP = 10_004; TOOSMALL = 10_005; SERVERFAULT = 10_006; BADTYPE = 10_007; DELAY = 10_008; SAME = 10_009;
    DENIED = 10_010; EXPIRED = 10_011; LOCKED = 10_012; GRACE = 10_013; FHEXPIRED = 10_014; SHARE_DENIED = 10_015;
    WRONGSEC = 10_016; CLID_INUSE = 10_017; MOVED = 10_019; NOFILEHANDLE = 10_020; MINOR_VERS_MISMATCH = 10_021;
    STALE_CLIENTID = 10_022; STALE_STATEID = 10_023; OLD_STATEID = 10_024; BAD_STATEID = 10_025; BAD_SEQID = 10_026;
    NOT_SAME = 10_027; SYMLINK = 10_029; ATTRNOTSUPP = 10_032; NO_GRACE = 10_033; BADXDR = 10_036;
    OPENMODE = 10_038; BADOWNER = 10_039; BADCHAR = 10_040; BADNAME = 10_041; BAD_RANGE = 10_042;
    OP_ILLEGAL = 10_044; FILE_OPEN = 10_046; ADMIN_REVOKED = 10_047; BADSESSION = 10_052; BADSLOT = 10_053;
    COMPLETE_ALREADY = 10_054; CONN_NOT_BOUND_TO_SESSION = 10_055; SEQ_MISORDERED = 10_063; SEQUENCE_POS = 10_064;
    REQ_TOO_BIG = 10_065; REP_TOO_BIG = 10_066; REP_TOO_BIG_TO_CACHE = 10_067; RETRY_UNCACHED_REP = 10_068;
    TOO_MANY_OPS = 10_070; OP_NOT_IN_SESSION = 10_071; CLIENTID_BUSY = 10_074; SEQ_FALSE_RETRY = 10_076;
    BAD_HIGH_SLOT = 10_077; DEADSESSION = 10_078; NOT_ONLY_OP = 10_081; WRONG_CRED = 10_082; WRONG_TYPE = 10_083;
    DELEG_REVOKED = 10_087;
}

impl Status {
    pub fn of(error: &io::Error) -> Self {
        use io::ErrorKind as K;
        match error.kind() {
            K::NotFound => Self::NOENT,
            K::PermissionDenied => Self::ACCESS,
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
