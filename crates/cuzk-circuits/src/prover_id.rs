//! How a miner's id enters a statement.
//!
//! Proofs are bound to a 32-byte prover id. It is the payload of the miner's id address: the
//! number as an unsigned LEB128 varint, left aligned and padded with zeros.

/// The prover id of miner `f0<miner_id>`. Always a field element, because a varint has at most
/// ten bytes.
pub fn prover_id(miner_id: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut rest = miner_id;
    for byte in &mut bytes {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(bytes: &[u8]) -> [u8; 32] {
        let mut padded = [0; 32];
        padded[..bytes.len()].copy_from_slice(bytes);
        padded
    }

    #[test]
    fn small_and_large_ids_are_varints() {
        assert_eq!(prover_id(0), padded(&[]));
        assert_eq!(prover_id(127), padded(&[0x7f]));
        assert_eq!(prover_id(128), padded(&[0x80, 1]));
        assert_eq!(prover_id(1000), padded(&[0xe8, 7]));
        assert_eq!(
            prover_id(u64::MAX),
            padded(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 1])
        );
    }
}
