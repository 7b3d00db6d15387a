/// Which Detour this is. The package takes its version from here as well.
public enum Version {
    /// Major, minor, patch.
    public static let text = "0.1.0"
}
