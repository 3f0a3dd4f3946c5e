//! Echo: the server returns the octets.
//!
//! Source: [MS-CIFS] 2.2.4.39.

use super::blocks::block;

block! {
    /// A request with the number of wanted responses, or a response with its own number.
    Echo<'a>: words(1) {
        /// Number of wanted responses, or number of this response, from 1.
        number: u16,
    } bytes {
        data: octets,
    }
}
