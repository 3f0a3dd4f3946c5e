#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| lanlab_services::hostile::sftp_messages(octets));
