//! Echo: the server returns the octets.
//!
//! Source: [MS-CIFS] 2.2.4.39.

use super::blocks::block;

block! {
    /// A request, or one of its numbered responses.
    Echo<'a>: words(1) {
        /// Number of responses requested, or number of this response, from 1.
        number: u16,
    } bytes {
        data: octets,
    }
}
