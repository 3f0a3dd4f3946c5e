/// Why a byte sequence is not the message it claims to be.
///
/// Callers drop the message and count it; the fields say enough to find the byte in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The buffer ends before the format does.
    #[error("{format}: need {need} octets, got {got}")]
    Truncated {
        /// Name of the format.
        format: &'static str,
        /// Octets that the format needs.
        need: usize,
        /// Octets that were there.
        got: usize,
    },
    /// A field holds a value that the format does not allow.
    #[error("{format}: field `{field}` at octet {offset} has forbidden value {value:#x}")]
    Forbidden {
        /// Name of the format.
        format: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Where the field begins.
        offset: usize,
        value: u64,
    },
}
