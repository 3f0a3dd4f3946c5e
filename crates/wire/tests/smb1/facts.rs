//! What a message says, by the names that tshark has for it.

use std::fmt::Display;

use lanlab_wire::Error;
use lanlab_wire::smb1::andx::{Block, Chain};
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::Status;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{
    close, command, echo, file_information, find, locking_andx, multiplexed, negotiate,
    nt_create_andx, open, open_andx, path, query_information, query_information_disk,
    query_information2, read, read_andx, read_raw, rename, search, seek, session_setup_andx,
    transaction, transaction2, tree_connect_andx, write, write_andx, write_raw,
};

pub type Facts = Vec<(&'static str, String)>;

pub fn facts(message: &[u8], from_client: bool) -> Result<Facts, Error> {
    let header = Header::parse(message)?;
    let mut facts = vec![
        ("flags", format!("{:#04x}", header.flags)),
        ("flags2", format!("{:#06x}", header.flags2)),
        ("pid", (header.pid & 0xffff).to_string()),
        ("pid.high", (header.pid >> 16).to_string()),
        ("tid", header.tid.to_string()),
        ("uid", header.uid.to_string()),
        ("mid", header.mid.to_string()),
    ];
    match header.status {
        Status::Nt(status) => facts.push(("nt_status", format!("{status:#010x}"))),
        Status::Dos { class, code } => {
            facts.push(("error_class", format!("{class:#04x}")));
            facts.push(("error_code", format!("{code:#06x}")));
        }
    }
    let blocks: Vec<Block<'_>> = Chain::new(&header, message).collect::<Result<_, _>>()?;
    let mut commands: Vec<_> =
        blocks.iter().map(|block| format!("{:#04x}", block.command())).collect();
    if let Some(last) = blocks.last()
        && command::is_andx(last.command())
        && last.word_count() > 1
    {
        commands.push("0xff".into());
    }
    facts.push(("cmd", commands.join("|")));
    let numbers =
        |numbers: Vec<usize>| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    facts.push(("wct", numbers(blocks.iter().map(Block::word_count).collect())));
    facts.push(("bcc", numbers(blocks.iter().map(Block::byte_count).collect())));
    if let [block] = &blocks[..] {
        if from_client {
            request(block, &mut facts)?;
        } else {
            response(block, &mut facts)?;
        }
    }
    Ok(facts)
}

fn text(text: Text<'_>) -> String {
    text.decode().into_owned()
}

fn fid(fid: u16) -> (&'static str, String) {
    ("fid", format!("{fid:#06x}"))
}

fn number(name: &'static str, value: impl Display + Copy) -> (&'static str, String) {
    (name, value.to_string())
}

#[expect(clippy::too_many_lines, reason = "a line or a few for each command")]
fn request(block: &Block<'_>, facts: &mut Facts) -> Result<(), Error> {
    match block.command() {
        command::CREATE_DIRECTORY
        | command::DELETE_DIRECTORY
        | command::CHECK_DIRECTORY
        | command::QUERY_INFORMATION => {
            facts.push(("file", text(path::Request::parse(block)?.name)));
        }
        command::DELETE => facts.push(("file", text(path::Delete::parse(block)?.name))),
        command::OPEN => facts.push(("file", text(open::Request::parse(block)?.name))),
        command::CREATE | command::CREATE_NEW => {
            let request = open::Create::parse(block)?;
            facts.push(("file", text(request.name)));
            facts.push(("file_attribute", format!("{:#06x}", request.attributes)));
        }
        command::SET_INFORMATION => {
            let request = query_information::SetRequest::parse(block)?;
            facts.push(("file", text(request.name)));
            facts.push(("file_attribute", format!("{:#06x}", request.attributes)));
        }
        command::RENAME => {
            let request = rename::Request::parse(block)?;
            facts.push(("old_file", text(request.old_name)));
            facts.push(("file", text(request.new_name)));
        }
        command::CLOSE => facts.push(fid(close::Request::parse(block)?.fid)),
        command::FLUSH => facts.push(fid(close::Flush::parse(block)?.fid)),
        command::QUERY_INFORMATION2 => {
            facts.push(fid(query_information2::Request::parse(block)?.fid));
        }
        command::READ => {
            let request = read::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
        }
        command::LOCK_BYTE_RANGE | command::UNLOCK_BYTE_RANGE => {
            let request = read::Range::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
            facts.push(number("count", request.count));
        }
        command::SEEK => {
            let request = seek::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
        }
        command::WRITE => {
            let request = write::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
        }
        command::READ_RAW | command::READ_MPX => {
            let request = read_raw::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset as u32)]);
            facts.push(number("maxcount", request.max_count));
        }
        command::WRITE_RAW => {
            let request = write_raw::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset as u32)]);
        }
        command::WRITE_MPX => {
            let request = multiplexed::Write::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
        }
        command::WRITE_AND_CLOSE => {
            let request = write::WriteAndClose::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset)]);
        }
        command::READ_ANDX => {
            let request = read_andx::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset as u32)]);
            facts.push(number("maxcount_low", request.max_count_low));
        }
        command::WRITE_ANDX => {
            let request = write_andx::Request::parse(block)?;
            facts.extend([fid(request.fid), number("offset", request.offset as u32)]);
            facts.push(number("data_len_low", request.data.len() & 0xffff));
        }
        command::LOCKING_ANDX => {
            let request = locking_andx::Request::parse(block)?;
            facts.push(fid(request.head.fid));
            facts.push(number("locking.num_unlocks", request.unlocks.len()));
            facts.push(number("locking.num_locks", request.locks.len()));
        }
        command::OPEN_ANDX => facts.push(("file", text(open_andx::Request::parse(block)?.name))),
        command::NT_CREATE_ANDX => {
            let request = nt_create_andx::Request::parse(block)?;
            facts.push(("file", text(request.name)));
            facts.push(number("create.disposition", request.disposition));
            facts.push(("access_mask", format!("{:#010x}", request.access)));
        }
        command::ECHO => facts.push(number("echo.count", echo::Echo::parse(block)?.number)),
        command::FIND_CLOSE2 => {
            facts.push(("search_id", format!("{:#06x}", find::Close2::parse(block)?.sid)));
        }
        command::NEGOTIATE => {
            let request = negotiate::Request::parse(block)?;
            let dialects = request.dialects().map(String::from_utf8_lossy);
            facts.push(("dialect.name", dialects.collect::<Vec<_>>().join("|")));
        }
        command::SESSION_SETUP_ANDX => {
            let request = session_setup_andx::Request::parse(block)?;
            facts.push(("native_os", text(request.native_os)));
            facts.push(("native_lanman", text(request.native_lan_manager)));
            facts.push(number("max_mpx_count", request.max_mpx));
            match request.logon {
                session_setup_andx::Logon::LanMan { password, account, domain } => {
                    facts.push(("account", text(account)));
                    facts.push(("primary_domain", text(domain)));
                    facts.push(number("pwlen", password.len()));
                }
                session_setup_andx::Logon::Nt {
                    oem_password,
                    unicode_password,
                    capabilities,
                    account,
                    domain,
                } => {
                    facts.push(("account", text(account)));
                    facts.push(("primary_domain", text(domain)));
                    facts.push(number("ansi_pwlen", oem_password.len()));
                    facts.push(number("unicode_pwlen", unicode_password.len()));
                    facts.push(("server_cap", format!("{capabilities:#010x}")));
                }
                session_setup_andx::Logon::Extended { capabilities, .. } => {
                    facts.push(("server_cap", format!("{capabilities:#010x}")));
                }
            }
        }
        command::TREE_CONNECT_ANDX => {
            let request = tree_connect_andx::Request::parse(block)?;
            facts.push(number("pwlen", request.password.len()));
            facts.push(("service", text(request.service)));
        }
        command::TRANSACTION2 => transaction2_request(block, facts)?,
        _ => {}
    }
    Ok(())
}

