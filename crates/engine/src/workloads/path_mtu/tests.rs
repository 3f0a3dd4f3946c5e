//! Sizes in answers and errors.

mod two_ends;

use lanlab_units::Instant;

use super::*;

const TOKEN: Token = Token([7; TOKEN_LEN]);

#[test]
fn header_and_minimum_mtu_sizes_match_the_protocol() {
    assert_eq!(sizes_of(IpAddr::from([127, 0, 0, 1])), (28, 576));
    assert_eq!(sizes_of(IpAddr::from([0_u16; 8])), (48, 1280));
}

#[test]
fn only_session_datagrams_longer_than_the_answer_are_answered() {
    let datagram = |token: u8, length: usize| {
        let mut octets = vec![0; length];
        octets[..TOKEN_LEN].fill(token);
        octets
    };
    assert!(is_of(&TOKEN, &datagram(7, 19)));
    assert!(!is_of(&TOKEN, &datagram(7, 18)));
    assert!(!is_of(&TOKEN, &datagram(8, 100)));
}

#[test]
fn an_error_that_disappears_on_retry_concerned_another_datagram() {
    // EMSGSIZE and ECONNREFUSED.
    let (too_long, refused) = (Err(90), Err(111));
    let is_reported = |answers: &[Result<usize, i32>]| {
        let mut left = answers.iter();
        let is_told = is_told_of_another(|| {
            let answer = left.next().expect("an answer for each datagram");
            answer.map_err(io::Error::from_raw_os_error)
        });
        assert_eq!(left.next(), None, "each datagram was sent");
        is_told
    };
    assert!(is_reported(&[too_long, Ok(100)]));
    assert!(!is_reported(&[too_long, too_long]) && !is_reported(&[too_long, refused]));
    assert!(!is_reported(&[Ok(100)]) && !is_reported(&[refused]));
}

#[test]
fn short_answers_report_arrivals_and_long_ones_test_the_way_back() {
    let mut search = PathSearch::new(576, 1500, Instant::ZERO, u64::MAX);
    let short = |token: u8, length: u16| [&[token; TOKEN_LEN][..], &length.to_be_bytes()].concat();
    take(&mut search, &TOKEN, &short(8, 548), 28);
    take(&mut search, &TOKEN, &[7; 3], 28);
    assert_eq!(search.found(), None);
    take(&mut search, &TOKEN, &short(7, 548), 28);
    let bounds = |least| Bounds { least, most: 1500 };
    assert_eq!(search.found(), Some((bounds(576), bounds(0))));
    take(&mut search, &TOKEN, &[7; 548], 28);
    assert_eq!(search.found(), Some((bounds(576), bounds(576))));
    take(&mut search, &TOKEN, &[7; 1472], 28);
    assert_eq!(search.found(), Some((bounds(1500), bounds(1500))));
}

#[test]
fn errors_are_interpreted_by_kind() {
    let kinds = [io::ErrorKind::WouldBlock, io::ErrorKind::ConnectionRefused];
    assert_eq!(
        kinds.map(|kind| receive_error(&kind.into())),
        [ReceiveError::Nothing, ReceiveError::NotThere]
    );
    assert_eq!(receive_error(&io::Error::from_raw_os_error(90)), ReceiveError::TooLong);
    assert_eq!(not_ended().message, "not ended within 30 s");
}

#[test]
fn each_end_has_a_buffer_per_direction() {
    assert_eq!((COST.memory_bytes, COST.threads), (131_072, OWN_THREADS));
}
