//! Error messages of iperf 3.12 by number.

pub const TIME: i32 = 5;
pub const FLOWS: i32 = 6;
pub const TCP_BYTES: i32 = 7;
pub const BUFFER: i32 = 8;
pub const OMIT: i32 = 12;
pub const NOT_IMPLEMENTED: i32 = 13;
pub const UDP_BYTES: i32 = 20;
pub const TYPE_OF_SERVICE: i32 = 21;
pub const RATE: i32 = 27;
pub const PARAMETERS: i32 = 114;
pub const CONGESTION: i32 = 134;
