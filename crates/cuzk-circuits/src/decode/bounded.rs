//! Lists and field elements of bounded size.
//!
//! A length prefix or an endless list must not make the decoder allocate more than an honest
//! request would. Every list states the largest number of entries that any circuit accepts; the
//! exact number is checked afterwards, where it is known.

use std::fmt;
use std::marker::PhantomData;

use blstrs::Scalar as Fr;
use ff::PrimeField;
use filecoin_hashers::Domain;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Reads a list of at most `MAX` entries.
pub(super) fn list<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(ListVisitor::<T, MAX>(PhantomData))
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        let announced = entries.size_hint().unwrap_or(0);
        if announced > MAX {
            return Err(A::Error::invalid_length(announced, &self));
        }
        let mut list = Vec::with_capacity(announced);
        while let Some(entry) = entries.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::invalid_length(MAX + 1, &self));
            }
            list.push(entry);
        }
        Ok(list)
    }
}

/// 32 bytes that are the canonical form of a scalar, little endian.
///
/// Upstream's hash domains hold any 32 bytes and panic when a value above the modulus is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<D>(pub(super) D);

impl<'de, D: Domain> Deserialize<'de> for Node<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        deserializer.deserialize_tuple(32, NodeVisitor(PhantomData))
    }
}

struct NodeVisitor<D>(PhantomData<D>);

impl<'de, D: Domain> Visitor<'de> for NodeVisitor<D> {
    type Value = Node<D>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("32 bytes of a field element")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Node<D>, A::Error> {
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = entries
                .next_element()?
                .ok_or_else(|| A::Error::invalid_length(index, &self))?;
        }
        if Fr::from_repr_vartime(bytes).is_none() {
            return Err(A::Error::custom(
                "32 bytes that are not below the modulus of the scalar field",
            ));
        }
        D::try_from_bytes(&bytes)
            .map(Node)
            .map_err(|error| A::Error::custom(error.to_string()))
    }
}

/// Drops the wrappers; the compiler reuses the allocation.
pub(super) fn unwrap_nodes<D>(nodes: Vec<Node<D>>) -> Vec<D> {
    nodes.into_iter().map(|node| node.0).collect()
}

#[cfg(test)]
mod tests {
    use filecoin_hashers::poseidon::PoseidonDomain;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Short(#[serde(deserialize_with = "list::<_, _, 3>")] Vec<u8>);

    #[test]
    fn a_list_may_be_empty_or_full_but_not_longer() {
        let parse = |text: &str| serde_json::from_str::<Short>(text).map(|short| short.0);
        assert!(parse("[]").expect("empty").is_empty());
        assert_eq!(parse("[1,2,3]").expect("full"), [1, 2, 3]);
        let error = parse("[1,2,3,4]").expect_err("too long").to_string();
        assert!(error.contains("at most 3 entries"), "{error}");
    }

    #[test]
    fn a_length_prefix_beyond_the_bound_is_refused_before_anything_is_read() {
        let bomb = u64::MAX.to_le_bytes();
        let error = bincode::deserialize::<Short>(&bomb).expect_err("too long");
        assert!(error.to_string().contains("invalid length"), "{error}");
    }

    #[test]
    fn only_bytes_below_the_modulus_are_field_elements() {
        let parse = |bytes: &[u8]| bincode::deserialize::<Node<PoseidonDomain>>(bytes);
        let largest = (-Fr::from(1)).to_repr();
        assert!(parse(&largest).is_ok());
        let mut modulus = largest;
        modulus[0] += 1;
        assert!(parse(&modulus).is_err());
        assert!(parse(&[0xff; 32]).is_err());
        assert!(parse(&[0; 31]).is_err());
    }
}
