//! Integers of a few bytes, written and read.

use crate::compiled::file::error::{CircuitFileError, CircuitSection};

/// Bytes of the longest number.
const MAX_NUMBER_BYTES: usize = 5;

/// Appends to a body.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, value: u32) {
        self.reference(u64::from(value));
    }

    /// A number of at most 35 bits.
    pub(super) fn reference(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Numbers of things that are held in memory and have 32 bits by construction.
    pub(super) fn count(&mut self, value: usize) {
        self.number(u32::try_from(value).expect("a circuit has fewer than 2^32 of anything"));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Reads a body and knows where it is, for errors.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    section: CircuitSection,
    index: u64,
}

type Read<T> = Result<T, CircuitFileError>;

impl<'a> Reader<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self {
            rest: body,
            section: CircuitSection::Label,
            index: 0,
        }
    }

    /// What is read next is item `index` of a section.
    pub(super) fn at(&mut self, section: CircuitSection, index: usize) {
        self.section = section;
        self.index = index as u64;
    }

    pub(super) fn bytes(&mut self, count: usize) -> Read<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.truncated());
        };
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Read<u32> {
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(u32::from(byte));
        }
        self.long_number()
    }

    fn long_number(&mut self) -> Read<u32> {
        let value = self.reference()?;
        u32::try_from(value).map_err(|_| self.value("number", [0, u64::from(u32::MAX)], value))
    }

    /// A number of at most 35 bits.
    #[inline]
    pub(super) fn reference(&mut self) -> Read<u64> {
        let mut value = 0;
        for (place, &byte) in self.rest.iter().enumerate().take(MAX_NUMBER_BYTES) {
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                self.rest = &self.rest[place + 1..];
                return Ok(value);
            }
        }
        if self.rest.len() < MAX_NUMBER_BYTES {
            return Err(self.truncated());
        }
        Err(self.malformed("a number of at most five bytes"))
    }

    /// A number between two others, both possible.
    #[inline]
    pub(super) fn within(&mut self, what: &'static str, min: u32, max: u32) -> Read<u32> {
        let found = self.number()?;
        self.expect_within(what, [u64::from(min), u64::from(max)], u64::from(found))?;
        Ok(found)
    }

    /// A number of items that take at least `bytes_each` of what is left, so that room for them can be made.
    pub(super) fn count(&mut self, what: &'static str, bytes_each: usize) -> Read<usize> {
        let found = self.number()? as usize;
        self.expect_items_left(what, found, bytes_each)?;
        Ok(found)
    }

    /// What is left must have room for `count` items of at least `bytes_each`.
    pub(super) fn expect_items_left(
        &self,
        what: &'static str,
        count: usize,
        bytes_each: usize,
    ) -> Read<()> {
        let max = self.rest.len() / bytes_each;
        self.expect_within(what, [0, max as u64], count as u64)
    }

    #[inline]
    pub(super) fn expect_within(
        &self,
        what: &'static str,
        [min, max]: [u64; 2],
        found: u64,
    ) -> Read<()> {
        if (min..=max).contains(&found) {
            Ok(())
        } else {
            Err(self.value(what, [min, max], found))
        }
    }

    pub(super) fn value(
        &self,
        what: &'static str,
        [min, max]: [u64; 2],
        found: u64,
    ) -> CircuitFileError {
        CircuitFileError::Value {
            section: self.section,
            index: self.index,
            what,
            min,
            max,
            found,
        }
    }

    pub(super) fn malformed(&self, what: &'static str) -> CircuitFileError {
        CircuitFileError::Malformed {
            section: self.section,
            index: self.index,
            what,
        }
    }

    pub(super) fn text(&mut self) -> Read<String> {
        let length = self.count("length of a text", 1)?;
        let bytes = self.bytes(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.malformed("text in UTF-8"))
    }

    /// Nothing must be left.
    pub(super) fn finish(mut self) -> Read<()> {
        self.at(CircuitSection::End, 0);
        self.expect_within("number of bytes", [0, 0], self.rest.len() as u64)
    }

    fn truncated(&self) -> CircuitFileError {
        CircuitFileError::Truncated {
            section: self.section,
            index: self.index,
        }
    }
}
