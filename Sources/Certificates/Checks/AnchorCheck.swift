/// How the path ends: in which anchor, and whether that is the leaf itself.
enum AnchorCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard let anchor = path.anchor, path.certificates.count == 1 else { return [] }
        return [Finding(.leafIsAnchor, .path(0, count: 2), anchor.place)]
    }
}
