//! Reassembly of transactions, and their subcommands.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::transaction::{Request, Response, Secondary};
use lanlab_wire::smb1::transaction2::{self, NO_EA_ERROR};

use super::pending::{Parts, Pending, Whole};
use super::refusals::{Refused, malformed};
use super::state::{AROUND_DATA, Answer, State};
use crate::files::FileCall;
use crate::smb::Dialect;

/// Maximum bytes of parameters and data in a request: names, and settable file information.
const MAX_OCTETS: usize = 16 << 10;

impl State {
    pub async fn transaction(&mut self, block: &Block<'_>) -> Result<Answer, Refused> {
        if self.dialect() < Dialect::LanMan2 {
            return Err(error::SMB_BAD_COMMAND);
        }
        let whole = if block.command() == command::TRANSACTION2 {
            self.pending = None;
            let request = Request::parse(block).map_err(malformed)?;
            let (parameters, data) =
                (usize::from(request.total_parameters), usize::from(request.total_data));
            if parameters + data > MAX_OCTETS {
                return Err(error::INSUFFICIENT_RESOURCES);
            }
            let mut whole = Whole {
                subcommand: request.subcommand().ok_or(error::INVALID_SMB)?,
                is_unicode: block.is_unicode(),
                max_data: usize::from(request.max_data),
                parameters: request.parameters.to_vec(),
                data: request.data.to_vec(),
            };
            if !request.is_whole() {
                whole.parameters.resize(parameters, 0);
                whole.data.resize(data, 0);
                let mid = self.request.mid;
                let (parameters, data) = (request.parameters.len(), request.data.len());
                self.pending = Some(Pending { mid, whole, parameters, data });
                // An empty block requests the rest.
                self.put_nothing()?;
                return Ok(Answer::Block);
            }
            whole
        } else {
            match self.add_secondary(block)? {
                Some(whole) => whole,
                // No reply until everything has arrived.
                None => return Ok(Answer::Sent),
            }
        };
        self.command = command::TRANSACTION2;
        self.request.command = command::TRANSACTION2;
        let parts = self.subcommand(&whole).await?;
        let response = Response::whole(&parts.parameters, &parts.data);
        self.put(|writer| response.emit(writer))?;
        Ok(Answer::Block)
    }

    fn add_secondary(&mut self, block: &Block<'_>) -> Result<Option<Whole>, Refused> {
        let part = Secondary::parse(block).map_err(malformed)?;
        let mid = self.request.mid;
        let pending = self.pending.take().filter(|pending| pending.mid == mid);
        let mut pending = pending.ok_or(error::INVALID_SMB)?;
        let places = [
            (&mut pending.whole.parameters, part.parameter_displacement, part.parameters),
            (&mut pending.whole.data, part.data_displacement, part.data),
        ];
        for (whole, displacement, octets) in places {
            let at = usize::from(displacement);
            let place = whole.get_mut(at..at + octets.len()).ok_or(error::INVALID_SMB)?;
            place.copy_from_slice(octets);
        }
        if part.parameters.is_empty() && part.data.is_empty() {
            // This transaction could never complete.
            return Err(error::INVALID_SMB);
        }
        pending.parameters += part.parameters.len();
        pending.data += part.data.len();
        let is_whole = pending.parameters >= pending.whole.parameters.len()
            && pending.data >= pending.whole.data.len();
        if is_whole {
            return Ok(Some(pending.whole));
        }
        self.pending = Some(pending);
        Ok(None)
    }

    pub fn room(&self, whole: &Whole) -> usize {
        // Header, words, parameters and padding.
        whole.max_data.min(self.client_buffer.saturating_sub(2 * AROUND_DATA))
    }

    async fn subcommand(&mut self, whole: &Whole) -> Result<Parts, Refused> {
        match whole.subcommand {
            transaction2::FIND_FIRST2 => self.find_first(whole).await,
            transaction2::FIND_NEXT2 => self.find_next(whole).await,
            transaction2::QUERY_FS_INFORMATION => {
                let query = transaction2::FileSystemQuery::parse(&whole.parameters);
                let data = self.file_system(query.map_err(malformed)?.level, whole).await?;
                Ok(Parts { parameters: Vec::new(), data })
            }
            transaction2::QUERY_PATH_INFORMATION => {
                let query = transaction2::Path::parse(&whole.parameters, whole.is_unicode);
                let query = query.map_err(malformed)?;
                let path = Self::path(query.name)?;
                let found = self.look_up(&path).await?;
                let data = Self::file_level(query.level, &path, (found, false), whole)?;
                Ok(known(data))
            }
            transaction2::QUERY_FILE_INFORMATION => {
                let query = transaction2::File::parse(&whole.parameters).map_err(malformed)?;
                let open = self.open(query.fid)?;
                let (path, dies) = (open.opened.path(), open.opened.file().is_doomed);
                let found = self.look(&path).await?;
                let data = Self::file_level(query.level, &path, (found, dies), whole)?;
                Ok(known(data))
            }
            transaction2::SET_PATH_INFORMATION => {
                let set = transaction2::Path::parse(&whole.parameters, whole.is_unicode);
                let set = set.map_err(malformed)?;
                let path = Self::path(set.name)?;
                self.set_level(set.level, path, None, &whole.data).await?;
                Ok(known(Vec::new()))
            }
            transaction2::SET_FILE_INFORMATION => {
                let set = transaction2::File::parse(&whole.parameters).map_err(malformed)?;
                let path = self.open(set.fid)?.opened.path();
                self.set_level(set.level, path, Some(set.fid), &whole.data).await?;
                Ok(known(Vec::new()))
            }
            transaction2::CREATE_DIRECTORY => {
                let create =
                    transaction2::CreateDirectory::parse(&whole.parameters, whole.is_unicode);
                let path = Self::path(create.map_err(malformed)?.name)?;
                self.change(FileCall::MakeDirectory { path }).await?;
                Ok(known(Vec::new()))
            }
            _ => Err(error::NOT_SUPPORTED),
        }
    }
}

fn known(data: Vec<u8>) -> Parts {
    Parts { parameters: NO_EA_ERROR.to_vec(), data }
}
