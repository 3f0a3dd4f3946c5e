//! Tests of sizes that would take too long to write in full.

use std::net::{IpAddr, Ipv4Addr};

use lanlab_files::{Credentials, Session as _};
use lanlab_servers::{Offer, Serving, serve};

use super::*;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The smallest part that S3 allows.
const PART_BYTES: u64 = 5 << 20;

async fn with_small_parts(root: &std::path::Path) -> (Serving, Session) {
    let secret = "geheim / + &".to_owned();
    let credentials =
        Some(Credentials { user: "station".into(), secret, domain: None, passphrase: None });
    let offer = Offer {
        credentials: credentials.clone(),
        ..Offer::new(ServiceKind::S3, root, LOOPBACK.into())
    };
    let serving = serve(&offer).await.unwrap();
    let target = Target {
        address: Some(LOOPBACK.into()),
        port: Some(serving.port()),
        share: serving.share().map(str::to_owned),
        credentials,
        timeout_ns: 10_000_000_000,
        ..Target::new(ServiceKind::S3)
    };
    let mut session = connect(&target).await.unwrap();
    (session.single_bytes, session.part_bytes) = (0, PART_BYTES);
    (serving, session)
}

fn content(length: u64) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[tokio::test]
async fn a_long_object_is_written_by_parts() {
    let root = tempfile::tempdir().unwrap();
    let (serving, session) = with_small_parts(root.path()).await;
    // Two whole parts and a bit; exactly two; one octet.
    for length in [2 * PART_BYTES + 12_345, 2 * PART_BYTES, 1] {
        let (data, path) = (content(length), ServicePath::new(format!("in/{length}")).unwrap());
        let access = Access::Create { size_bytes: length };
        let file = session.open(&path, access).await.unwrap();
        for (number, block) in data.chunks(300_007).enumerate() {
            session.write_at(&file, number as u64 * 300_007, block).await.unwrap();
        }
        assert!(!root.path().join(path.as_str()).exists(), "not before it is whole");
        session.close(file).await.unwrap();
        assert!(std::fs::read(root.path().join(path.as_str())).unwrap() == data, "{length}");
    }
    assert_eq!(session.http.opened(), 1);
    // An existing object is not replaced.
    let path = ServicePath::new("in/1").unwrap();
    let file = session.open(&path, Access::Create { size_bytes: 1 }).await.unwrap();
    session.write_at(&file, 0, b"x").await.unwrap();
    assert_eq!(session.close(file).await.unwrap_err().class, Class::Exists);
    serving.end().await;
}

#[tokio::test]
async fn aborted_uploads_leave_no_parts() {
    let root = tempfile::tempdir().unwrap();
    let (serving, session) = with_small_parts(root.path()).await;
    let path = ServicePath::new("given up").unwrap();
    let size_bytes = 2 * PART_BYTES;
    let file = session.open(&path, Access::Create { size_bytes }).await.unwrap();
    session.write_at(&file, 0, &content(PART_BYTES + 1)).await.unwrap();
    assert!(std::fs::read_dir(root.path()).unwrap().count() > 0);
    let fault = session.close(file).await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    // The server discards the unfinished part when it notices that the client stopped sending it.
    let mut left = usize::MAX;
    for _ in 0..6000 {
        left = std::fs::read_dir(root.path()).unwrap().count();
        if left == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(left, 0);
    serving.end().await;
}
