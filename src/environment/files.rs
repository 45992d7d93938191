//! The file system of the folder for temporary files, where files of logs are made.

use super::fact::Found;
use super::tree::Tree;
use std::path::{Path, PathBuf};

const MOUNTS: &str = "/proc/self/mountinfo";

/// Its type, e.g. `ext4`; the folder itself is not named, as it may name a user.
pub(super) fn temporary_file_system(tree: &Tree) -> Found<String> {
    let folder = if tree.live() { std::env::temp_dir() } else { PathBuf::from("/tmp") };
    let folder = std::fs::canonicalize(&folder).ok().filter(|_| tree.live()).unwrap_or(folder);
    type_at(&tree.word(MOUNTS)?, &folder)
        .ok_or_else(|| format!("{MOUNTS}: no mount holds the temporary folder"))
}

/// The mount that is nearest above the folder, and of several at one place the last, which hides the others
/// (proc_pid_mountinfo(5)).
fn type_at(mounts: &str, folder: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let place = place.split_whitespace().nth(4)?;
        let depth = Path::new(place).components().count();
        folder.starts_with(place).then(|| Some((depth, kind.split_whitespace().next()?.to_string())))?
    };
    mounts.lines().filter_map(mount).max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_and_last_mount_counts() {
        let mounts = "1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 0:5 / /tmp rw shared:1 - xfs /dev/x rw\n\
                      3 1 0:6 / /tmp rw - tmpfs tmpfs rw\n4 1 0:7 / /tmp/deep rw - btrfs x rw\n5 1 0:8 / /tmpfoo rw - nfs x rw";
        let at = |folder: &str| type_at(mounts, Path::new(folder));
        assert_eq!(at("/tmp").as_deref(), Some("tmpfs"));
        assert_eq!(at("/tmp/deep/er").as_deref(), Some("btrfs"));
        assert_eq!(at("/var/tmp").as_deref(), Some("ext4"));
        assert_eq!(type_at("damaged", Path::new("/tmp")), None);
    }
}
