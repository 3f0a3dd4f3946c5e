//! The file server of SMB 1.

pub mod locks;
pub mod shares;
pub mod short_names;
