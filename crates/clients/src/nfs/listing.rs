//! Directory listings, page by page: READDIRPLUS (RFC 1813, section 3.3.17) and READDIR (RFC 8881,
//! section 18.23).

use lanlab_files::{Class, Fault, Result, is_name};
use lanlab_stack::redirector::ListingLimits;
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs3::{Attributes, MAX_HANDLE_OCTETS, MAX_NAME_OCTETS};

const NAME_OCTETS: u32 = 32 << 10;
pub const PAGE_OCTETS: u32 = 128 << 10;

/// Where a page begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    pub cookie: u64,
    verifier: [u8; 8],
}

/// Entries with their attributes, and where the next page begins; `None` after the last one.
pub struct Page<A> {
    pub entries: Vec<(String, A)>,
    pub next: Option<Place>,
}

/// Names and attributes of a directory's entries, with one call of `ask` for each page.
pub async fn all_pages<A>(ask: impl AsyncFn(Place) -> Result<Page<A>>) -> Result<Vec<(String, A)>> {
    let (mut found, mut limits, mut place) =
        (Vec::new(), ListingLimits::default(), Place::default());
    loop {
        let page = ask(place).await?;
        if !page.entries.is_empty() || page.next.is_some() {
            let name_bytes = page.entries.iter().map(|(name, _)| name.len()).sum();
            limits
                .take(page.entries.len(), name_bytes)
                .map_err(|endless| Fault::new(Class::Protocol, endless))?;
        }
        found.extend(page.entries.into_iter().filter(|(name, _)| is_name(name)));
        let Some(next) = page.next else { return Ok(found) };
        place = next;
    }
}

impl Place {
    pub fn write(self, writer: &mut Writer, page_octets: u32) {
        writer.u64(self.cookie);
        writer.fixed(&self.verifier);
        writer.u32(NAME_OCTETS.min(page_octets));
        writer.u32(page_octets);
    }
}

impl<A> Page<A> {
    /// Read a page whose entries are read by `entry`: cookie, name and attributes.
    pub fn read<'a>(
        reader: &mut Reader<'a>,
        entry: impl Fn(&mut Reader<'a>) -> std::result::Result<(u64, &'a [u8], A), Garbled>,
    ) -> std::result::Result<Self, Garbled> {
        let verifier = reader.fixed(8)?.try_into().unwrap_or_default();
        let (mut entries, mut next) = (Vec::new(), Place { cookie: 0, verifier });
        while reader.boolean()? {
            let (cookie, name, attributes) = entry(reader)?;
            next.cookie = cookie;
            // A name that is not UTF-8 is not ours. It counts as seen.
            entries.push((String::from_utf8(name.to_vec()).unwrap_or_default(), attributes));
        }
        Ok(Self { entries, next: (!reader.boolean()?).then_some(next) })
    }
}

/// Read the result of READDIRPLUS. A server may omit the attributes of an entry.
pub fn read_page(
    reader: &mut Reader<'_>,
) -> std::result::Result<Page<Option<Attributes>>, Garbled> {
    Attributes::read_optional(reader)?;
    Page::read(reader, |reader| {
        reader.u64()?; // Number of the file.
        let (name, cookie) = (reader.opaque(MAX_NAME_OCTETS)?, reader.u64()?);
        let attributes = Attributes::read_optional(reader)?;
        if reader.boolean()? {
            reader.opaque(MAX_HANDLE_OCTETS)?;
        }
        Ok((cookie, name, attributes))
    })
}
