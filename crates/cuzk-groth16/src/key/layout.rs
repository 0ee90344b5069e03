//! Every offset of a key file depends on length fields inside it, which a damaged file may hold any value in.
//!
//! All of them are read and compared with the file's length here, once, before anything is allocated or indexed.

use std::ops::Range;

use super::{FormatError, QueryCounts, Section};

const COUNT_BYTES: usize = 4;

/// Where the points of a vector lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    offset: usize,
    count: usize,
}

/// Offsets and lengths of the vectors of a key, consistent with each other and with the file's length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLayout {
    extents: [Extent; Section::VECTORS.len()],
    end: usize,
}

impl KeyLayout {
    /// Reads the layout of a `.params` file that ends with exactly `trailer` bytes of something else.
    ///
    /// # Errors
    /// [`FormatError`] for the first rule that the length fields break.
    pub(crate) fn of_params(bytes: &[u8], trailer: u64) -> Result<Self, FormatError> {
        let layout = Self::read(bytes, &Section::VECTORS, trailer)?;
        layout.check_counts()?;
        Ok(layout)
    }

    /// Reads the layout of a `.vk` file, which ends after `ic`.
    ///
    /// # Errors
    /// [`FormatError`] for the first rule that the length field breaks.
    pub(crate) fn of_verifying_key(bytes: &[u8]) -> Result<Self, FormatError> {
        let layout = Self::read(bytes, &[Section::Ic], 0)?;
        check_range(Section::Ic, layout.count(Section::Ic), 1, u64::MAX)?;
        Ok(layout)
    }

    fn read(bytes: &[u8], vectors: &[Section], trailer: u64) -> Result<Self, FormatError> {
        if bytes.is_empty() {
            return Err(FormatError::Empty);
        }
        let mut offset = 0;
        for section in Section::HEADER {
            offset += section.point_bytes();
            require_header(bytes, section, offset)?;
        }
        let mut extents = [Extent::default(); Section::VECTORS.len()];
        for (extent, &section) in extents.iter_mut().zip(vectors) {
            *extent = read_extent(bytes, section, offset)?;
            offset = extent.offset + extent.count * section.point_bytes();
        }
        let expected = offset as u64 + trailer;
        if expected != bytes.len() as u64 {
            return Err(FormatError::Length {
                section: vectors.last().copied().unwrap_or(Section::Ic),
                expected,
                trailer,
                found: bytes.len() as u64,
            });
        }
        Ok(Self {
            extents,
            end: offset,
        })
    }

    /// Compares the lengths with each other, as every circuit relates them.
    fn check_counts(&self) -> Result<(), FormatError> {
        let counts = self.counts();
        check_range(Section::Ic, counts.ic, 1, u64::MAX)?;
        if !(counts.h + 1).is_power_of_two() {
            return Err(FormatError::NotADomain { found: counts.h });
        }
        let variables = counts.ic + counts.l;
        check_range(Section::A, counts.a, counts.ic, variables)?;
        check_range(Section::BG1, counts.b_g1, 0, variables)?;
        check_range(Section::BG2, counts.b_g2, counts.b_g1, counts.b_g1)
    }

    pub(crate) fn counts(&self) -> QueryCounts {
        QueryCounts {
            ic: self.count(Section::Ic),
            h: self.count(Section::H),
            l: self.count(Section::L),
            a: self.count(Section::A),
            b_g1: self.count(Section::BG1),
            b_g2: self.count(Section::BG2),
        }
    }

    fn count(&self, section: Section) -> u64 {
        section
            .vector_index()
            .map_or(1, |index| self.extents[index].count as u64)
    }

    /// Bytes of the points of `section` within the file.
    pub(crate) fn range(&self, section: Section) -> Range<usize> {
        let (offset, count) = match section.vector_index() {
            Some(index) => (self.extents[index].offset, self.extents[index].count),
            None => (header_offset(section), 1),
        };
        offset..offset + count * section.point_bytes()
    }

    /// End of the last vector; a trailer begins here.
    pub(crate) const fn end(&self) -> usize {
        self.end
    }
}

fn header_offset(section: Section) -> usize {
    Section::HEADER
        .iter()
        .take_while(|element| **element != section)
        .map(|element| element.point_bytes())
        .sum()
}

fn require_header(bytes: &[u8], section: Section, end: usize) -> Result<(), FormatError> {
    if bytes.len() < end {
        return Err(FormatError::HeaderCut {
            section,
            expected: end as u64,
            found: bytes.len() as u64,
        });
    }
    Ok(())
}

fn read_extent(bytes: &[u8], section: Section, offset: usize) -> Result<Extent, FormatError> {
    let start = offset + COUNT_BYTES;
    require_header(bytes, section, start)?;
    let mut field = [0; COUNT_BYTES];
    field.copy_from_slice(&bytes[offset..start]);
    let count = u32::from_be_bytes(field) as usize;
    let available = (bytes.len() - start) / section.point_bytes();
    if available < count {
        return Err(FormatError::PointsCut {
            section,
            index: available,
            count,
            expected: start as u64 + count as u64 * section.point_bytes() as u64,
            found: bytes.len() as u64,
        });
    }
    Ok(Extent {
        offset: start,
        count,
    })
}

