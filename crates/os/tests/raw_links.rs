//! Raw links between two ends of a virtual cable, in a network namespace of this test's own.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::Duration;

use lanlab_os::{RawFrames, RawLink, RawLinkPlace, wait_readable};

/// Set in the process that runs inside the namespace.
const INSIDE: &str = "LANLAB_TEST_IN_NAMESPACE";

/// Run a test again in a namespace with a cable between `left` and `right`; `false` in the process that
/// is there already.
fn runs_outside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let own = std::env::current_exe().unwrap();
    let script = "ip link add left type veth peer name right && ip link set left up && \
                  ip link set right up && exec \"$0\" --exact \"$1\" --nocapture";
    let run = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--", "sh", "-c", script])
        .arg(own)
        .arg(test)
        .env(INSIDE, "1")
        .output()
        .expect("`unshare` of util-linux");
    let said = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() && said.contains("unshare: ") {
        eprintln!("skipped: no user namespaces: {said}");
        return true;
    }
    assert!(run.status.success(), "{}{said}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"), "the test did not run");
    true
}

fn place(name: &str) -> RawLinkPlace {
    RawLinkPlace::Interface(name.to_owned())
}

fn frame(to: [u8; 6], from: [u8; 6], kind: u16, length: usize) -> Vec<u8> {
    let mut frame = [&to[..], &from[..], &kind.to_be_bytes()].concat();
    frame.extend((frame.len()..length).map(|at| at as u8));
    frame
}

fn next(link: &RawLink) -> Option<Vec<u8>> {
    let mut buffer = [0; 2048];
    if !wait_readable(link, Duration::from_secs(5)).unwrap() {
        return None;
    }
    link.receive(&mut buffer).unwrap().map(|length| buffer[..length].to_vec())
}

#[test]
fn the_filter_passes_only_frames_of_historic_protocols_from_others() {
    if runs_outside("the_filter_passes_only_frames_of_historic_protocols_from_others") {
        return;
    }
    let left = RawLink::open(&place("left"), RawFrames::Historic).unwrap();
    let right = RawLink::open(&place("right"), RawFrames::Historic).unwrap();
    assert_ne!(left.mac(), right.mac());
    let group = [3, 0, 0, 0, 0, 1];
    let kept = [3, 100, 1500, 0x0600, 0x8137, 0x8138];
    for kind in [0x05dd, 0x05ff, 0x0800, 0x0806, 0x86dd, 0x88b5] {
        assert!(left.send(&frame([0xff; 6], left.mac(), kind, 60)).unwrap());
    }
    for kind in kept {
        assert!(left.send(&frame(group, left.mac(), kind, 17)).unwrap());
    }
    for kind in kept {
        let mut expected = frame(group, left.mac(), kind, 17);
        expected.resize(60, 0);
        assert_eq!(next(&right), Some(expected), "{kind:#06x}");
    }
    let longest = frame(right.mac(), left.mac(), 1500, 1514);
    assert!(left.send(&longest).unwrap());
    assert_eq!(next(&right), Some(longest));
    assert!(left.send(&frame(right.mac(), left.mac(), 1500, 1515)).is_err());
    assert_eq!(left.receive(&mut [0; 2048]).unwrap(), None, "its own frames");
    assert_eq!(right.new_drops(), 0);
    // A burst that is read by no one in time is counted.
    for _ in 0..20_000 {
        left.send(&frame(right.mac(), left.mac(), 1500, 1514)).unwrap();
    }
    let received = std::iter::from_fn(|| right.receive(&mut [0; 2048]).unwrap()).count() as u64;
    assert_eq!(received + right.new_drops(), 20_000);
    assert!(received < 20_000, "so large a buffer is not asked for");
}

#[test]
fn inherited_descriptors_must_be_link_sockets() {
    if runs_outside("inherited_descriptors_must_be_link_sockets") {
        return;
    }
    let opened = RawLink::open(&place("left"), RawFrames::All).unwrap();
    let right = RawLink::open(&place("right"), RawFrames::All).unwrap();
    let given = RawLinkPlace::Descriptor(std::os::fd::AsFd::as_fd(&opened).as_raw_fd());
    let left = RawLink::open(&given, RawFrames::Historic).unwrap();
    assert_eq!((left.interface(), left.mac()), ("left", opened.mac()));
    right.send(&frame([0xff; 6], right.mac(), 0x0800, 60)).unwrap();
    right.send(&frame([0xff; 6], right.mac(), 0x8137, 60)).unwrap();
    assert_eq!(next(&left), Some(frame([0xff; 6], right.mac(), 0x8137, 60)));
    let tap = RawLink::tap("other", [2, 0, 0, 0, 0, 9]).unwrap();
    let given = RawLinkPlace::Descriptor(std::os::fd::AsFd::as_fd(&tap).as_raw_fd());
    assert_eq!(RawLink::open(&given, RawFrames::Historic).unwrap().interface(), "other");

    let refused = |place: &RawLinkPlace| RawLink::open(place, RawFrames::All).unwrap_err().kind();
    let udp = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    assert_eq!(refused(&RawLinkPlace::Descriptor(udp.as_raw_fd())), ErrorKind::InvalidInput);
    assert!(RawLink::open(&RawLinkPlace::Descriptor(977), RawFrames::All).is_err());
    assert_eq!(refused(&place("none")), ErrorKind::NotFound);
    assert_eq!(refused(&place("a name that is too long")), ErrorKind::NotFound);
    assert_eq!(refused(&place("other")), ErrorKind::NetworkDown);
}
