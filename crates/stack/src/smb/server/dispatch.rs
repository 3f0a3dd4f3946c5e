//! Dispatch from a message to its reply.

use lanlab_wire::smb1::andx::{Block, Chain};
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::echo::Echo;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::error;

use super::refusals::{Refused, malformed};
use super::state::{Answer, State, Tree};
use super::transferring::Writing;
use crate::smb::Dialect;

/// Maximum replies to an echo.
const MAX_ECHOES: u16 = 16;

impl State {
    /// Answer messages one after another until the client disconnects or sends a malformed one.
    pub async fn run(mut self) {
        let mut message = Vec::new();
        while let Some(next) = self.next_message(message).await {
            message = next;
            if !self.answer(&mut message).await {
                break;
            }
        }
        self.close_all(|_| true).await;
    }

    async fn answer(&mut self, message: &mut Vec<u8>) -> bool {
        let Ok(header) = Header::parse(message) else { return false };
        if header.is_response() || (self.dialect.is_none() && header.command != command::NEGOTIATE)
        {
            return false;
        }
        if let Some(signing) = &mut self.signing {
            let has_response = header.command != command::NT_CANCEL;
            match signing.take_request(message, has_response) {
                Some(number) => self.answer_number = number,
                // The message may be forged.
                None => return false,
            }
        }
        self.begin(header);
        for number in 0.. {
            match self.carry_out(header, number, message).await {
                Ok(Answer::Block) => {}
                Ok(Answer::Over) => break,
                Ok(Answer::Sent) => return true,
                Err(refused) => {
                    if number > 0 && !command::is_andx(self.command) {
                        // A chain cannot contain this command: leave no empty block for it.
                        self.command = command::NONE;
                    }
                    let refused = self.put_nothing().and(Err(refused));
                    self.finish(refused).await;
                    return self.dialect.is_some();
                }
            }
        }
        self.finish(Ok(())).await;
        true
    }

    /// Whether the request may be executed: it has the dialect, user and share that it needs.
    fn check(&self) -> Result<(), Refused> {
        let command = self.command;
        if matches!(command, command::NEGOTIATE | command::SESSION_SETUP_ANDX | command::ECHO) {
            return Ok(());
        }
        let has_users = self.has_users();
        // A share can be left after logoff. Before Windows NT, clients without users prove the share's password.
        let is_exempt = command == command::TREE_DISCONNECT
            || (command == command::TREE_CONNECT && self.dialect() < Dialect::Nt);
        if has_users && !is_exempt && !self.users.contains(&self.uid) {
            return Err(error::SMB_BAD_UID);
        }
        let needs_none = matches!(
            command,
            command::TREE_CONNECT
                | command::TREE_CONNECT_ANDX
                | command::LOGOFF_ANDX
                | command::NT_CANCEL
        ) || (self.dialect() > Dialect::Core && command == command::PROCESS_EXIT);
        match self.trees.get(&self.tid) {
            _ if needs_none => Ok(()),
            None => Err(error::SMB_BAD_TID),
            Some(Tree::Disk) => Ok(()),
            Some(Tree::Pipes) => match command {
                command::TREE_DISCONNECT => Ok(()),
                command::OPEN_ANDX | command::OPEN => Err(error::OBJECT_NAME_NOT_FOUND),
                _ if self.is_for_pipe() => Ok(()),
                _ => Err(error::NOT_SUPPORTED),
            },
        }
    }

