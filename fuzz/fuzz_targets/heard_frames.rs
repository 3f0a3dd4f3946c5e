#![no_main]

#[path = "../heard_frames.rs"]
mod heard_frames;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| heard_frames::heard_frames(octets));
