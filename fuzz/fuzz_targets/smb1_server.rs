//! The file server of SMB 1, under any messages.
#![no_main]

#[path = "../memory_files.rs"]
mod memory_files;
#[path = "../smb1_server.rs"]
mod smb1_server;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    smb1_server::smb1_server(octets);
});
