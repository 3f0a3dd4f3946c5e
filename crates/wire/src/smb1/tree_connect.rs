//! Connects to a share in the core protocol.
//!
//! Source: [MS-CIFS] 2.2.4.50. The disconnect request, [MS-CIFS] 2.2.4.51, is an empty block.

use super::blocks::block;

block! {
    Request<'a>: words(0) {
    } bytes {
        path: path,
        password: path,
        /// Type that the client expects: `A:`, `LPT1:`, `COMM`, `IPC` or `?????`.
        service: path,
    }
}

block! {
    Response: words(2) {
        max_buffer: u16,
        tid: u16,
    }
}
