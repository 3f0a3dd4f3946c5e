//! What tests of several carriers share.

pub mod by_hand;
pub mod chance;
pub mod copying;
pub mod memory_files;
pub mod pair;
pub mod peer;
pub mod replay;
pub mod schedule;
pub mod segment;
pub mod tshark;
