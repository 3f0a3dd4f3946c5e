//! A minimal file server, which shows that a new protocol needs only one file: a message is a path, the answer its
//! contents.

use crate::carrier::CarrierFacts;
use crate::files::{FileAnswer, FileCall, Found};

use super::channel::SessionChannel;
use super::{FileServer, Remark, Session};

struct Toy;

impl FileServer for Toy {
    fn session(&self, _: CarrierFacts, _: [u8; 8], _: u64) -> Session {
        let channel = SessionChannel::default();
        Session::new(channel.clone(), answer_all(channel))
    }
}

async fn answer_all(channel: SessionChannel) {
    let mut used = Vec::new();
    while let Some(message) = channel.next_message(used).await {
        channel.remark(Remark::Admitted { user: None, dialect: "toy" });
        let text = String::from_utf8_lossy(&message);
        let path = text.split('/').map(str::to_owned).collect();
        let answer = match channel.call(FileCall::Look { path }, &mut Vec::new()).await {
            FileAnswer::Found(Found { size_bytes, .. }) => format!("{size_bytes} bytes"),
            other => format!("{other:?}"),
        };
        channel.send(answer.into_bytes(), Vec::new()).await;
        used = message;
    }
}

fn found(size_bytes: u64) -> FileAnswer {
    FileAnswer::Found(Found {
        number: 1,
        name: "a".into(),
        short_name: "A".into(),
        size_bytes,
        is_directory: false,
        is_read_only: false,
        modified_s: 0,
        accessed_s: 0,
    })
}

#[test]
fn a_new_protocol_needs_one_file() {
    let facts = CarrierFacts { longest_message: 1000, keeps_raw: false, is_one_at_a_time: false };
    let mut session = Toy.session(facts, [0; 8], 0);
    let (mut head, mut data) = (Vec::new(), Vec::new());
    assert!(session.poll_file_call(&mut data).is_none() && !session.is_known());
    for (path, size_bytes) in [("a", 5), ("b/c", 1 << 40)] {
        session.handle_message(&mut path.as_bytes().to_vec());
        let Some(FileCall::Look { path: asked }) = session.poll_file_call(&mut data) else {
            panic!("no call for files");
        };
        assert_eq!(asked.join("/"), path);
        session.handle_file_answer(found(size_bytes), &mut data);
        assert!(session.poll_file_call(&mut data).is_none());
        assert!(session.poll_message(&mut head, &mut data));
        assert_eq!(head, format!("{size_bytes} bytes").into_bytes());
        assert!(!session.poll_message(&mut head, &mut data) && session.is_known());
        assert_eq!(session.memory(), path.as_bytes(), "its memory comes back");
    }
    session.end();
    assert!(session.poll_file_call(&mut data).is_none() && session.is_over());
}
