#![no_main]

#[path = "../smb1_client.rs"]
mod smb1_client;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| smb1_client::smb1_client(octets));