fn transaction2_request(block: &Block<'_>, facts: &mut Facts) -> Result<(), Error> {
    let request = transaction::Request::parse(block)?;
    let unicode = block.is_unicode();
    facts.push(number("tpc", request.total_parameters));
    facts.push(number("tdc", request.total_data));
    facts.push(number("pc", request.parameters.len()));
    facts.push(number("dc", request.data.len()));
    let Some(subcommand) = request.subcommand() else { return Ok(()) };
    facts.push(("trans2.cmd", format!("{subcommand:#06x}")));
    match subcommand {
        transaction2::FIND_FIRST2 => {
            let first = find::First::parse(request.parameters, unicode)?;
            facts.push(("search_pattern", text(first.name)));
            facts.push(number("search_count", first.search_count));
            facts.push(number("ff2_loi", first.level));
        }
        transaction2::FIND_NEXT2 => {
            let next = find::Next::parse(request.parameters, unicode)?;
            facts.push(("search_id", format!("{:#06x}", next.sid)));
            facts.push(number("search_count", next.search_count));
            facts.push(number("ff2_loi", next.level));
            facts.push(("file", text(next.name)));
        }
        transaction2::QUERY_PATH_INFORMATION => {
            let path = transaction2::Path::parse(request.parameters, unicode)?;
            facts.push(number("qpi_loi", path.level));
            facts.push(("file", text(path.name)));
        }
        transaction2::SET_PATH_INFORMATION => {
            let path = transaction2::Path::parse(request.parameters, unicode)?;
            facts.push(number("spi_loi", path.level));
            facts.push(("file", text(path.name)));
        }
        transaction2::QUERY_FILE_INFORMATION => {
            let file = transaction2::File::parse(request.parameters)?;
            facts.push(fid(file.fid));
            facts.push(number("qpi_loi", file.level));
        }
        transaction2::SET_FILE_INFORMATION => {
            let file = transaction2::File::parse(request.parameters)?;
            facts.push(fid(file.fid));
            facts.push(number("spi_loi", file.level));
            if file.level == file_information::set::END_OF_FILE {
                let length = file_information::Length::parse(request.data)?;
                facts.push(number("end_of_file", length.octets));
            }
        }
        _ => {}
    }
    Ok(())
}

