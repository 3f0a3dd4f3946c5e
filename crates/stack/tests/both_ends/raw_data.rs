//! Data that is a message of its own, without a header.

use lanlab_stack::redirector::{Access, Call, Done};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};

use super::both::{Both, plan, server};
use super::open;

#[test]
fn raw_data_is_one_message_and_the_next_call_follows() {
    for dialect in [Dialect::LanMan1, Dialect::LanMan2, Dialect::Nt] {
        let client = Client::new(Plan { raw: true, ..plan(Some(dialect), "Secret-1") });
        let (mut both, outcome) = Both::connect(client, &server());
        assert_eq!(outcome, Some(Ok(Done::Nothing)));
        let file = open(&mut both, Access::Create);
        let data: Vec<u8> = (0..40_000_u32).map(|at| (at % 251) as u8).collect();
        let write = Call::Write { file, offset: 0, parts: [&data[..30_000], &data[30_000..]] };
        assert_eq!(both.call(write), Ok(Done::Written(40_000)), "{dialect:?}");
        assert!(both.sent.contains(&data), "{dialect:?}");
        assert_eq!(both.call(Call::Close { file }), Ok(Done::Nothing), "{dialect:?}");
        let file = open(&mut both, Access::Read);
        let sent = both.sent.len();
        let read = |offset| Call::Read { file, offset, count: 30_000 };
        assert_eq!(both.call(read(0)), Ok(Done::Read(0..30_000)), "{dialect:?}");
        assert_eq!(both.sent.len(), sent + 1, "{dialect:?}");
        // Nothing comes from behind the end: a read of the other kind says why.
        assert_eq!(both.call(read(40_000)), Ok(Done::Read(0..0)), "{dialect:?}");
        assert_eq!(both.call(Call::Close { file }), Ok(Done::Nothing), "{dialect:?}");
    }
}
