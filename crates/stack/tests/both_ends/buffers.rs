//! Servers of their time: one dialect, a password of the share, and the buffer that they announce.

use lanlab_stack::redirector::{Access, Call, Done, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_stack::systems::{self, System};

use super::both::{Both, client, offer};
use super::open;

fn served(system: &System) -> Server {
    Server::new(Offer { dialects: system.dialect..=system.dialect, ..offer() }).of(system)
}

#[test]
fn reads_and_writes_fit_the_message_size_of_the_server() {
    for (name, block_bytes) in [("pc-lan-program", 2048), ("three-plus", 4096)] {
        let system = systems::by_name(name).unwrap();
        let (mut both, outcome) =
            Both::connect(client(Some(Dialect::Core), "Secret-1"), &served(system));
        assert_eq!(outcome, Some(Ok(Done::Nothing)));
        let facts = both.client.facts().unwrap();
        assert_eq!((facts.read_bytes, facts.write_bytes), (block_bytes, block_bytes));
        assert_eq!((facts.depth, facts.short_names), (1, true));
        let file = open(&mut both, Access::Create);
        // More than that goes in as many messages as it takes.
        let data = vec![7; 10_000];
        let mut written = 0;
        while written < data.len() {
            let write =
                Call::Write { file, offset: written as u64, parts: [&data[written..], &[]] };
            let Done::Written(count) = both.call(write).unwrap() else { panic!() };
            assert!(count <= block_bytes);
            written += count as usize;
        }
        let Done::Read(range) = both.call(Call::Read { file, offset: 0, count: 10_000 }).unwrap()
        else {
            panic!()
        };
        assert!(range.len() <= block_bytes as usize);
        let longest = system.buffer_bytes as usize;
        assert!(both.sent.iter().all(|message| message.len() <= longest), "{name}");
    }
}

#[test]
fn only_the_core_dialect_works_with_a_share_password() {
    let server = served(systems::by_name("pc-lan-program").unwrap());
    for dialect in [Dialect::LanMan1, Dialect::LanMan2, Dialect::Nt] {
        let (_, outcome) = Both::connect(client(Some(dialect), "Secret-1"), &server);
        assert!(outcome.unwrap().is_err(), "{dialect:?}");
    }
    let (_, outcome) = Both::connect(client(Some(Dialect::Core), "wrong"), &server);
    assert!(outcome.unwrap().is_err());
}
