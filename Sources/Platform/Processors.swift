internal import CLinux

/// The processors that this process may run on.
public enum Processors {
    /// How many there are; at least one. A container's CPU set counts, its CPU quota does not.
    public static var count: Int { max(1, Int(clinux_processor_count())) }
}
