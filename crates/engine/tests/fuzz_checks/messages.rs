//! The formats on the wire.

use lanlab_wire::probe::Layout;
use lanlab_wire::session::{ANSWER_LEN, Message, QUESTION_LEN};

/// A message of a stream or an echo: what can be read is what was written, and a short number is
/// restored near the one expected.
///
/// # Panics
/// If that does not hold.
pub fn probe(octets: &[u8]) {
    let (head, message) = octets.split_at(octets.len().min(8));
    let expected = head.iter().fold(0_u64, |high, low| high << 8 | u64::from(*low)) >> 2;
    for size in [1, 2, 4, 12, 24, message.len().max(1)] {
        let layout = Layout::of(size);
        let Ok(header) = layout.parse(message) else { continue };
        let mut again = message.to_vec();
        layout.emit(&header, &mut again);
        assert_eq!(again, message, "what is read is what is written");
        assert_eq!(layout.parse(&again), Ok(header));
        let extended = layout.extend(header.sequence, expected);
        let bits = layout.sequence_bits();
        if bits < 64 {
            assert_eq!(extended & ((1 << bits) - 1), header.sequence, "the low bits are its own");
            assert!(extended.abs_diff(expected) <= 1 << bits, "it is near");
        }
    }
}

/// A message of the session: what can be read is what was written, but for padding.
///
/// # Panics
/// If that does not hold.
pub fn session(octets: &[u8]) {
    let Ok(message) = Message::parse(octets) else { return };
    let again = message.emit();
    assert_eq!(again.len(), octets.len());
    assert!([ANSWER_LEN, QUESTION_LEN].contains(&again.len()));
    assert_eq!(Message::parse(&again), Ok(message));
    assert!(message.token.matches(&message.token));
}
