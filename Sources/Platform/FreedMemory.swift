internal import CLinux

/// How memory that is freed goes back to the system, which the C library leaves to chance.
public enum FreedMemory {
    /// From now on each block of a mebibyte or more is mapped for itself and unmapped when it is
    /// freed. Left alone, the C library moves that border up to 32 MiB, and what a reload needed only
    /// while it read stays with the thread's arena.
    public static func keepLargeBlocksApart() { _ = mallopt(M_MMAP_THRESHOLD, 1 << 20) }

    /// Gives smaller blocks back that are free now. Complexity: O(free chunks), milliseconds.
    public static func giveBack() { _ = malloc_trim(0) }
}
