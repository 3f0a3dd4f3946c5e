//! Numbers of the commands ([MS-CIFS] 2.2.2.1).

macro_rules! commands {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        $(
            #[doc = concat!("SMB_COM_", stringify!($name), ".")]
            pub const $name: u8 = $number;
        )*

        /// Name of a command for errors and records. `smb1` for an unknown number.
        pub const fn name(command: u8) -> &'static str {
            match command {
                $($name => $text,)*
                _ => "smb1",
            }
        }
    };
}

commands! {
    CREATE_DIRECTORY = 0x00, "smb1 create directory";
    DELETE_DIRECTORY = 0x01, "smb1 delete directory";
    OPEN = 0x02, "smb1 open";
    CREATE = 0x03, "smb1 create";
    CLOSE = 0x04, "smb1 close";
    FLUSH = 0x05, "smb1 flush";
    DELETE = 0x06, "smb1 delete";
    RENAME = 0x07, "smb1 rename";
    QUERY_INFORMATION = 0x08, "smb1 query information";
    SET_INFORMATION = 0x09, "smb1 set information";
    READ = 0x0a, "smb1 read";
    WRITE = 0x0b, "smb1 write";
    LOCK_BYTE_RANGE = 0x0c, "smb1 lock byte range";
    UNLOCK_BYTE_RANGE = 0x0d, "smb1 unlock byte range";
    CREATE_TEMPORARY = 0x0e, "smb1 create temporary";
    CREATE_NEW = 0x0f, "smb1 create new";
    CHECK_DIRECTORY = 0x10, "smb1 check directory";
    PROCESS_EXIT = 0x11, "smb1 process exit";
    SEEK = 0x12, "smb1 seek";
    READ_RAW = 0x1a, "smb1 read raw";
    READ_MPX = 0x1b, "smb1 read multiplexed";
    WRITE_RAW = 0x1d, "smb1 write raw";
    WRITE_MPX = 0x1e, "smb1 write multiplexed";
    WRITE_COMPLETE = 0x20, "smb1 write complete";
    SET_INFORMATION2 = 0x22, "smb1 set information 2";
    QUERY_INFORMATION2 = 0x23, "smb1 query information 2";
    LOCKING_ANDX = 0x24, "smb1 locking andx";
    TRANSACTION = 0x25, "smb1 transaction";
    TRANSACTION_SECONDARY = 0x26, "smb1 transaction secondary";
    ECHO = 0x2b, "smb1 echo";
    WRITE_AND_CLOSE = 0x2c, "smb1 write and close";
    OPEN_ANDX = 0x2d, "smb1 open andx";
    READ_ANDX = 0x2e, "smb1 read andx";
    WRITE_ANDX = 0x2f, "smb1 write andx";
    TRANSACTION2 = 0x32, "smb1 transaction 2";
    TRANSACTION2_SECONDARY = 0x33, "smb1 transaction 2 secondary";
    FIND_CLOSE2 = 0x34, "smb1 find close 2";
    TREE_CONNECT = 0x70, "smb1 tree connect";
    TREE_DISCONNECT = 0x71, "smb1 tree disconnect";
    NEGOTIATE = 0x72, "smb1 negotiate";
    SESSION_SETUP_ANDX = 0x73, "smb1 session setup andx";
    LOGOFF_ANDX = 0x74, "smb1 logoff andx";
    TREE_CONNECT_ANDX = 0x75, "smb1 tree connect andx";
    QUERY_INFORMATION_DISK = 0x80, "smb1 query information disk";
    SEARCH = 0x81, "smb1 search";
    FIND = 0x82, "smb1 find";
    FIND_UNIQUE = 0x83, "smb1 find unique";
    FIND_CLOSE = 0x84, "smb1 find close";
    NT_TRANSACT = 0xa0, "smb1 nt transact";
    NT_TRANSACT_SECONDARY = 0xa1, "smb1 nt transact secondary";
    NT_CREATE_ANDX = 0xa2, "smb1 nt create andx";
    NT_CANCEL = 0xa4, "smb1 nt cancel";
    NONE = 0xff, "smb1 no andx command";
}

pub const fn is_andx(command: u8) -> bool {
    matches!(
        command,
        LOCKING_ANDX
            | OPEN_ANDX
            | READ_ANDX
            | WRITE_ANDX
            | SESSION_SETUP_ANDX
            | LOGOFF_ANDX
            | TREE_CONNECT_ANDX
            | NT_CREATE_ANDX
    )
}
