//! Captured frames with the fields that tshark saw in them.

pub type Field = (&'static str, &'static str);

/// The bytes and fields of each frame in a file: a line of hexadecimal bytes, then a line of fields. Lines with `#`
/// are comments.
pub fn frames(file: &'static str) -> impl Iterator<Item = (Vec<u8>, Vec<Field>)> {
    let mut lines = file.lines().filter(|line| !line.starts_with('#'));
    std::iter::from_fn(move || {
        let octets = hex::decode(lines.next()?).unwrap();
        let fields = lines.next()?.trim().split('\t');
        Some((octets, fields.map(|field| field.split_once('=').unwrap()).collect()))
    })
}

/// A number as tshark writes it: decimal, hexadecimal, or as an address.
pub fn number(text: &str) -> u64 {
    let digits = text.replace(':', "");
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None if digits != text => u64::from_str_radix(&digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// Compare the fields that both know; returns how many they are.
pub fn compared(octets: &[u8], expected: &[Field], found: &[(&'static str, u64)]) -> usize {
    let mut compared = 0;
    for (name, value) in expected {
        assert!(!name.starts_with("_ws"), "{name}");
        if let Some((_, ours)) = found.iter().find(|(ours, _)| ours == name) {
            assert_eq!(*ours, number(value), "{name} of {}", hex::encode(octets));
            compared += 1;
        }
    }
    compared
}
