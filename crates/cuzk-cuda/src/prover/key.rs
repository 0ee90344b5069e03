//! A key's queries where a proof finds them: on the card as a whole, or in their file, from which they pass through the
//! card in parts.

use std::{ops::Range, sync::Arc};

use cuzk_groth16::{ProvingKey, Section};

use super::feed::{Feed, Uploader};
use crate::{
    CudaError, DeviceKey,
    driver::DeviceBuffer,
    elements::Base,
    host_field::{Fp, Fp2},
    kernels::DeviceGroup,
};

/// The queries of a loaded key.
pub(super) enum KeyQueries {
    Resident(Box<DeviceKey>),
    Streamed(Arc<ProvingKey>, Arc<Uploader>),
}

/// The queries of a key in the course of a pass.
pub(super) enum Supply<'a> {
    Resident(&'a DeviceKey),
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

impl<'a> Supply<'a> {
    /// The bases of a range, and the number of the first one that is there. Parts are asked for in the order in which a pass
    /// needs them.
    pub(super) fn next<C: QueryGroup>(
        &mut self,
        section: Section,
        range: &Range<usize>,
    ) -> Result<(Present<'a, C>, u32), CudaError> {
        match self {
            Self::Resident(key) => Ok((Present::All(C::query(key, section)), 0)),
            Self::Streamed(feed) => {
                let bases = feed.next(section, range)?;
                Ok((Present::Part(bases), range.start as u32))
            }
        }
    }

    /// The first position of each query that holds no point, where points are checked as they pass.
    pub(super) fn bad_points(&self) -> Option<&DeviceBuffer<u32>> {
        match self {
            Self::Resident(_) => None,
            Self::Streamed(feed) => Some(feed.bad_points()),
        }
    }
}
