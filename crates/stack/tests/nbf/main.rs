//! Two and more NetBEUI stations on the offline medium, in virtual time.

mod bulk;
mod by_hand;
mod chance;
#[allow(dead_code, reason = "what tests of other carriers need of it besides")]
mod copying;
mod dissected;
mod hostile;
#[path = "../support/memory_files.rs"]
mod memory_files;
mod names;
mod pace;
mod pair;
mod peer;
#[path = "../replay/mod.rs"]
mod replay;
mod replayed;
mod schedule;
mod schedules;
mod segment;
mod sessions;
mod smb;
mod stubborn;
mod tshark;
mod unchanged;
