//! Why other simulations give less on the longest bus: in them every station, the sender too, waits until
//! a frame has left the whole bus. IEEE 802.3, 4.2.8, has the sender start after a gap of its own.

const STATIONS: usize = 15;
const GAP_BITS: u64 = 96;
const PREAMBLE_BITS: u64 = 64;
const JAM_BITS: u64 = 32;
const SLOT_BITS: u64 = 512;

/// Saturated stations in slots of one common silence; times in bits.
fn efficiency_if_all_wait(frame_bytes: u64, propagation_bits: u64, frames: u64) -> f64 {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 20) % below
    };
    let mut ready = [0; STATIONS];
    let mut collisions = [0_u32; STATIONS];
    let (mut silent_from, mut delivered) = (0, 0);
    while delivered < frames {
        let starts = ready.map(|ready| silent_from.max(ready));
        let first = *starts.iter().min().expect("stations");
        let collides = |start: u64| start == first || start < first + propagation_bits;
        let mut senders: Vec<_> = (0..STATIONS).filter(|each| collides(starts[*each])).collect();
        senders.sort_by_key(|sender| starts[*sender]);
        let end = if let [sender] = senders[..] {
            let end = first + (frame_bytes + 8) * 8;
            delivered += 1;
            collisions[sender] = 0;
            ready[sender] = end;
            end
        } else {
            let heard = starts[senders[1]] + propagation_bits;
            let end = heard.max(first + PREAMBLE_BITS) + JAM_BITS;
            for sender in senders {
                collisions[sender] = (collisions[sender] + 1) % 16;
                let slots = draw(1 << collisions[sender].min(10));
                ready[sender] = end + slots * SLOT_BITS;
            }
            end
        };
        silent_from = end + GAP_BITS.max(propagation_bits);
    }
    (delivered * frame_bytes * 8) as f64 / silent_from as f64
}

#[test]
fn waiting_senders_reproduce_the_lower_figures_of_other_simulations() {
    for (frame_bytes, expected) in [(64, 0.564), (512, 0.864), (832, 0.896), (1518, 0.925)] {
        let found = efficiency_if_all_wait(frame_bytes, 256, 400_000);
        println!("{frame_bytes} bytes: {found:.4}");
        assert!((found / expected - 1.0).abs() < 0.005, "{frame_bytes} bytes: {found:.4}");
    }
}
