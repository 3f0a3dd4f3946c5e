//! Stations with SMB straight on IPX on the offline medium, in virtual time.

mod by_hand;
#[path = "../nbf/chance.rs"]
mod chance;
#[path = "../nbf/copying.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod copying;
mod exchange;
mod framings;
mod hostile;
#[path = "../support/memory_files.rs"]
mod memory_files;
mod netbios;
mod network;
#[path = "../nbf/pair.rs"]
mod pair;
#[path = "../nbf/peer.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod peer;
#[path = "../replay/mod.rs"]
mod replay;
mod replayed;
#[path = "../nbf/schedule.rs"]
mod schedule;
mod schedules;
#[path = "../nbf/segment.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod segment;
mod sessions;
mod smb;
#[path = "../nbf/tshark.rs"]
mod tshark;
