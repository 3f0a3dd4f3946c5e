//! Conversion of line ends: CR LF on the wire, LF in files (RFC 959, section 3.1.1.1).

#[derive(Debug, Default)]
pub struct LineEnds {
    after_cr: bool,
}

impl LineEnds {
    pub fn added(&mut self, data: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(data.len() + data.len() / 16);
        for octet in data {
            if *octet == b'\n' && !self.after_cr {
                text.push(b'\r');
            }
            text.push(*octet);
            self.after_cr = *octet == b'\r';
        }
        text
    }

    /// From the wire: drop a CR before an LF. A trailing CR is held back until more data arrives.
    pub fn removed(&mut self, data: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(data.len() + 1);
        for octet in data {
            if self.after_cr && *octet != b'\n' {
                text.push(b'\r');
            }
            self.after_cr = *octet == b'\r';
            if !self.after_cr {
                text.push(*octet);
            }
        }
        text
    }

    pub fn rest(self) -> &'static [u8] {
        if self.after_cr { b"\r" } else { b"" }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn removed(parts: &[&[u8]]) -> Vec<u8> {
        let mut ends = LineEnds::default();
        let mut text: Vec<u8> = parts.iter().flat_map(|part| ends.removed(part)).collect();
        text.extend_from_slice(ends.rest());
        text
    }

    #[test]
    fn line_ends_are_converted_both_ways() {
        let added = |text: &[u8]| LineEnds::default().added(text);
        assert_eq!(added(b"a\nb\r\nc\n\n"), b"a\r\nb\r\nc\r\n\r\n");
        assert_eq!(removed(&[b"a\r\nb\nc\r\r\n\rd\r"]), b"a\nb\nc\r\n\rd\r");
        assert_eq!(removed(&[b"a\r", b"\nb\r", b"c"]), b"a\nb\rc");
    }

    proptest! {
        #[test]
        fn text_round_trips_in_any_split(
            text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..60),
            cuts in prop::collection::vec(1_usize..7, 1..9),
        ) {
            let (mut ends, mut wire, mut rest) = (LineEnds::default(), Vec::new(), &text[..]);
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (part, after) = rest.split_at(rest.len().min(*cut));
                wire.extend(ends.added(part));
                rest = after;
            }
            let parts: Vec<&[u8]> = wire.chunks(cuts[0]).collect();
            prop_assert_eq!(removed(&parts), text);
        }
    }
}
