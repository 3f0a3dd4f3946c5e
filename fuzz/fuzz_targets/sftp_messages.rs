#![no_main]

#[path = "../file_services.rs"]
mod file_services;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| file_services::sftp_messages(octets));
