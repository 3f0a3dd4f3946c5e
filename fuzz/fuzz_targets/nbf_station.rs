#![no_main]

#[path = "../nbf_station.rs"]
mod nbf_station;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| nbf_station::nbf_station(octets));
