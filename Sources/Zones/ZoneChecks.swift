/// placeholder
public enum ZoneCheck: Equatable, Sendable {
    /// x
    case none
    func sentence(about token: String) -> String { "" }
}
