use proptest::prelude::*;

use super::*;

type Taken = Result<(Vec<u8>, Vec<(String, String)>), Refusal>;

fn taken<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Taken {
    let (mut chunks, mut data) = (Chunks::default(), Vec::new());
    for piece in pieces {
        chunks.take(piece, |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
    }
    chunks.finish().map(|trailer| (data, trailer))
}

#[test]
fn fields_follow_the_last_chunk() {
    let text = b"3;chunk-signature=00\r\nabc\r\n0\r\nX-Amz-Checksum-CRC32: NSRBwg==\r\n\r\n";
    let (data, trailer) = taken([&text[..]]).unwrap();
    assert_eq!(data, b"abc");
    assert_eq!(trailer, [("x-amz-checksum-crc32".to_owned(), "NSRBwg==".to_owned())]);
}

#[test]
fn what_are_no_chunks_is_refused() {
    let endless = "0".repeat(600);
    let fields = format!("0\r\n{}\r\n", "a:b\r\n".repeat(17));
    for bad in [
        "",
        "3\r\nabc",
        "3\r\nabcd\r\n0\r\n\r\n",
        "+3\r\nabc\r\n0\r\n\r\n",
        "-1\r\n",
        "x\r\n",
        "\r\n",
        "3\nabc\n0\n\n",
        "ffffffffffffffffff\r\n",
        "0\r\n\r\nmore",
        "0\r\nno field\r\n\r\n",
        &endless,
        &fields,
    ] {
        assert!(taken([bad.as_bytes()]).is_err(), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn no_octets_panic(data: Vec<u8>) {
        let _ = taken([&data[..]]);
    }

    #[test]
    fn how_they_are_cut_changes_nothing(
        blocks in prop::collection::vec("[0-9a-f\r\n:;x]{1,40}", 0..8),
        is_framed: bool,
        size in 1_usize..9,
    ) {
        let mut text = String::new();
        for block in &blocks {
            if is_framed {
                text.extend([format!("{:x}\r\n", block.len()).as_str(), block, "\r\n"]);
            } else {
                text.push_str(block);
            }
        }
        text.push_str("0\r\na:b\r\n\r\n");
        let whole = taken([text.as_bytes()]);
        let cut = taken(text.as_bytes().chunks(size));
        if is_framed {
            prop_assert_eq!(&whole.as_ref().unwrap().0, &blocks.concat().into_bytes());
        }
        prop_assert_eq!(whole, cut);
    }
}
