internal import CLinux

/// What this process may do beyond an ordinary user's programs.
public enum Rights {
    /// Whether this process can become another user.
    public static var canChangeUser: Bool { clinux_may_change_user() }

    /// Gives up all rights, for good: becomes an account (nil: stays who it is) without any
    /// capability, and lets nothing that it executes have more. Gives the names of capabilities that
    /// could not be given up.
    ///
    /// To be called while there is one thread: capabilities are each thread's own, and new threads
    /// inherit them. Throws where the account cannot be become. A process that has changed its user
    /// leaves no core dumps and is traced by root alone (prctl(2), PR_SET_DUMPABLE): the kernel's
    /// choice, which is left as it is.
    public static func giveUp(becoming account: Account?) throws(Errno) -> [String] {
        // First: the right to do so goes with the others.
        clinux_drop_bounding_set()
        if let account, !account.isOwn {
            if let name = account.name {
                // Safe: NUL-terminated for the call.
                try check(unsafe clinux_become(name, account.user, account.group))
            } else {
                try check(clinux_become(nil, account.user, account.group))
            }
        }
        // Without it a set-user-ID program would be a way back.
        try check(clinux_forbid_new_rights())
        // A service manager's filter may forbid the call; there is nothing to do where it is done.
        if !held.isEmpty { _ = clinux_drop_capabilities() }
        // What had been left of the former user would lead back to it.
        if let account, !account.isOwn || clinux_regains_root() { throw .notPermitted }
        return held
    }

    /// The capabilities of this thread, by their names.
    public static var held: [String] {
        (0..<clinux_capability_count()).filter { clinux_has_capability($0) }.map { capability in
            // Safe: the call writes at most as many octets as there is room for.
            let name = unsafe [UInt8](unsafeUninitializedCapacity: 64) { memory, count in
                unsafe memory.withMemoryRebound(to: CChar.self) { memory in
                    guard let start = memory.baseAddress else { return }
                    count = unsafe clinux_capability_name(capability, start, memory.count)
                }
            }
            return String(decoding: name, as: UTF8.self)
        }
    }
}