fn check_range(section: Section, found: u64, least: u64, most: u64) -> Result<(), FormatError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(FormatError::Count {
        section,
        least,
        most,
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_BYTES: usize = 864;

    /// A file of zeros with these lengths: the layout does not look at points.
    fn file(counts: [u32; 6]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        for (section, count) in Section::VECTORS.into_iter().zip(counts) {
            bytes.extend_from_slice(&count.to_be_bytes());
            bytes.resize(bytes.len() + count as usize * section.point_bytes(), 0);
        }
        bytes
    }

    const COUNTS: [u32; 6] = [2, 7, 5, 4, 3, 3];

    #[test]
    fn an_empty_file_is_said_in_words() {
        let error = KeyLayout::of_params(&[], 0).expect_err("nothing is there");
        assert_eq!(error, FormatError::Empty);
        assert_eq!(error.to_string(), "file is empty (0 bytes)");
        assert_eq!(KeyLayout::of_verifying_key(&[]), Err(FormatError::Empty));
    }

    #[test]
    fn a_cut_at_every_length_is_refused_with_the_place() {
        let bytes = file(COUNTS);
        for length in 1..bytes.len() {
            let error = KeyLayout::of_params(&bytes[..length], 0).expect_err("cut");
            match error {
                FormatError::HeaderCut {
                    expected, found, ..
                } => {
                    assert_eq!(found, length as u64);
                    assert!(expected > found);
                }
                FormatError::PointsCut {
                    section,
                    index,
                    count,
                    expected,
                    found,
                } => {
                    assert_eq!(found, length as u64);
                    assert!(expected > found && index < count);
                    let at = KeyLayout::of_params(&bytes, 0)
                        .expect("whole")
                        .range(section);
                    let point = section.point_bytes();
                    assert_eq!(index, (length - at.start) / point);
                }
                other => panic!("unexpected {other}"),
            }
        }
    }

    #[test]
    fn a_header_element_that_is_cut_is_named() {
        let bytes = file(COUNTS);
        for (length, section) in [
            (95, Section::AlphaG1),
            (96, Section::BetaG1),
            (575, Section::GammaG2),
            (863, Section::DeltaG2),
            (867, Section::Ic),
        ] {
            assert!(matches!(
                KeyLayout::of_params(&bytes[..length], 0),
                Err(FormatError::HeaderCut { section: found, .. }) if found == section
            ));
        }
    }

    #[test]
    fn a_file_that_goes_on_is_refused_unless_the_trailer_is_declared_exactly() {
        let mut bytes = file(COUNTS);
        let whole = bytes.len() as u64;
        bytes.extend_from_slice(&[7; 5]);
        assert_eq!(
            KeyLayout::of_params(&bytes, 0),
            Err(FormatError::Length {
                section: Section::BG2,
                expected: whole,
                trailer: 0,
                found: whole + 5
            })
        );
        assert!(KeyLayout::of_params(&bytes, 4).is_err());
        assert!(KeyLayout::of_params(&bytes, 6).is_err());
        let layout = KeyLayout::of_params(&bytes, 5).expect("trailer declared");
        assert_eq!(layout.end() as u64, whole);
    }

    #[test]
    fn a_length_field_of_four_billion_points_allocates_nothing_and_is_refused() {
        let mut bytes = file(COUNTS);
        bytes[HEADER_BYTES..HEADER_BYTES + 4].fill(0xff);
        assert!(matches!(
            KeyLayout::of_params(&bytes, 0),
            Err(FormatError::PointsCut {
                section: Section::Ic,
                count: 0xffff_ffff,
                ..
            })
        ));
    }

    #[test]
    fn lengths_that_contradict_each_other_are_refused() {
        let count_error = |counts: [u32; 6]| match KeyLayout::of_params(&file(counts), 0) {
            Err(FormatError::Count { section, .. }) => section,
            other => panic!("unexpected {other:?}"),
        };
        assert_eq!(count_error([0, 7, 5, 4, 3, 3]), Section::Ic);
        assert_eq!(count_error([2, 7, 5, 1, 3, 3]), Section::A);
        assert_eq!(count_error([2, 7, 5, 8, 3, 3]), Section::A);
        assert_eq!(count_error([2, 7, 5, 4, 8, 8]), Section::BG1);
        assert_eq!(count_error([2, 7, 5, 4, 3, 2]), Section::BG2);
        assert_eq!(
            KeyLayout::of_params(&file([2, 8, 5, 4, 3, 3]), 0),
            Err(FormatError::NotADomain { found: 8 })
        );
    }

    #[test]
    fn ranges_follow_each_other_with_four_bytes_between() {
        let bytes = file(COUNTS);
        let layout = KeyLayout::of_params(&bytes, 0).expect("well formed");
        let mut end = 0;
        for section in Section::HEADER {
            assert_eq!(layout.range(section).start, end);
            end = layout.range(section).end;
        }
        for (section, count) in Section::VECTORS.into_iter().zip(COUNTS) {
            let range = layout.range(section);
            assert_eq!(range.start, end + 4);
            assert_eq!(range.len(), count as usize * section.point_bytes());
            assert_eq!(layout.counts().of(section), u64::from(count));
            end = range.end;
        }
        assert_eq!(end, layout.end());
        assert_eq!(layout.counts().file_bytes(), bytes.len() as u64);
    }

    #[test]
    fn a_domain_of_one_has_an_empty_quotient_vector() {
        let layout = KeyLayout::of_params(&file([1, 0, 0, 1, 0, 0]), 0).expect("smallest key");
        assert!(layout.range(Section::H).is_empty());
    }
}
