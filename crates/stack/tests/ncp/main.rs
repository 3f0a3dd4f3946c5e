//! NetWare's core protocol: a client and a server on the offline medium, in virtual time.

mod asked;
mod bursts;
mod by_hand;
#[path = "../nbf/chance.rs"]
mod chance;
mod hostile;
#[path = "../support/memory_files.rs"]
mod memory_files;
mod name_spaces;
mod pace;
mod pair;
#[path = "../replay/mod.rs"]
mod replay;
mod replayed;
mod schedules;
#[path = "../nbf/segment.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod segment;
mod served;
mod services;
#[path = "../nbf/tshark.rs"]
mod tshark;
mod waiting;
