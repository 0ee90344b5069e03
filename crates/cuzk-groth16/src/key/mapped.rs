//! Proving keys reach 57 GiB, more than the memory of most hosts, and each point is read in order, once for a proof.
//!
//! So the file is mapped, not read: pages come when they are touched and go when they are released.
//!
//! **Rule for operators and for code that replaces keys:** a key file that is in use must not be truncated or
//! overwritten in place. Access to a page beyond the new end kills the process (SIGBUS), and no check can prevent
//! that. Write the new file beside the old one and rename it, as the development setup of this crate does: a
//! mapping keeps the file that it was made from.

#![allow(
    unsafe_code,
    reason = "mapping a file and releasing its pages are unsafe in memmap2"
)]

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, UncheckedAdvice};

/// A whole file mapped for reading.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: Mmap,
}

impl MappedFile {
    /// Maps `file` from its first to its last byte.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the map is only read. That nobody truncates the file meanwhile is the rule in the module's
        // documentation; a writer that breaks it ends the process, it cannot make this code read other memory.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self { map })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Tells the kernel that the pages wholly or partly in `range` are not needed for now.
    ///
    /// They leave the resident set; the next access reads them again from the page cache or the disk.
    pub(crate) fn release(&self, range: Range<usize>) {
        let start = range.start.min(self.map.len());
        let len = range.end.min(self.map.len()).saturating_sub(start);
        if len == 0 {
            return;
        }
        // SAFETY: the mapping is shared, read-only and backed by a file, so a page that is dropped comes back with
        // the file's content; references into it stay valid.
        let released = unsafe {
            self.map
                .unchecked_advise_range(UncheckedAdvice::DontNeed, start, len)
        };
        // Advice: a kernel that refuses it leaves the pages resident, which costs memory but no correctness.
        drop(released);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn mapped(bytes: &[u8]) -> MappedFile {
        let mut file = tempfile::tempfile().expect("temporary file");
        file.write_all(bytes).expect("write");
        MappedFile::new(&file).expect("map")
    }

    #[test]
    fn released_pages_come_back_with_the_same_bytes() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        let map = mapped(&bytes);
        assert_eq!(map.bytes(), bytes);
        map.release(5..(1 << 20) - 7);
        assert_eq!(map.bytes(), bytes);
    }

    /// Resident kilobytes of the mapping, as the kernel counts them.
    fn resident_kib(map: &MappedFile) -> u64 {
        let address = map.bytes().as_ptr() as u64;
        let text = std::fs::read_to_string("/proc/self/smaps").expect("Linux");
        let mut inside = false;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let first = words.next().expect("no line is empty");
            if let Some((start, end)) = first.split_once('-') {
                let bound = |hex| u64::from_str_radix(hex, 16).expect("an address");
                inside = (bound(start)..bound(end)).contains(&address);
            } else if inside && first == "Rss:" {
                let number = words.next().expect("a number follows");
                return number.parse().expect("a number follows");
            }
        }
        panic!("every mapping is listed");
    }

    #[test]
    fn released_pages_leave_the_resident_set() {
        let map = mapped(&vec![1; 1 << 20]);
        let sum = |map: &MappedFile| map.bytes().iter().map(|byte| u64::from(*byte)).sum::<u64>();
        assert_eq!(sum(&map), 1 << 20);
        assert_eq!(resident_kib(&map), 1024);
        map.release(1 << 19..1 << 20);
        assert_eq!(resident_kib(&map), 512);
        map.release(0..1 << 20);
        assert_eq!(resident_kib(&map), 0);
        assert_eq!(sum(&map), 1 << 20);
    }

    #[test]
    fn empty_and_overlong_ranges_are_harmless() {
        let map = mapped(&[1, 2, 3]);
        map.release(2..2);
        map.release(0..usize::MAX);
        map.release(usize::MAX - 1..usize::MAX);
        assert_eq!(map.bytes(), [1, 2, 3]);
    }
}
