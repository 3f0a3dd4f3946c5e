/// What a socket is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or its end.
    Read,
    Write,
    /// Nothing but its errors.
    Nothing,
}
