//! Dispatch from a message to its reply.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::files::WRITE_LEN;
use lanlab_wire::ncp::function::{self, Function};
use lanlab_wire::ncp::negotiation::{AcceptedPacket, Buffer, Moment, Packet};
use lanlab_wire::smb1::time::ticks_to_unix_ns;

use super::refusals::{Refused, malformed};
use super::search::Searches;
use super::state::State;
use crate::file_server::Remark;
use crate::ncp::{BURST, data_in_packet, packet_bytes};
use crate::responders::ECHO_SOCKET;

/// Tick of the server clock, ns.
const TICK_NS: u64 = 100;
const FEWEST_DATA_BYTES: u16 = 512;

impl State {
    /// Answer a message: the reply receives everything after the completion code.
    pub async fn answer(&mut self, message: &mut Vec<u8>) -> Result<(), Refused> {
        if self.offer.user.is_none() && !self.channel.is_known() {
            self.channel.remark(Remark::Admitted { user: None, dialect: "NCP" });
        }
        if message.first() == Some(&BURST) {
            self.burst(message).await;
            return Ok(());
        }
        let (function, data) = Function::parse(message).map_err(malformed)?;
        match function {
            function::GET_TIME => self.say_time(),
            function::NEGOTIATE_BUFFER => self.negotiate(data)?,
            function::NEGOTIATE_PACKET => self.negotiate_packet(data)?,
            function::SERVER_INFORMATION => self.say_information(),
            function::LOG_IN => self.log_in(data)?,
            function::GET_KEY => self.give_key()?,
            function::LOG_IN_KEYED => self.log_in_keyed(data)?,
            function::OBJECT_ID => self.object_id(data)?,
            function::OBJECT_NAME => self.object_name(data)?,
            function::SCAN_OBJECTS => self.scan_objects(data)?,
            function::LOGGED_INFORMATION => self.say_logged(),
            function::SCAN_PROPERTIES => self.scan_properties(data)?,
            function::READ_PROPERTY => self.read_property(data)?,
            // No property here is a set.
            function::IS_IN_SET => return Err(completion::NO_SUCH_PROPERTY),
            function::ACCESS_LEVEL => self.say_access(),
            function::CONSOLE_PRIVILEGES => return Err(completion::NO_CONSOLE_RIGHTS),
            function::GET_BROADCAST => self.head.push(0),
            // This server sends no broadcast messages.
            function::DISABLE_BROADCASTS | function::ENABLE_BROADCASTS => {}
            function::END_OF_JOB => {
                self.close_all().await;
                self.directories.retain(|_, one| !one.is_temporary);
            }
            function::LOG_OUT => {
                self.close_all().await;
                self.directories.clear();
                self.searches = Searches::default();
                (self.is_logged_in, self.logged_in_at) = (false, None);
            }
            function::WRITE => return self.write(message).await,
            _ => {
                let data = data.to_vec();
                return Box::pin(self.of_volume(function, &data)).await;
            }
        }
        Ok(())
    }

    async fn of_volume(&mut self, function: Function, data: &[u8]) -> Result<(), Refused> {
        match function {
            function::VOLUME_INFORMATION => self.volume(data, true).await,
            function::VOLUME_NUMBER => self.volume_number(data),
            function::VOLUME_NAME => self.volume_name(data),
            function::VOLUME_USAGE => self.volume_usage(data, true).await,
            function::DIRECTORY_USAGE => self.volume_usage(data, false).await,
            function::SET_HANDLE => self.set_handle(data).await,
            function::ENTRY_RIGHTS => self.entry_rights(data).await,
            function::LOG_RECORD => self.log_record(data),
            function::LOCK_RECORDS => self.lock_records(),
            function::RELEASE_RECORD => self.release_record(data, false),
            function::CLEAR_RECORD => self.release_record(data, true),
            function::RELEASE_RECORDS | function::CLEAR_RECORDS => {
                self.release_records(function == function::CLEAR_RECORDS);
                Ok(())
            }
            function::SET_ATTRIBUTES => self.set_attributes(data).await,
            function::COPY => self.copy(data).await,
            function::SET_DATE => self.set_date(data).await,
            function::GET_PATH => self.get_path(data),
            function::GET_RIGHTS => self.get_rights(data).await,
            function::MAKE_DIRECTORY => self.make_directory(data).await,
            function::REMOVE_DIRECTORY => self.remove_directory(data).await,
            function::RENAME_DIRECTORY => self.rename_directory(data).await,
            function::ALLOCATE_PERMANENT => self.allocate(data, false).await,
            function::ALLOCATE_TEMPORARY | function::ALLOCATE_SPECIAL => {
                self.allocate(data, true).await
            }
            function::FREE_HANDLE => self.free_handle(data),
            function::VOLUME_OF_HANDLE => self.volume(data, false).await,
            function::COMMIT | function::COMMIT_SINCE_3 => self.commit(data).await,
            function::SEARCH_BEGIN => self.begin_search(data).await,
            function::SEARCH_ON => self.go_on_with_search(data).await,
            function::SEARCH => self.search(data).await,
            function::OPEN_OLD => self.open_old(data).await,
            function::OPEN => self.open(data).await,
            function::CLOSE => self.close(data).await,
            function::CREATE => self.create(data, false).await,
            function::CREATE_NEW => self.create(data, true).await,
            function::ERASE => self.erase(data).await,
            function::RENAME => self.rename(data).await,
            function::SIZE => self.size(data).await,
            function::READ => self.read(data).await,
            Function { number: function::NAME_SPACE, part: Some(part) }
                if Function::ALL.contains(&function) =>
            {
                self.name_space(part, data).await
            }
            _ => {
                self.channel.remark(Remark::Refused(format!("NetWare function {function}")));
                Err(completion::UNSUPPORTED)
            }
        }
    }

    fn negotiate(&mut self, data: &[u8]) -> Result<(), Refused> {
        let proposed = Buffer::parse(data).map_err(malformed)?.octets;
        // A write request has its function code before the data; a read reply has a shorter header.
        let room = self.carrier.longest_message.saturating_sub(1 + WRITE_LEN as u32);
        let most = u32::from(self.offer.netware.most_data_bytes).min(room) as u16;
        self.data_bytes = proposed.max(FEWEST_DATA_BYTES).min(most);
        Buffer { octets: self.data_bytes }.emit(&mut self.head);
        Ok(())
    }

    /// Packets may be as long as a frame; the client probes what size routers pass.
    fn negotiate_packet(&mut self, data: &[u8]) -> Result<(), Refused> {
        if !self.offer.netware.has_large_packets {
            return Err(completion::UNSUPPORTED);
        }
        let proposed = Packet::parse(data).map_err(malformed)?.octets;
        let octets = proposed.min(packet_bytes(self.carrier));
        self.data_bytes = self.data_bytes.max(data_in_packet(octets) as u16);
        let echo_socket = ECHO_SOCKET;
        AcceptedPacket { octets, echo_socket, security: 0 }.emit(&mut self.head);
        Ok(())
    }

    fn say_time(&mut self) {
        moment(self.ticks()).emit(&mut self.head);
    }

    /// Current time, ticks since 1601.
    pub fn ticks(&self) -> u64 {
        let since_ns = match (self.began, self.channel.now()) {
            (Some(began), Some(now)) => now.nanos_since(began),
            _ => 0,
        };
        self.time.saturating_add(since_ns / TICK_NS)
    }
}

pub fn moment(ticks: u64) -> Moment {
    Moment::from_unix((ticks_to_unix_ns(ticks).unwrap_or(0) / 1_000_000_000) as i64)
}
