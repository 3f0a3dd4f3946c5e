//! Connection to a share in the core protocol.
//!
//! Source: [MS-CIFS] 2.2.4.50. The request to end it, [MS-CIFS] 2.2.4.51, is an empty block.

use super::blocks::block;

block! {
    /// Request. Strings are of the code page in every dialect that has it.
    Request<'a>: words(0) {
    } bytes {
        /// Share, as `\\SERVER\SHARE`.
        path: path,
        /// Password of the share.
        password: path,
        /// What the client expects: `A:`, `LPT1:`, `COMM`, `IPC` or `?????`.
        service: path,
    }
}

block! {
    Response: words(2) {
        /// Longest message that the server takes, octets.
        max_buffer: u16,
        /// Identifier of the connection.
        tid: u16,
    }
}
