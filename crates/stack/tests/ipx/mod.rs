//! Stations with SMB straight on IPX on the offline medium, in virtual time.

mod by_hand;
mod exchange;
mod framings;
mod hostile;
mod netbios;
mod network;
mod replayed;
mod schedules;
mod sessions;
mod smb;
