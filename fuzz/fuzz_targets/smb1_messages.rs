#![no_main]

#[path = "../smb1_messages.rs"]
mod smb1_messages;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| smb1_messages::smb1_messages(octets));
