//! How much memory may be used: a container's limit is as hard as the machine's, and usually smaller.

use std::fs;
use std::path::Path;

/// A limit on memory and who sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// How many bytes.
    pub bytes: u64,
    /// `the machine` or `the cgroup`.
    pub origin: &'static str,
}

/// The smallest of the machine's memory and the limits of this process's cgroup, of either version, and its parents; `None`
/// where the system tells neither.
pub fn memory_limit() -> Option<MemoryLimit> {
    limit_under(Path::new("/"))
}

/// As [`memory_limit`], for a system whose files lie below `root`.
fn limit_under(root: &Path) -> Option<MemoryLimit> {
    let machine = machine_bytes(root).map(|bytes| MemoryLimit {
        bytes,
        origin: "the machine",
    });
    let cgroup = cgroup_bytes(root).map(|bytes| MemoryLimit {
        bytes,
        origin: "the cgroup",
    });
    [machine, cgroup]
        .into_iter()
        .flatten()
        .min_by_key(|limit| limit.bytes)
}

fn machine_bytes(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest limit from the process's own group up to the root, in both hierarchies.
fn cgroup_bytes(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let limits = text.lines().filter_map(|line| {
        // Number of the hierarchy, its controllers, and the group in it.
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, own) = (fields.next()?, fields.next()?);
        let (groups, file) = if controllers.is_empty() {
            ("sys/fs/cgroup", "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            return None;
        };
        let groups = root.join(groups);
        let own = Path::new(own.trim_start_matches('/'));
        own.ancestors()
            .filter_map(|group| {
                let limit = fs::read_to_string(groups.join(group).join(file)).ok()?;
                limit.trim().parse::<u64>().ok()
            })
            .min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
    const CGROUP: (&str, &str) = ("proc/self/cgroup", "0::/system.slice/cuzk.service\n");

    #[test]
    fn the_smallest_limit_of_all_parents_counts() {
        let root = system(&[
            MEMINFO,
            CGROUP,
            (
                "sys/fs/cgroup/system.slice/cuzk.service/memory.max",
                "900000\n",
            ),
            ("sys/fs/cgroup/system.slice/memory.max", "800000\n"),
            ("sys/fs/cgroup/memory.max", "max\n"),
        ]);
        let limit = limit_under(root.path()).expect("both are told");
        assert_eq!((limit.bytes, limit.origin), (800_000, "the cgroup"));
    }

    #[test]
    fn a_group_without_a_limit_leaves_the_machine() {
        let root = system(&[
            MEMINFO,
            CGROUP,
            ("sys/fs/cgroup/system.slice/memory.max", "max\n"),
        ]);
        let limit = limit_under(root.path()).expect("the machine is told");
        assert_eq!((limit.bytes, limit.origin), (1_024_000, "the machine"));
    }

    #[test]
    fn a_container_that_sees_its_own_group_as_the_root_is_limited_by_it() {
        let root = system(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "4096\n"),
        ]);
        assert_eq!(
            limit_under(root.path()).map(|limit| limit.bytes),
            Some(4096)
        );
    }

    #[test]
    fn a_limit_of_the_first_version_counts_as_well() {
        let root = system(&[
            MEMINFO,
            ("proc/self/cgroup", "9:cpu:/\n4:rdma,memory:/jobs/7\n0::/\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            (
                "sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes",
                "4096\n",
            ),
        ]);
        let limit = limit_under(root.path()).expect("both are told");
        assert_eq!((limit.bytes, limit.origin), (4096, "the cgroup"));
    }

    #[test]
    fn an_unknown_system_has_no_limit_rather_than_a_made_up_one() {
        assert_eq!(limit_under(system(&[]).path()), None);
    }
}
