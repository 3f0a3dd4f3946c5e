//! Test of a session: octets that come back.
//!
//! Source: [MS-CIFS] 2.2.4.39.

use super::blocks::block;

block! {
    /// Request, whose number is that of the wanted responses; or response, whose number says which.
    Echo<'a>: words(1) {
        /// Wanted responses, or number of this one, from 1.
        number: u16,
    } bytes {
        data: octets,
    }
}
