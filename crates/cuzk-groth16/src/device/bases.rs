//! A key's queries as sources of bases: views of the mapped file, given back to the system once read.

use std::ops::Range;

use crate::curve::CurveField;
use crate::key::{ProvingKey, Section};
use crate::msm::BaseSource;

/// One query of a mapped key.
pub(super) struct KeyBases<'a> {
    key: &'a ProvingKey,
    section: Section,
}

impl<'a> KeyBases<'a> {
    pub(super) const fn new(key: &'a ProvingKey, section: Section) -> Self {
        Self { key, section }
    }
}

impl<F: CurveField> BaseSource<F> for KeyBases<'_> {
    fn len(&self) -> usize {
        self.key.counts().of(self.section) as usize
    }

    fn encoded(&self, range: Range<usize>) -> &[u8] {
        let width = self.section.point_bytes();
        &self.key.section_bytes(self.section)[range.start * width..range.end * width]
    }

    fn release(&self, range: Range<usize>) {
        self.key.release(self.section, range);
    }
}
