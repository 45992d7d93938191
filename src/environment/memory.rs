//! Memory, huge pages and swap.

use super::fact::{Fact, Found};
use super::kernel::in_brackets;
use super::tree::{Tree, unreadable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory, huge pages and swap (proc_meminfo(5)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Usable memory, in bytes.
    pub total_bytes: Fact<u64>,
    /// Memory that could be had without swapping, in bytes, at the start.
    pub available_bytes: Fact<u64>,
    /// Swap space, in bytes.
    pub swap_total_bytes: Fact<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Fact<String>,
    /// When memory is compacted to make them.
    pub transparent_huge_pages_defrag: Fact<String>,
    /// Reserved huge pages of the default size.
    pub huge_pages: Fact<u64>,
    /// The default size of a huge page, in bytes.
    pub huge_page_bytes: Fact<u64>,
}

impl Memory {
    pub(super) fn read(tree: &Tree) -> Memory {
        let info = tree.keyed("/proc/meminfo");
        Memory {
            total_bytes: info.kib_as_bytes("MemTotal").into(),
            available_bytes: info.kib_as_bytes("MemAvailable").into(),
            swap_total_bytes: info.kib_as_bytes("SwapTotal").into(),
            transparent_huge_pages: chosen(tree, "/sys/kernel/mm/transparent_hugepage/enabled").into(),
            transparent_huge_pages_defrag: chosen(tree, "/sys/kernel/mm/transparent_hugepage/defrag").into(),
            huge_pages: info.number("HugePages_Total").into(),
            huge_page_bytes: info.kib_as_bytes("Hugepagesize").into(),
        }
    }
}

fn chosen(tree: &Tree, path: &str) -> Found<String> {
    let text = tree.word(path)?;
    in_brackets(&text, '[', ']').ok_or_else(|| unreadable(path, &text))
}
