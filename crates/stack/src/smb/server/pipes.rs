//! Named pipes: the server service, through which clients list shares from Windows NT on.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::transaction::{Request, Response};
use lanlab_wire::smb1::{command, nt_create_andx, read_andx, write_andx};
use lanlab_wire::srvsvc::{self, Share};

use super::refusals::{Refused, malformed};
use super::state::{Pipe, State, Tree};

/// Subcommand of a transaction: write a message to a pipe and read the answer ([MS-CIFS] 2.2.5.6).
const TRANSACT: u16 = 0x26;
const MAX_PIPES: usize = 16;
/// A duplex message pipe with one instance ([MS-CIFS] 2.2.4.64.2).
const PIPE_STATUS: u16 = 0x05ff;
const PIPE: u16 = 2;

impl State {
    pub fn is_for_pipe(&self) -> bool {
        self.trees.get(&self.tid) == Some(&Tree::Pipes)
            && matches!(
                self.command,
                command::NT_CREATE_ANDX
                    | command::READ_ANDX
                    | command::WRITE_ANDX
                    | command::CLOSE
                    | command::TRANSACTION
            )
    }

    pub fn of_pipe(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        match block.command() {
            command::NT_CREATE_ANDX => self.open_pipe(block),
            command::READ_ANDX => self.read_pipe(block),
            command::WRITE_ANDX => self.write_pipe(block),
            command::CLOSE => {
                let fid = lanlab_wire::smb1::close::Request::parse(block).map_err(malformed)?.fid;
                self.pipe(fid)?;
                self.pipes.remove(&self.fid(fid));
                self.put_nothing()
            }
            _ => self.transact(block),
        }
    }

    fn open_pipe(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = nt_create_andx::Request::parse(block).map_err(malformed)?;
        let name = request.name.decode().to_lowercase();
        if name.trim_start_matches('\\') != srvsvc::PIPE.trim_start_matches('\\') {
            return Err(error::OBJECT_NAME_NOT_FOUND);
        }
        if self.pipes.len() >= MAX_PIPES {
            return Err(error::TOO_MANY_OPENED_FILES);
        }
        let pipe = Pipe { tid: self.tid, uid: self.user(), unread: Vec::new() };
        let fid = self.add_pipe(pipe);
        let response = nt_create_andx::Response {
            fid,
            result: nt_create_andx::result::OPENED,
            attributes: 0x80,
            resource_type: PIPE,
            pipe_status: PIPE_STATUS,
            ..Default::default()
        };
        self.put(|writer| response.emit(writer))
    }

    fn pipe(&mut self, fid: u16) -> Result<&mut Pipe, Refused> {
        let (fid, tid, uid) = (self.fid(fid), self.tid, self.user());
        let pipe = self.pipes.get_mut(&fid).filter(|pipe| (pipe.tid, pipe.uid) == (tid, uid));
        pipe.ok_or(error::INVALID_HANDLE)
    }

    fn write_pipe(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = write_andx::Request::parse(block).map_err(malformed)?;
        let answer = self.called(request.data)?;
        self.pipe(request.fid)?.unread = answer;
        let response = write_andx::Response {
            count: request.data.len() as u32,
            available: read_andx::NOT_A_PIPE,
        };
        self.put(|writer| response.emit(writer))
    }

    fn read_pipe(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = read_andx::Request::parse(block).map_err(malformed)?;
        let most = request.max_count(false).min(self.small()) as usize;
        let pipe = self.pipe(request.fid)?;
        let count = pipe.unread.len().min(most);
        let data: Vec<u8> = pipe.unread.drain(..count).collect();
        let available = pipe.unread.len() as u16;
        let response = read_andx::Response { available, data_compaction_mode: 0, data: &data };
        self.put(|writer| response.emit(writer))
    }

    fn transact(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = Request::parse(block).map_err(malformed)?;
        let fid = match request.setup {
            [low, high, fid @ ..] if u16::from_le_bytes([*low, *high]) == TRANSACT => fid,
            _ => return self.administer(block),
        };
        let fid = fid.first_chunk().map(|fid| u16::from_le_bytes(*fid));
        self.pipe(fid.ok_or(error::INVALID_SMB)?)?;
        let answer = self.called(request.data)?;
        if !request.is_whole() || answer.len() > usize::from(request.max_data) {
            // No known call or reply is this long.
            return Err(error::INSUFFICIENT_RESOURCES);
        }
        let response = Response::whole(&[], &answer);
        self.put(|writer| response.emit(writer))
    }

    fn called(&self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        let shares = [
            Share { name: &self.offer.share, is_pipes: false },
            Share { name: "IPC$", is_pipes: true },
        ];
        srvsvc::answer(message, &shares).ok_or(error::INVALID_PARAMETER)
    }
}
