//! A key's queries where a proof finds them: on the card as a whole, or in their file, from which they pass through the
//! card in parts.

use std::{ops::Range, sync::Arc};

use cuzk_groth16::{ProvingKey, Section};

use crate::{
    CudaError, Device, DeviceKey,
    device_key::upload_points,
    driver::DeviceBuffer,
    elements::Base,
    host_field::{Fp, Fp2},
    kernels::DeviceGroup,
};

/// The queries of a loaded key.
pub(super) enum KeyQueries {
    Resident(Box<DeviceKey>),
    Streamed(Arc<ProvingKey>),
}

/// One query.
pub(super) enum Bases<'a, C> {
    Resident(&'a DeviceBuffer<Base<C>>),
    Streamed(&'a ProvingKey, Section),
}

impl KeyQueries {
    /// A query over G1.
    pub(super) fn g1(&self, section: Section) -> Bases<'_, Fp> {
        match self {
            Self::Streamed(key) => Bases::Streamed(key, section),
            Self::Resident(key) => Bases::Resident(match section {
                Section::H => &key.h,
                Section::L => &key.l,
                Section::A => &key.a,
                _ => &key.b_g1,
            }),
        }
    }

    /// The query over G2.
    pub(super) fn b_g2(&self) -> Bases<'_, Fp2> {
        match self {
            Self::Streamed(key) => Bases::Streamed(key, Section::BG2),
            Self::Resident(key) => Bases::Resident(&key.b_g2),
        }
    }
}

/// Consecutive bases that are on the card.
pub(super) enum Present<'a, C> {
    All(&'a DeviceBuffer<Base<C>>),
    Part(DeviceBuffer<Base<C>>),
}

impl<C> Present<'_, C> {
    pub(super) fn buffer(&self) -> &DeviceBuffer<Base<C>> {
        match self {
            Self::All(bases) => bases,
            Self::Part(bases) => bases,
        }
    }
}

impl<'a, C: DeviceGroup> Bases<'a, C> {
    /// The bases of a range, uploaded where they are not on the card, and the number of the first one that is there.
    pub(super) fn present(
        &self,
        device: &Device,
        range: Range<usize>,
    ) -> Result<(Present<'a, C>, u32), CudaError> {
        match *self {
            Self::Resident(bases) => Ok((Present::All(bases), 0)),
            Self::Streamed(key, section) => {
                let first = range.start as u32;
                let bases = upload_points(device, key, section, range)?;
                Ok((Present::Part(bases), first))
            }
        }
    }
}
