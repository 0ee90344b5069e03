//! A key's queries where a proof finds them: on the card as a whole, or in their file, from which they pass through the
//! card in parts.

use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

use cuzk_groth16::{ProvingKey, Section};

use super::feed::{Blocks, Feed, Uploader};
use super::shared::Shared;
use crate::{
    CudaError, Device, DeviceKey,
    driver::{DeviceBuffer, Plain, Transfers},
    elements::Base,
    host_field::{Fp, Fp2},
    kernels::DeviceGroup,
    rooms::Room,
    sync::lock,
};

/// A loaded key.
pub(super) struct CudaKey {
    /// None for a key that was made on the card.
    pub(super) file: Option<Arc<ProvingKey>>,
    on_card: Mutex<Option<Arc<ResidentKey>>>,
}

/// A key on the card. Its memory goes back to the system when it is dropped.
pub(super) struct ResidentKey {
    queries: DeviceKey,
    /// What a proof takes beside it.
    pub(super) room: Room,
    /// Dropped after the queries.
    _trim: Trim,
}

/// Gives freed memory of the card back to the system when it is dropped.
struct Trim(Arc<Shared>);

impl Drop for Trim {
    fn drop(&mut self) {
        self.0.trim();
    }
}

impl CudaKey {
    pub(super) fn in_file(key: Arc<ProvingKey>) -> Self {
        Self {
            file: Some(key),
            on_card: Mutex::new(None),
        }
    }

    pub(super) fn on_card(
        file: Option<Arc<ProvingKey>>,
        queries: DeviceKey,
        (shared, room): (&Arc<Shared>, Room),
    ) -> Self {
        let resident = ResidentKey {
            queries,
            room,
            _trim: Trim(Arc::clone(shared)),
        };
        Self {
            file,
            on_card: Mutex::new(Some(Arc::new(resident))),
        }
    }

    /// The key on the card, where it is.
    pub(super) fn resident(&self) -> Option<Arc<ResidentKey>> {
        lock(&self.on_card).clone()
    }

    /// Gives up the key on the card, once no circuit uses it.
    pub(super) fn leave_card(&self) {
        let left = lock(&self.on_card).take();
        drop(left);
    }
}

/// Where a circuit finds the queries of its key.
pub(super) enum KeyQueries {
    /// On the card. A large witness passes through the uploader.
    Resident(Arc<ResidentKey>, Option<Arc<Uploader>>),
    /// In its file, from which it passes through the uploader like all witnesses.
    Streamed(Arc<ProvingKey>, Arc<Uploader>),
}

/// The queries of a key in the course of a pass.
pub(super) enum Supply<'a> {
    Resident(&'a DeviceKey, Option<Blocks<'a>>),
    Streamed(Box<Feed<'a>>),
}

/// Consecutive bases that are on the card.
pub(super) enum Present<'a, C> {
    All(&'a DeviceBuffer<Base<C>>),
    Part(DeviceBuffer<Base<C>>),
}

/// A group in which a key has queries.
pub(super) trait QueryGroup: DeviceGroup {
    /// A query of a key on the card.
    fn query(key: &DeviceKey, section: Section) -> &DeviceBuffer<Base<Self>>;
}

impl QueryGroup for Fp {
    fn query(key: &DeviceKey, section: Section) -> &DeviceBuffer<Base<Self>> {
        match section {
            Section::H => &key.h,
            Section::L => &key.l,
            Section::A => &key.a,
            _ => &key.b_g1,
        }
    }
}

impl QueryGroup for Fp2 {
    fn query(key: &DeviceKey, _: Section) -> &DeviceBuffer<Base<Self>> {
        &key.b_g2
    }
}

impl<C> Present<'_, C> {
    pub(super) fn buffer(&self) -> &DeviceBuffer<Base<C>> {
        match self {
            Self::All(bases) => bases,
            Self::Part(bases) => bases,
        }
    }
}

impl ResidentKey {
    pub(super) const fn queries(&self) -> &DeviceKey {
        &self.queries
    }
}

impl<'a> Supply<'a> {
    /// The bases of a range, and the number of the first one that is there. Parts are asked for in the order in which a pass
    /// needs them.
    pub(super) fn next<C: QueryGroup>(
        &mut self,
        section: Section,
        range: &Range<usize>,
    ) -> Result<(Present<'a, C>, u32), CudaError> {
        match self {
            Self::Resident(key, _) => Ok((Present::All(C::query(key, section)), 0)),
            Self::Streamed(feed) => {
                let bases = feed.next(section, range)?;
                Ok((Present::Part(bases), range.start as u32))
            }
        }
    }

    /// Uploads what lies in `pieces`, one behind the other; what is queued from now on may use it. Without an uploader it waits in
    /// page-locked memory of its own, and nobody waits for that.
    pub(super) fn upload_witness<T: Plain>(
        &mut self,
        (device, transfers): (&Device, &mut Transfers),
        pieces: &[&[u8]],
    ) -> Result<DeviceBuffer<T>, CudaError> {
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let len = bytes / size_of::<T>();
        match self {
            Self::Streamed(feed) => feed.blocks().upload(len, pieces),
            Self::Resident(_, Some(blocks)) => blocks.upload(len, pieces),
            Self::Resident(_, None) => {
                let session = device.session();
                let mut buffer = session.allocate(len)?;
                let mut first = 0;
                for piece in pieces {
                    transfers.upload(session, piece, &mut buffer, first)?;
                    first += piece.len() / size_of::<T>();
                }
                Ok(buffer)
            }
        }
    }

    /// The first position of each query that holds no point, where points are checked as they pass.
    pub(super) fn bad_points(&self) -> Option<&DeviceBuffer<u32>> {
        match self {
            Self::Resident(..) => None,
            Self::Streamed(feed) => Some(feed.bad_points()),
        }
    }
}