    async fn carry_out(
        &mut self,
        header: Header,
        number: usize,
        message: &mut Vec<u8>,
    ) -> Result<Answer, Refused> {
        let Some(block) = Chain::new(&header, message).nth(number) else {
            return Ok(Answer::Over);
        };
        self.command = block.as_ref().map_or(header.command, Block::command);
        let block = block.map_err(malformed)?;
        self.check()?;
        if self.is_for_pipe() {
            return self.of_pipe(&block).map(|()| Answer::Block);
        }
        match block.command() {
            command::WRITE | command::WRITE_ANDX | command::WRITE_AND_CLOSE => {
                let writing = Writing::parse(&block)?;
                self.write(writing, message).await?;
            }
            command::WRITE_RAW => {
                let writing = Writing::parse(&block)?;
                return self.write_raw(writing, message).await;
            }
            command::READ_RAW => return self.read_raw(&block).await,
            command::READ_MPX => return Box::pin(self.read_multiplexed(&block)).await,
            command::WRITE_MPX => {
                let writing = Writing::parse(&block)?;
                Box::pin(self.write_multiplexed(&writing, message)).await?;
            }
            command::ECHO => return self.echo(&block).await,
            command::SESSION_SETUP_ANDX => return self.log_in(&block).await,
            command::TRANSACTION2 | command::TRANSACTION2_SECONDARY => {
                return Box::pin(self.transaction(&block)).await;
            }
            command::LOCKING_ANDX => {
                let is_alone = number == 0 && Chain::new(&header, message).nth(1).is_none();
                return self.lock_many(&block, is_alone);
            }
            command::NT_CANCEL => {
                self.cancel();
                return Ok(Answer::Sent);
            }
            _ => self.of_share(&block).await?,
        }
        Ok(Answer::Block)
    }

    async fn of_share(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        match block.command() {
            command::NEGOTIATE => self.negotiate(block),
            command::LOGOFF_ANDX => self.log_off(block).await,
            command::TREE_CONNECT => self.connect_by_password(block),
            command::TREE_CONNECT_ANDX => self.connect(block),
            command::TREE_DISCONNECT => self.disconnect().await,
            command::PROCESS_EXIT => {
                let (uid, pid) = (self.user(), self.request.pid);
                self.close_all(|open| (open.uid, open.pid) == (uid, pid)).await;
                self.put_nothing()
            }
            command::READ => self.read(block).await,
            command::READ_ANDX => self.read_andx(block).await,
            command::SEEK => self.seek(block).await,
            command::FLUSH => self.flush(block).await,
            command::LOCK_BYTE_RANGE | command::UNLOCK_BYTE_RANGE => self.lock(block),
            command::CLOSE => self.close(block).await,
            command::OPEN => Box::pin(self.open_core(block)).await,
            command::CREATE | command::CREATE_NEW => Box::pin(self.create(block)).await,
            command::CREATE_TEMPORARY => Box::pin(self.create_temporary(block)).await,
            command::OPEN_ANDX => Box::pin(self.open_andx(block)).await,
            command::NT_CREATE_ANDX => Box::pin(self.nt_create(block)).await,
            _ => Box::pin(self.of_path(block)).await,
        }
    }

    async fn of_path(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        match block.command() {
            command::CREATE_DIRECTORY | command::DELETE_DIRECTORY | command::CHECK_DIRECTORY => {
                self.of_directory(block).await
            }
            command::DELETE => self.delete(block).await,
            command::RENAME => self.rename(block).await,
            command::QUERY_INFORMATION => self.query_information(block).await,
            command::SET_INFORMATION => self.set_information(block).await,
            command::QUERY_INFORMATION2 => self.query_open(block).await,
            command::SET_INFORMATION2 => self.set_open(block).await,
            command::QUERY_INFORMATION_DISK => self.query_disk().await,
            command::SEARCH | command::FIND | command::FIND_UNIQUE => self.search(block).await,
            command::FIND_CLOSE => self.end_search(block),
            command::FIND_CLOSE2 => self.end_find(block),
            command::TRANSACTION
            | command::TRANSACTION_SECONDARY
            | command::NT_TRANSACT
            | command::NT_TRANSACT_SECONDARY => Err(error::NOT_SUPPORTED),
            _ => Err(error::SMB_BAD_COMMAND),
        }
    }

    async fn echo(&mut self, block: &Block<'_>) -> Result<Answer, Refused> {
        let echo = Echo::parse(block).map_err(malformed)?;
        for number in 1..=echo.number.min(MAX_ECHOES) {
            let data = &echo.data[..echo.data.len().min(self.client_buffer)];
            self.put(|writer| Echo { number, data }.emit(writer))?;
            self.finish(Ok(())).await;
        }
        Ok(Answer::Sent)
    }
}