fn response(block: &Block<'_>, facts: &mut Facts) -> Result<(), Error> {
    if block.is_empty() {
        return Ok(());
    }
    match block.command() {
        command::OPEN => {
            let response = open::Response::parse(block)?;
            facts.extend([fid(response.fid), number("file_size", response.size)]);
            facts.push(("file_attribute", format!("{:#06x}", response.attributes)));
        }
        command::CREATE | command::CREATE_NEW => {
            facts.push(fid(open::Created::parse(block)?.fid));
        }
        command::QUERY_INFORMATION => {
            let response = query_information::Response::parse(block)?;
            facts.push(number("file_size", response.size));
            facts.push(("file_attribute", format!("{:#06x}", response.attributes)));
        }
        command::SEEK => facts.push(number("offset", seek::Response::parse(block)?.offset)),
        command::WRITE => facts.push(number("count", write::Response::parse(block)?.count)),
        command::WRITE_ANDX => {
            facts.push(number("count_low", write_andx::Response::parse(block)?.count & 0xffff));
        }
        command::READ_ANDX => {
            let response = read_andx::Response::parse(block)?;
            facts.push(number("data_len_low", response.data.len() & 0xffff));
        }
        command::OPEN_ANDX => {
            let response = open_andx::Response::parse(block)?;
            facts.extend([fid(response.fid), number("file_size", response.size)]);
        }
        command::NT_CREATE_ANDX => {
            let response = nt_create_andx::Response::parse(block)?;
            facts.extend([fid(response.fid), number("end_of_file", response.end_of_file)]);
        }
        command::QUERY_INFORMATION_DISK => {
            let response = query_information_disk::Response::parse(block)?;
            facts.push(number("units", response.total_units));
            facts.push(number("bpu", response.blocks_per_unit));
            facts.push(number("blocksize", response.block_size));
        }
        command::NEGOTIATE => {
            if let negotiate::Response::NtLm(response) = negotiate::Response::parse(block)? {
                let extended = matches!(response.security, negotiate::Security::Extended { .. });
                let capabilities = response.capabilities | u32::from(extended) << 31;
                facts.push(number("max_mpx_count", response.max_mpx));
                facts.push(number("max_bufsize", response.max_buffer));
                facts.push(number("max_raw", response.max_raw));
                facts.push(("server_cap", format!("{capabilities:#010x}")));
            }
        }
        command::SESSION_SETUP_ANDX => {
            let response = session_setup_andx::Response::parse(block)?;
            if let Some(names) = response.names {
                facts.push(("native_os", text(names.native_os)));
                facts.push(("native_lanman", text(names.native_lan_manager)));
                facts.extend(names.domain.map(|domain| ("primary_domain", text(domain))));
            }
        }
        command::TREE_CONNECT_ANDX => {
            let response = tree_connect_andx::Response::parse(block)?;
            facts.push(("service", text(response.service)));
            facts.extend(response.file_system.map(|name| ("native_fs", text(name))));
        }
        command::SEARCH | command::FIND | command::FIND_UNIQUE => {
            facts.push(number("count", search::Response::parse(block)?.len()));
        }
        command::TRANSACTION2 => {
            let response = transaction::Response::parse(block)?;
            facts.push(number("tpc", response.total_parameters));
            facts.push(number("tdc", response.total_data));
            facts.push(number("pc", response.parameters.len()));
            facts.push(number("dc", response.data.len()));
        }
        _ => {}
    }
    Ok(())
}
