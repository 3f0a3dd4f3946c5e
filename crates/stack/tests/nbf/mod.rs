//! Two and more NetBEUI stations on the offline medium, in virtual time.

mod bulk;
mod by_hand;
mod dissected;
mod hostile;
mod names;
mod pace;
mod replayed;
mod schedules;
mod sessions;
mod smb;
mod stubborn;
mod unchanged;
