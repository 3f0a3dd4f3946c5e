/// Why bytes are not a valid message.
///
/// Callers drop the message and count it. The fields identify the byte in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{format}: need {need} octets, got {got}")]
    Truncated { format: &'static str, need: usize, got: usize },
    #[error("{format}: field `{field}` at octet {offset} has forbidden value {value:#x}")]
    Forbidden { format: &'static str, field: &'static str, offset: usize, value: u64 },
}
