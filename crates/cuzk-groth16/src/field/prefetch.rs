//! Points of a bucket lie scattered over megabytes; asking for them early hides most of the wait.

#![allow(unsafe_code, reason = "the prefetch instruction takes a pointer")]

/// Asks the processor to load `value` into its nearest cache; does nothing where that cannot be asked.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE_BYTES: usize = 64;
        let start = (&raw const *value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
            // SAFETY: the pointer stays within `value`; prefetching has no effect that a program could see.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
