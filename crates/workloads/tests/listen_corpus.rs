//! What has been fed to the fuzz target of listening once is fed to it by every test run, and some of anything else.

#[path = "../../../fuzz/tests/heard_frames.rs"]
mod heard_frames;
#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;

use proptest::prelude::*;

#[test]
fn heard_frames() {
    for octets in seeds::seeds("heard_frames") {
        for length in 0..octets.len() {
            heard_frames::heard_frames(&octets[..length]);
        }
        heard_frames::heard_frames(&octets);
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..600))| {
        heard_frames::heard_frames(&octets);
    });
}
