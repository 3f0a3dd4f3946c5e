//! Completion codes: the results of requests.

macro_rules! completions {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(#[doc = concat!("`", stringify!($code), "`: ", $text, ".")]
        pub const $name: u8 = $code;)*

        pub const fn name(code: u8) -> Option<&'static str> {
            match code {
                $($code => Some($text),)*
                _ => None,
            }
        }
    };
}

completions! {
    OK = 0x00, "done";
    NO_SPACE = 0x01, "no space left";
    FILE_IN_USE = 0x80, "file in use";
    NO_FILE_HANDLES = 0x81, "no more file handles";
    NO_OPEN_RIGHTS = 0x82, "no right to open files";
    IO_ERROR = 0x83, "error of the disk";
    NO_CREATE_RIGHTS = 0x84, "no right to create files";
    NO_CREATE_OR_DELETE_RIGHTS = 0x85, "file exists, and no right to replace it";
    BAD_FILE_HANDLE = 0x88, "no such file handle";
    NO_DELETE_RIGHTS = 0x8a, "no right to erase files";
    NO_RENAME_RIGHTS = 0x8b, "no right to rename files";
    NO_MODIFY_RIGHTS = 0x8c, "no right to change attributes";
    ALL_IN_USE = 0x8e, "all files in use";
    ALL_READ_ONLY = 0x90, "all files read-only";
    NAMES_EXIST = 0x92, "file of that name exists";
    NO_READ_RIGHTS = 0x93, "no right to read";
    NO_WRITE_RIGHTS = 0x94, "no right to write, or file is read-only";
    OUT_OF_MEMORY = 0x96, "server out of memory";
    NO_SUCH_VOLUME = 0x98, "no such volume";
    DIRECTORY_FULL = 0x99, "directory full";
    CROSSES_VOLUMES = 0x9a, "rename across volumes";
    BAD_DIRECTORY_HANDLE = 0x9b, "no such directory handle";
    NO_SUCH_PATH = 0x9c, "no such path";
    NO_DIRECTORY_HANDLES = 0x9d, "no more directory handles";
    BAD_NAME = 0x9e, "bad file name";
    DIRECTORY_ACTIVE = 0x9f, "directory in use";
    DIRECTORY_NOT_EMPTY = 0xa0, "directory not empty";
    LOCKED = 0xa2, "range is locked";
    BAD_PACKET = 0x7e, "length of the request is wrong";
    OTHER_NAME_SPACE = 0xbf, "no such name space";
    NO_CONSOLE_RIGHTS = 0xc6, "not an operator of the console";
    LOGIN_DENIED = 0xde, "password has expired, or login is locked";
    PASSWORD_EXPIRED = 0xdf, "password has expired";
    NO_SUCH_SEGMENT = 0xec, "no such segment";
    NO_RIGHTS = 0xef, "invalid name, or not logged in";
    NOT_PERMITTED = 0xf1, "not permitted";
    UNSUPPORTED = 0xfb, "server does not know this request";
    NO_SUCH_OBJECT = 0xfc, "no such user";
    COLLISION = 0xfd, "range is locked, or no such connection";
    FAILED = 0xff, "not found, or failed";
}

pub const NO_SUCH_PROPERTY: u8 = UNSUPPORTED;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_have_names() {
        assert_eq!(name(NO_SUCH_PATH), Some("no such path"));
        assert_eq!((name(OK), name(0x02)), (Some("done"), None));
    }
}
