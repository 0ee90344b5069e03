//! Memory for the values of rows, hundreds of MiB for each partition.
//!
//! The system clears new memory page by page when it is touched, which takes longer than the evaluation that writes there.
//! Keeping the vectors from one partition to the next would avoid it, and would hold, between proofs, memory that nobody was
//! asked for. Large pages make it cheap instead: one fault for 512 pages.

#![allow(
    unsafe_code,
    reason = "advice about a range of memory has no safe interface"
)]

use cuzk_r1cs::{Evaluations, Fr, Shape};

/// Size and alignment of a large page on most systems; on others the advice is less exact.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Empty vectors with room for a circuit's whole domain, so that the transforms need no other memory.
pub(super) fn with_room(shape: Shape) -> Evaluations {
    let [a, b, c] = [(); 3].map(|()| in_large_pages(Vec::with_capacity(shape.domain_size())));
    Evaluations { a, b, c }
}

/// The same vector; what is touched of its room from now on comes in large pages where the system has them.
fn in_large_pages(values: Vec<Fr>) -> Vec<Fr> {
    let start = values.as_ptr() as usize;
    let end = start + values.capacity() * size_of::<Fr>();
    let first = start.next_multiple_of(LARGE_PAGE_BYTES);
    let len = (end - end % LARGE_PAGE_BYTES).saturating_sub(first);
    if len > 0 {
        advise(
            values.as_ptr().cast::<u8>().wrapping_add(first - start),
            len,
        );
    }
    values
}

#[cfg(target_os = "linux")]
fn advise(start: *const u8, len: usize) {
    // SAFETY: the range lies in the room of a vector that the caller owns, and this advice changes no content. A system
    // without large pages refuses, and the memory comes as it would have come.
    unsafe {
        libc::madvise(start.cast_mut().cast(), len, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *const u8, _: usize) {}

#[cfg(test)]
mod tests {
    use ff::Field as _;

    use super::*;

    #[test]
    fn there_is_room_for_the_domain_and_nothing_in_it() {
        for num_constraints in [1, 1 << 10, 1 << 17] {
            let shape = Shape {
                num_inputs: 1,
                num_aux: 0,
                num_constraints,
            };
            let domain_size = shape.domain_size();
            let Evaluations { a, b, c } = with_room(shape);
            for mut values in [a, b, c] {
                let place = values.as_ptr();
                assert!(values.is_empty() && values.capacity() >= domain_size);
                values.resize(domain_size, Fr::ONE);
                assert_eq!(values.as_ptr(), place, "it moved");
                assert!(values.iter().all(|&value| value == Fr::ONE));
            }
        }
    }
}
