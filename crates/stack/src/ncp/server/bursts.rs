//! Reads and writes of more than one packet.

use lanlab_wire::ncp::burst::{self, Low, Operation, READ_REPLY_LEN, ReadReply, WriteReply};
use lanlab_wire::ncp::completion;

use super::refusals::{Refused, malformed};
use super::state::State;
use crate::ncp::MOST_BURST;

const BEFORE: usize = 1;

impl State {
    pub async fn burst(&mut self, message: &mut Vec<u8>) {
        self.head.clear();
        let result = match Operation::parse(&message[BEFORE..]).map_err(malformed) {
            Ok(asked) if asked.operation.number == burst::operation::READ => {
                match self.read_burst(asked).await {
                    Ok(0) => burst::result::NO_DATA,
                    Ok(count) => {
                        let result = Low { number: burst::result::OK };
                        ReadReply { result, count }.emit(&mut self.head);
                        return;
                    }
                    Err(completion::IO_ERROR) => burst::result::IO_ERROR,
                    Err(_) => burst::result::NOT_BEGUN,
                }
            }
            Ok(asked) if asked.operation.number == burst::operation::WRITE => {
                match self.write_burst(asked, message).await {
                    Ok(()) => burst::result::OK,
                    Err(_) => burst::result::WRITE_ERROR,
                }
            }
            _ => burst::result::NOT_BEGUN,
        };
        self.data.clear();
        WriteReply { result: Low { number: result } }.emit(&mut self.head);
    }

    async fn read_burst(&mut self, asked: Operation) -> Result<u32, Refused> {
        let count = asked.count.min(MOST_BURST - READ_REPLY_LEN as u32);
        self.read_octets(burst::handle_of(asked.file), asked.offset, count).await
    }

    async fn write_burst(
        &mut self,
        asked: Operation,
        message: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let begin = BEFORE + burst::OPERATION_LEN;
        if message.len() - begin != asked.count as usize {
            return Err(completion::BAD_PACKET);
        }
        self.write_octets(burst::handle_of(asked.file), asked.offset.into(), begin, message).await
    }
}
