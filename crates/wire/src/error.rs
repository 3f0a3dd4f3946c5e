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

impl Error {
    pub(crate) const fn truncated(format: &'static str, octets: &[u8], need: usize) -> Self {
        Self::Truncated { format, need, got: octets.len() }
    }

    /// Check the number of octets.
    pub(crate) const fn need(format: &'static str, octets: &[u8], need: usize) -> Result<(), Self> {
        if octets.len() < need { Err(Self::truncated(format, octets, need)) } else { Ok(()) }
    }

    pub(crate) fn forbidden(
        format: &'static str,
        field: &'static str,
        offset: usize,
        value: impl Into<u64>,
    ) -> Self {
        Self::Forbidden { format, field, offset, value: value.into() }
    }
}
