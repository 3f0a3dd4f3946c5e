#![no_main]

#[path = "../nbf_frames.rs"]
mod nbf_frames;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| nbf_frames::nbf_frames(octets));
