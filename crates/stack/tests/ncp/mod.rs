//! NetWare's core protocol: a client and a server on the offline medium, in virtual time.

mod asked;
mod bursts;
mod by_hand;
mod hostile;
mod name_spaces;
mod pace;
mod pair;
mod replayed;
mod schedules;
mod served;
mod services;
mod waiting;
