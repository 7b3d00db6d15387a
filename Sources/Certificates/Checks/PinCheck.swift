/// Pins hold if one is a key of the validated path; what else was sent along does not count.
enum PinCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard !question.pins.isEmpty, path.anchor != nil else { return [] }
        let keys = path.certificates.map(\.publicKey.pin)
        if let index = keys.firstIndex(where: question.pins.contains) {
            return [Finding(.pinMatched, path.element(index), keys[index])]
        }
        return [Finding(.pinMismatch, .endpoint, keys.joined(separator: ", "))]
    }
}
