#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| lanlab_engine::fuzz_checks::host_texts(octets));
