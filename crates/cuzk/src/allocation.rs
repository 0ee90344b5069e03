//! Why does a prover that has freed its buffers still hold them? The C library's allocator gives a
//! large block its own mapping, but learns from each one that is freed to keep the next of that size in
//! a thread's arena, up to 32 MiB each. A proof's buffers come and go on several threads, so every
//! arena would keep its largest. With a fixed threshold a freed buffer goes back to the system at once.

/// Blocks of this size or more get a mapping of their own: far above what is allocated often.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_MAPPING_BYTES: i32 = 1 << 20;

/// Makes freed buffers leave the process at once. Before any thread is started; no effect on other C libraries.
pub(crate) fn return_freed_buffers() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(
        unsafe_code,
        reason = "a setting of the C library's allocator has no safe interface"
    )]
    // SAFETY: mallopt sets one number of the allocator and may be called at any time; a refusal
    // (0) leaves the default, which is slower to give memory back and correct.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
    }
}
