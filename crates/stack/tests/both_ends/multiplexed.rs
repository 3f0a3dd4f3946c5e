//! Multiplexed reads and writes at a server that announces them, and has others used all the same.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::redirector::{Access, Call, Done, Redirector};
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_wire::smb1::command;

use super::both::{Both, plan, server};

const PACKETS: CarrierFacts =
    CarrierFacts { longest_message: 1467, keeps_raw: false, is_one_at_a_time: true };

#[test]
fn after_use_standard_commands_the_client_stops_multiplexing() {
    let plan = Plan { carrier: PACKETS, ..plan(None, "Secret-1") };
    // The server's side is a stream, for which these commands are not.
    let (mut both, connected) = Both::connect(Client::new(plan), &server());
    connected.unwrap().unwrap();
    let facts = both.client.facts().unwrap().clone();
    assert!(facts.protocol.ends_with(", multiplexed"), "{}", facts.protocol);
    assert_eq!((facts.read_bytes, facts.write_bytes), (32 * 1403, 32 * 1403));
    let opened = both.call(Call::Open { path: "file", access: Access::Replace }).unwrap();
    let Done::Opened { file, .. } = opened else { panic!("{opened:?}") };
    let data = [7; 5000];
    for offset in [0, 1403] {
        let written = both.call(Call::Write { file, offset, parts: [&data[..100], &data[100..]] });
        assert_eq!(written.unwrap(), Done::Written(1403));
    }
    both.call(Call::Close { file }).unwrap();
    let opened = both.call(Call::Open { path: "file", access: Access::Read }).unwrap();
    let Done::Opened { file, .. } = opened else { panic!("{opened:?}") };
    let read = both.call(Call::Read { file, offset: 0, count: 5000 }).unwrap();
    assert!(matches!(&read, Done::Read(octets) if octets.len() == 1403), "{read:?}");
    let asked = [command::WRITE_MPX, command::WRITE_ANDX, command::READ_MPX, command::READ_ANDX];
    let count = |of: &u8| both.sent.iter().filter(|message| message[4] == *of).count();
    assert_eq!(asked.map(|command| count(&command)), [1, 2, 0, 1]);
}
