//! Locks that are waited for, on connections of the kernel's TCP and by its clock.

use std::time::{Duration, Instant};

use lanlab_files::ServiceKind::Smb1;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::locking_andx::{self, Head, Range};
use lanlab_wire::smb1::status::{Status, error};
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{command, open, path};

use super::hostile::Raw;
use crate::multiplexed::{run, served};

const WHOLE: Range = Range { pid: 1, offset: 0, count: 10 };

fn opened(port: u16, secret: &str) -> (Raw, u16) {
    let mut raw = Raw::connected(port, secret);
    let request =
        open::Request { access: 0x42, search_attributes: 0, name: Text::Oem(b"\\FILE.DAT") };
    let answer = raw.ask(command::OPEN, |writer| request.emit(writer)).unwrap();
    let header = Header::parse(&answer).unwrap();
    let block = Block::first(&header, &answer).unwrap();
    (raw, open::Response::parse(&block).unwrap().fid)
}

fn lock(raw: &mut Raw, mid: u16, fid: u16, timeout_ms: u32, unlock: bool) {
    let head = Head { fid, lock_type: 0, oplock_level: 0, timeout_ms };
    let (unlocks, locks) = if unlock { (&[WHOLE][..], &[][..]) } else { (&[][..], &[WHOLE][..]) };
    raw.send(command::LOCKING_ANDX, mid, |writer| {
        locking_andx::emit_request(&head, unlocks, locks, writer);
    });
}

fn answer(raw: &mut Raw) -> (u16, Status) {
    let header = Header::parse(&raw.receive().expect("an answer")).unwrap();
    (header.mid, header.status)
}

#[test]
fn a_blocked_lock_is_granted_when_another_connection_unlocks() {
    run(async {
        let (root, serving, target) = served(Smb1).await;
        std::fs::write(root.path().join("file.dat"), [0; 100]).unwrap();
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let tried = tokio::task::spawn_blocking(move || {
            let (mut one, one_fid) = opened(port, &secret);
            let (mut other, other_fid) = opened(port, &secret);
            lock(&mut one, 1, one_fid, 0, false);
            assert_eq!(answer(&mut one), (1, Status::success(0)));

            let began = Instant::now();
            lock(&mut other, 5, other_fid, 300, false);
            assert_eq!(answer(&mut other), (5, Status::of(error::FILE_LOCK_CONFLICT, 0)));
            assert!(began.elapsed() >= Duration::from_millis(300));

            // Without end, while other requests are answered.
            lock(&mut other, 6, other_fid, u32::MAX, false);
            let request = path::Request { name: Text::Oem(b"") };
            let said = other.status(command::CHECK_DIRECTORY, |writer| request.emit(writer));
            assert!(said.starts_with("success"), "{said}");
            lock(&mut one, 2, one_fid, 0, true);
            assert_eq!(answer(&mut one), (2, Status::success(0)));
            assert_eq!(answer(&mut other), (6, Status::success(0)));

            // A connection that is gone gives back what it has, and waits for nothing.
            lock(&mut one, 3, one_fid, u32::MAX, false);
            drop(other);
            assert_eq!(answer(&mut one), (3, Status::success(0)));
            let (mut third, third_fid) = opened(port, &secret);
            lock(&mut third, 7, third_fid, u32::MAX, false);
            drop(third);
            lock(&mut one, 4, one_fid, 0, true);
            assert_eq!(answer(&mut one), (4, Status::success(0)));
            lock(&mut one, 5, one_fid, 60_000, false);
            assert_eq!(answer(&mut one), (5, Status::success(0)));
        });
        tried.await.unwrap();
        serving.end().await;
    });
}
