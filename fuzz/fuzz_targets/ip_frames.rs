#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| lanlab_engine::fuzz_checks::ip_frames(octets));
