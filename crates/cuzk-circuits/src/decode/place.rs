//! Where in a request the checks stand.
//!
//! A place costs nothing to carry and becomes text only when something is wrong there.

use std::fmt;

/// A field or index below another place.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Field(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    /// A top-level field.
    pub(crate) fn root(field: &'a str) -> Self {
        Self {
            parent: None,
            segment: Segment::Field(field),
        }
    }

    /// A field of the value at this place.
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        Self {
            parent: Some(self),
            segment: Segment::Field(name),
        }
    }

    /// An entry of the list at this place.
    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self {
            parent: Some(self),
            segment: Segment::Index(index),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.segment {
            Segment::Field(name) if self.parent.is_some() => write!(f, ".{name}"),
            Segment::Field(name) => f.write_str(name),
            Segment::Index(index) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_prints_as_a_json_path() {
        let root = Place::root("vanilla_proofs");
        let partition = root.index(3);
        let challenge = partition.index(17);
        assert_eq!(
            challenge.field("encoding_proof").to_string(),
            "vanilla_proofs[3][17].encoding_proof"
        );
    }
}
