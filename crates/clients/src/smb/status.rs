//! Converts a server's status ([MS-ERREF] section 2.3) into a fault.

use lanlab_files::{Class, Fault};
use smb2::types::status::NtStatus;
use smb2::{Error, ErrorKind};

/// Statuses without a name in the `smb2` crate.
const STATUS_QUOTA_EXCEEDED: u32 = 0xC000_0044;
const STATUS_MEDIA_WRITE_PROTECTED: u32 = 0xC000_00A2;
const STATUS_WRONG_PASSWORD: u32 = 0xC000_006A;
const STATUS_NO_SUCH_USER: u32 = 0xC000_0064;
const STATUS_LOGON_TYPE_NOT_GRANTED: u32 = 0xC000_015B;
const STATUS_NAME_TOO_LONG: u32 = 0xC000_0106;
const STATUS_OBJECT_PATH_INVALID: u32 = 0xC000_0039;
const STATUS_OBJECT_PATH_SYNTAX_BAD: u32 = 0xC000_003B;
const STATUS_CONNECTION_DISCONNECTED: u32 = 0xC000_020C;
const STATUS_IO_TIMEOUT: u32 = 0xC000_00B5;

pub fn class(status: NtStatus) -> Class {
    use NtStatus as S;
    match status {
        S::NO_SUCH_FILE
        | S::OBJECT_NAME_NOT_FOUND
        | S::OBJECT_PATH_NOT_FOUND
        | S::NOT_A_DIRECTORY
        | S::BAD_NETWORK_NAME
        | S::BAD_NETWORK_PATH
        | S::NETWORK_NAME_DELETED
        | S::DELETE_PENDING
        | S::NOT_FOUND => Class::Missing,
        S::OBJECT_NAME_COLLISION | S::DIRECTORY_NOT_EMPTY | S::FILE_IS_A_DIRECTORY => Class::Exists,
        S::ACCESS_DENIED
        | S::SHARING_VIOLATION
        | S::FILE_LOCK_CONFLICT
        | S::CANNOT_DELETE
        | S(STATUS_MEDIA_WRITE_PROTECTED) => Class::Denied,
        S::LOGON_FAILURE
        | S::ACCOUNT_RESTRICTION
        | S::INVALID_LOGON_HOURS
        | S::INVALID_WORKSTATION
        | S::PASSWORD_EXPIRED
        | S::ACCOUNT_DISABLED
        | S::ACCOUNT_EXPIRED
        | S::PASSWORD_MUST_CHANGE
        | S::ACCOUNT_LOCKED_OUT
        | S(STATUS_WRONG_PASSWORD | STATUS_NO_SUCH_USER | STATUS_LOGON_TYPE_NOT_GRANTED) => {
            Class::Login
        }
        S::DISK_FULL | S(STATUS_QUOTA_EXCEEDED) => Class::NoSpace,
        S::OBJECT_NAME_INVALID
        | S(STATUS_NAME_TOO_LONG | STATUS_OBJECT_PATH_INVALID | STATUS_OBJECT_PATH_SYNTAX_BAD) => {
            Class::Name
        }
        S::NOT_SUPPORTED | S::NOT_IMPLEMENTED | S::INVALID_DEVICE_REQUEST | S::PATH_NOT_COVERED => {
            Class::Unsupported
        }
        S::USER_SESSION_DELETED
        | S::NETWORK_SESSION_EXPIRED
        | S(STATUS_CONNECTION_DISCONNECTED) => Class::Reset,
        S(STATUS_IO_TIMEOUT) => Class::TimedOut,
        _ => Class::Protocol,
    }
}

pub fn refused(status: NtStatus) -> Fault {
    let words = match status {
        NtStatus(STATUS_MEDIA_WRITE_PROTECTED) => "STATUS_MEDIA_WRITE_PROTECTED".to_owned(),
        named => named.to_string(),
    };
    Fault::new(class(status), words)
}

pub fn fault(what: &str, error: &Error) -> Fault {
    let class = match error {
        Error::Protocol { status, .. } => class(*status),
        Error::Io(error) => return Fault::of_connection(what, error),
        Error::Auth { .. } | Error::GuestSessionRefused { .. } => Class::Login,
        Error::Timeout => Class::TimedOut,
        Error::Disconnected => Class::Reset,
        other => match other.kind() {
            ErrorKind::TimedOut => Class::TimedOut,
            ErrorKind::ConnectionLost => Class::Reset,
            _ => Class::Protocol,
        },
    };
    Fault::new(class, format!("{what}: {error}"))
}

/// As [`fault`], for a login, where a refusal concerns the user.
pub fn login_fault(user: &str, error: &Error, has_user: bool) -> Fault {
    let is_wrong = matches!(error, Error::Auth { .. })
        || matches!(error, Error::Protocol { status, .. } if matches!(
            *status,
            NtStatus::LOGON_FAILURE | NtStatus(STATUS_WRONG_PASSWORD | STATUS_NO_SUCH_USER)
        ));
    let fault = fault(&format!("log in as `{user}`"), error);
    match fault.class {
        Class::Login if is_wrong && !has_user => {
            fault.hint("name a user, as in `smb://USER@HOST/SHARE`")
        }
        Class::Login if is_wrong => fault.wrong_login(),
        Class::Denied => Fault { class: Class::Login, ..fault },
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_map_to_actionable_errors() {
        for (status, expected) in [
            (0xC000_0034, Class::Missing),
            (0xC000_0035, Class::Exists),
            (0xC000_0022, Class::Denied),
            (0xC000_007F, Class::NoSpace),
            (0xC000_0033, Class::Name),
            (0xC000_006D, Class::Login),
            (0xC000_00CC, Class::Missing),
            (0xC012_3456, Class::Protocol),
        ] {
            assert_eq!(class(NtStatus(status)), expected, "{status:#x}");
        }
    }
}
