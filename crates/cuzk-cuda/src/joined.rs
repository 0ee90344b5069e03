//! Bytes that lie in several places, read as if they lay one behind the other.

/// Copies what begins at byte `first` of all pieces together; there are enough bytes for `into`.
pub(crate) fn copy(pieces: &[&[u8]], first: usize, mut into: &mut [u8]) {
    let mut skipped = first;
    for piece in pieces {
        let (before, rest) = piece.split_at(skipped.min(piece.len()));
        skipped -= before.len();
        let (now, later) = into.split_at_mut(rest.len().min(into.len()));
        now.copy_from_slice(&rest[..now.len()]);
        into = later;
    }
    debug_assert!(into.is_empty(), "{} bytes are missing", into.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_any_pieces_is_that_of_their_concatenation() {
        let bytes: Vec<u8> = (1..=23).collect();
        for cuts in [[0, 0], [0, 23], [1, 2], [7, 7], [5, 16], [22, 23]] {
            let [first, second] = cuts;
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            for size in 1..=bytes.len() {
                let mut copied = Vec::new();
                for start in (0..bytes.len()).step_by(size) {
                    let mut block = vec![0; size.min(bytes.len() - start)];
                    copy(&pieces, start, &mut block);
                    copied.extend(block);
                }
                assert_eq!(copied, bytes, "{cuts:?} in blocks of {size}");
            }
        }
    }
}
