internal import CLinux

/// How many descriptors this process may have open.
public enum OpenFiles {
    /// Raises the limit to the highest that is permitted, and gives it.
    ///
    /// Each worker holds a pool of sockets an upstream; the customary 1024 is soon too little. We
    /// never call select(2), which is why shells keep it so low.
    @discardableResult
    public static func raiseLimit() -> Int {
        var limit = rlimit()
        // Safe: the calls read and write one struct of ours.
        guard unsafe clinux_get_file_limit(&limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            _ = unsafe clinux_set_file_limit(&limit)
            _ = unsafe clinux_get_file_limit(&limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
